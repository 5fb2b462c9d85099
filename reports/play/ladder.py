"""Elo ladders: snapshots of trained nets of rising strength, each playing its neighbours. `elo/<id>/elo.json` says who
and in which matches.

The file holds the decisions and the nets' results on test games; ratings are computed from the matches whenever they
are read. A ladder is shown as a table and in words; losses of other nets are read from its curve.
"""

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from gonn_core.config import parse_model
from gonn_core.errors import Damaged, InputError, printable_tree
from gonn_core.files.json_files import present, read_record, tell
from gonn_core.play.match.record import Match, load_matches, player_id
from gonn_core.settings.strict import Strict
from reports.play.players import engine_level, engine_text, rules_text
from reports.play.rating import NORMAL_95, Ratings, Tally, rate, tally
from reports.stats.estimates import Interval
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, make_row
from reports.tables.formats import in_short

FORMAT = 1
FILE = "elo.json"
_KEYS = ("id", "title", "rungs", "matches")


def elo_text(elo: float) -> str:
    """`1234`, `−56`."""
    return formats.minus(f"{elo:.0f}")


_COLUMNS = (
    Column("net", "player", "left"),
    Column("structure", "structure", "left", under="net"),
    Column("top1", "test top-1", parts=("test_top1",), show=lambda share: formats.level(share, "share")),
    Column("nats", "test nats", parts=("test_nats",), show=formats.level),
    Column("elo", "relative Elo", parts=("elo", "elo_half_width95")),
    Column("games", "games", show=formats.count),
)


class Rung(Strict):
    """One player of a ladder and what it is worth on test games."""

    name: str
    player: dict
    """Its identity in match files."""
    structure: str
    parameters: int
    nats: float
    top1: float
    positions: int
    test_games: int

    @property
    def id(self) -> str:
        """Id of the player."""
        return player_id(self.player)


class Settings(Strict):
    """When the games were enough: half-widths of 95 % intervals between neighbours, in Elo, or so many games a pair."""

    within: float
    most: Annotated[int, Field(ge=1)]
    seed: int


class LadderFile(Strict):
    """elo.json: rungs from the weakest net on test games to the strongest, and the matches between neighbours and with
    an engine."""

    format: Literal[1] = 1
    id: str
    title: str
    data: str
    coverage: str
    history: str
    """Of the test evaluation: full, as in play."""
    rungs: Annotated[tuple[Rung, ...], Field(min_length=2)]
    settings: Settings
    matches: tuple[str, ...]


@dataclass(frozen=True)
class Ladder:
    """A ladder with the games that its matches hold so far."""

    file: LadderFile
    matches: tuple[Match, ...]

    @cached_property
    def tally(self) -> Tally:
        """All players: the rungs first, in their order, whether or not they played."""
        return tally(self.matches, [rung.player for rung in self.file.rungs])

    @cached_property
    def ratings(self) -> Ratings:
        """Relative to the first rung."""
        return rate(self.tally.taken, self.tally.met)

    @property
    def games(self) -> int:
        """Games with a result."""
        return sum(len(match.games) for match in self.matches)

    def neighbours(self) -> list[tuple[float, float | None]]:
        """For each rung but the last: games with the next one, and half of the 95 % interval between them in Elo (None:
        no games link them)."""
        differences = [self.ratings.difference(lower + 1, lower) for lower in range(len(self.file.rungs) - 1)]
        return [
            (float(self.tally.games[lower, lower + 1]), None if difference is None else NORMAL_95 * difference[1])
            for lower, difference in enumerate(differences)
        ]

    @property
    def title(self) -> str:
        """What it is called: its title, in place of a bare trial id the net's structure."""
        title = self.file.title
        if not title.startswith("trial "):
            return title
        net = self.file.rungs[0]
        named, _, data = title.partition(", ")
        return f"{net.structure}, {data or self.file.data} ({named.replace('trial ', '')[:8]})"

    def rated(self) -> list[int]:
        """Numbers of the rungs that games link to the first."""
        return [number for number in range(len(self.file.rungs)) if self.linked(number)]

    def linked(self, number: int) -> bool:
        """Whether games link a player to the first rung."""
        return bool(self.ratings.component[number] == self.ratings.component[0])

    def curve(self) -> list[int]:
        """Numbers of the rated rungs that choose moves as the first does: strength against loss is drawn through
        these."""
        first = self.file.rungs[0].player["choice"]
        return [number for number in self.rated() if self.file.rungs[number].player["choice"] == first]

    @cached_property
    def met(self) -> list[tuple[int, int, float, float]]:
        """Number of a rung, number of an engine, points of the rung and games, of all that met; by level of the
        engine."""
        ids, identities, nets = self.tally.ids, self.tally.identities, len(self.file.rungs)
        points, games = self.tally.taken + (self.tally.met - self.tally.taken).T, self.tally.games
        engines = sorted(range(nets, len(ids)), key=lambda number: int(engine_level(identities[ids[number]]) or 0))
        pairs = ((rung, engine) for engine in engines for rung in range(nets) if games[rung, engine])
        return [(rung, engine, float(points[rung, engine]), float(games[rung, engine])) for rung, engine in pairs]

    @property
    def near(self) -> list[tuple[int, int, float, float]]:
        """Those of `met` that took some points and not all."""
        return [each for each in self.met if 0 < each[2] < each[3]]

    @property
    def engines(self) -> list[int]:
        """Numbers of the engines that link the ladder."""
        return list(dict.fromkeys(engine for _, engine, _, _ in self.near))


