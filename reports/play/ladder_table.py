"""A ladder in words and as a table: top-1, nats, relative Elo with its interval, games."""

from reports.play.ladder import Ladder
from reports.play.players import engine_text, is_net
from reports.play.ratings import elo_text, rules_text
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.coverage import in_short

_COLUMNS = (
    Column("net", "player", "left"),
    Column("structure", "structure", "left", under="net"),
    Column("top1", "test top-1", parts=("test_top1",)),
    Column("nats", "test nats", parts=("test_nats",)),
    Column("elo", "relative Elo", parts=("elo", "elo_half_width95")),
    Column("games", "games"),
)


def ladder_table(ladder: Ladder) -> Table:
    """A row per rung, weakest first, then the engine that links it; those without games have no Elo."""
    rows = []
    for number, rung in enumerate(ladder.file.rungs):
        cells = {
            "net": text_cell(rung.name),
            "structure": text_cell(f"{rung.structure}, {formats.count(rung.parameters)} parameters"),
            "top1": Cell(formats.level(rung.top1, "share"), rung.top1, (rung.player["trial"],)),
            "nats": Cell(formats.level(rung.nats), rung.nats, (rung.player["trial"],)),
        }
        rows.append(Row(rung.id, {**cells, **_strength(ladder, number)}))
    for number in range(len(ladder.file.rungs), len(ladder.tally.ids)):
        identity = ladder.tally.identities[ladder.tally.ids[number]]
        if not is_net(identity) and identity == (ladder.file.link.player if ladder.file.link else None):
            blank = {key: Cell(formats.NONE) for key in ("structure", "top1", "nats")}
            rows.append(
                Row(
                    ladder.tally.ids[number],
                    {"net": text_cell(engine_text(identity)), **blank, **_strength(ladder, number)},
                )
            )
    tested = ladder.file.rungs[0]
    note = (
        f"Top-1 and nats on {tested.positions:,} test positions of {tested.test_games:,} games "
        f"({in_short(ladder.file.coverage)}), with {ladder.file.history} history. Elo: 95 % intervals of the "
        "difference to the first row."
    )
    return Table(f"elo-{ladder.file.id}", f"Rated here: {ladder.title}", _COLUMNS, tuple(rows), (note,))


def _strength(ladder: Ladder, number: int) -> dict[str, Cell]:
    games = int(ladder.tally.met[number].sum())
    if ladder.ratings.component[number] != ladder.ratings.component[0]:
        return {"elo": Cell(formats.NONE), "games": Cell(formats.count(games), games)}
    elo, half = float(ladder.ratings.elo[number]), ladder.ratings.half_width(number)
    text = elo_text(elo) if number == 0 else f"{elo_text(elo)} ± {half:.0f}"
    return {"elo": Cell(text, [elo, half]), "games": Cell(formats.count(games), games)}


def ladder_text(ladder: Ladder) -> list[str]:
    """What was played, how sure it is, and how it is linked to an engine."""
    file, neighbours = ladder.file, ladder.neighbours()
    halves = [half for _, half in neighbours if half is not None]
    played = f"Ladder {ladder.title}: {formats.count(ladder.games)} games here, neighbours against each other"
    wanted = (
        f"differences known to ±{file.settings.within:g} Elo (95 %) or {formats.count(file.settings.most)} games a pair"
    )
    done = all(
        games >= file.settings.most or (half is not None and half <= file.settings.within) for games, half in neighbours
    )
    sure = (
        f", until there were {wanted}; the widest is ±{max(halves):.0f}."
        if done
        else f". Not finished: it is to go on until there are {wanted}; so far the widest is ±{max(halves):.0f}."
    )
    choices = ", ".join(f"{key} {value}" for key, value in file.rungs[0].player["choice"].items())
    texts = [f"{played}{sure} Moves: {choices}. Rules: {rules_text(ladder.matches[0].rules)}."]
    unlinked = len(file.rungs) - len(ladder.rated())
    texts += (
        [f"{unlinked} of the {len(file.rungs)} rungs are not linked to the first by games yet."] if unlinked else []
    )
    return texts + [file.link.note if file.link else "No link to GNU Go: no games with it were played for this ladder."]