def ladder_id(rungs: list[dict], seed: int) -> str:
    """16 hex digits over who plays, weakest first, and the seed of the games."""
    return hashlib.sha256(json.dumps([rungs, seed], sort_keys=True).encode()).hexdigest()[:16]


def read_ladder(path: Path, matches_folder: Path) -> Ladder:
    """The ladder of an elo.json, with its matches. Raises InputError for files that are missing, damaged or of another
    version."""
    tree = printable_tree(read_record(path, FORMAT, _KEYS))
    if tree is None:
        raise InputError(path, "no such ladder")
    file = parse_model(LadderFile, tree, str(path))
    return Ladder(file, tuple(load_matches(matches_folder, file.matches)))


def load_ladders(elo_folder: Path, matches_folder: Path) -> list[Ladder]:
    """All ladders of a workspace, by title; what is missing or damaged is reported and left out."""
    ladders, again = [], "the ladder is left out; the same `gonn elo` makes it again"
    for path in present(elo_folder, FILE, again):
        try:
            ladders.append(read_ladder(path, matches_folder))
        except Damaged as damage:
            tell(damage, again)
    return sorted(ladders, key=lambda ladder: (ladder.file.title, ladder.file.id))


def ladder_table(ladder: Ladder) -> Table:
    """A row per rung, weakest first, then the engines that link it; those without games have no Elo."""
    rows = []
    for number, rung in enumerate(ladder.file.rungs):
        trials = (rung.player["trial"],)
        values = {
            "net": rung.name,
            "structure": f"{rung.structure}, {formats.count(rung.parameters)} parameters",
            "top1": _COLUMNS[2].cell(rung.top1, trials),
            "nats": _COLUMNS[3].cell(rung.nats, trials),
        }
        rows.append(make_row(_COLUMNS, rung.id, values | _strength(ladder, number)))
    for engine in ladder.engines:
        player = ladder.tally.ids[engine]
        values = {"net": engine_text(ladder.tally.identities[player]), **_strength(ladder, engine)}
        rows.append(make_row(_COLUMNS, player, values))
    tested = ladder.file.rungs[0]
    note = (
        f"Top-1 and nats on {tested.positions:,} test positions of {tested.test_games:,} games "
        f"({in_short(ladder.file.coverage)}), with {ladder.file.history} history. Elo: 95 % intervals of the "
        "difference to the first row."
    )
    return Table(f"elo-{ladder.file.id}", f"Rated here: {ladder.title}", _COLUMNS, tuple(rows), (note,))


def _strength(ladder: Ladder, number: int) -> dict:
    """Values of a player's Elo and games."""
    games = {"games": int(ladder.tally.games[number].sum())}
    if not ladder.linked(number):
        return games
    elo, half = float(ladder.ratings.elo[number]), ladder.ratings.half_width(number)
    text = elo_text(elo) if number == 0 else f"{elo_text(elo)} ± {half:.0f}"
    return games | {"elo": Cell(text, [elo, half])}


def ladder_text(ladder: Ladder) -> list[str]:
    """What was played, how sure it is, and how it is linked to an engine."""
    file, neighbours = ladder.file, ladder.neighbours()
    widest = max(half for _, half in neighbours if half is not None)
    between = formats.count(int(sum(games for games, _ in neighbours)))
    played = f"Ladder {ladder.title}: {formats.count(ladder.games)} games here, {between} of them between neighbours"
    until = (
        f"differences known to ±{file.settings.within:g} Elo (95 %) or {formats.count(file.settings.most)} games a pair"
    )
    done = all(
        games >= file.settings.most or (half is not None and half <= file.settings.within) for games, half in neighbours
    )
    sure = (
        f", until there were {until}; the widest is"
        if done
        else f". Not finished: it continues until there are {until}; so far the widest is"
    )
    choices = ", ".join(f"{key} {value}" for key, value in file.rungs[0].player["choice"].items())
    texts = [
        f"{played}{sure} ±{widest:.0f}. Moves: {choices}. Rules: {rules_text(ladder.matches[0].rules)}. "
        f"{ladder.ratings.black_text}."
    ]
    if unlinked := len(file.rungs) - len(ladder.rated()):
        texts.append(f"{unlinked} of the {len(file.rungs)} rungs are not linked to the first by games yet.")
    return [*texts, _link_text(ladder)]


def _link_text(ladder: Ladder) -> str:
    """How games link it to GNU Go."""
    if not ladder.met:
        return "No link to GNU Go: no games with it were played for this ladder."
    taken, chosen = [], ladder.near or ladder.met
    for engine in dict.fromkeys(each[1] for each in chosen):
        identity = ladder.tally.identities[ladder.tally.ids[engine]]
        points, games = np.sum([each[2:] for each in chosen if each[1] == engine], axis=0)
        taken.append(f"{points:g} of {games:g} at level {engine_level(identity)}")
    if not ladder.near:
        return f"No link to GNU Go: nets took {', '.join(taken)}, each of them none or all."
    name = engine_text(identity).rpartition(" level")[0]
    return f"Linked to {name} by points that the nets near it took: {', '.join(taken)}."


def elo_of_nats(
    losses: ArrayLike, elos: ArrayLike, nats: float, interval: Interval | None = None
) -> tuple[float, float, float] | None:
    """Elo at a loss by straight lines between points of loss and Elo (spec: GoNN 4.9), and its ends: one
    uncertainty of the lines beyond those of the loss's `interval`. None outside the points, for they say nothing of
    such nets; ends beyond them are cut."""
    order = np.argsort(losses)
    x, y = np.asarray(losses)[order], np.asarray(elos)[order]
    if not x[0] <= nats <= x[-1]:
        return None
    ends = np.interp([nats, nats] if interval is None else [interval.low, interval.high], x, y)
    margin = uncertainty(losses, elos)
    # Measured points may not rise all the way.
    return float(np.interp(nats, x, y)), float(min(ends)) - margin, float(max(ends)) + margin


def uncertainty(losses: ArrayLike, elos: ArrayLike) -> float:
    """How far straight lines between points can be trusted, in Elo: the root mean square error of reading each inner
    point from the others. Ours: the document gives none. Raises ValueError below 3 points."""
    order = np.argsort(losses)
    x, y = np.asarray(losses)[order], np.asarray(elos)[order]
    if len(x) < 3:
        raise ValueError("the uncertainty of a correspondence needs 3 points")
    errors = [np.interp(x[i], np.delete(x, i), np.delete(y, i)) - y[i] for i in range(1, len(x) - 1)]
    return float(np.sqrt(np.mean(np.square(errors))))
