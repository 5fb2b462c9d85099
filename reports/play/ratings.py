"""Ratings of the players of some matches as tables: Elo with intervals, likelihood of superiority, who beat whom."""

import math
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError

from gonn_core.play.match.record import Match
from gonn_core.play.rules import Rules, RuleSet
from reports.play.rating import NORMAL_95, VIRTUAL_DRAWS, Ratings, Tally
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

COLUMNS_A_TABLE = 8
"""Opponents beside each other: more would not fit 80 columns."""
_RATINGS = (
    Column("number", "#"),
    Column("player", "player", "left"),
    Column("elo", "Elo"),
    Column("interval", "± 95 %"),
    Column("games", "games"),
    Column("share", "points"),
    Column("superior", "over next"),
)


def rating_tables(tally: Tally, ratings: Ratings, names: Mapping[str, str], matches: Sequence[Match]) -> list[Table]:
    """The strongest first, group by group where no games link them all, the one that played most before the others:
    ratings; likelihood of superiority; points against each other."""
    played = [
        float(tally.games[ratings.component == ratings.component[player]].sum()) for player in range(len(tally.ids))
    ]
    order = sorted(
        range(len(tally.ids)),
        key=lambda player: (-played[player], int(ratings.component[player]), -ratings.elo[player], tally.ids[player]),
    )
    tables = [
        Table(
            "ratings",
            "Ratings",
            _RATINGS,
            _rating_rows(tally, ratings, names, order),
            rating_notes(tally, ratings, names, matches),
        )
    ]
    tables += _against(
        order,
        tally,
        "superiority",
        "Likelihood of superiority: of the row's player over the column's, in %",
        lambda one, other: _superiority(ratings, one, other),
    )
    tables += _against(
        order,
        tally,
        "cross-table",
        "Cross-table: points of the row's player of all games with the column's",
        lambda one, other: _points(tally, one, other),
        ("points", "games"),
    )
    return tables


def rating_notes(tally: Tally, ratings: Ratings, names: Mapping[str, str], matches: Sequence[Match]) -> tuple[str, ...]:
    """What the ratings rest on, in sentences."""
    anchors = [names[tally.ids[anchor]] for anchor in ratings.anchors]
    anchor = anchors[0] if len(anchors) == 1 else "each group's own player at 0"
    notes = [
        f"Elo relative to {anchor}, with 95 % intervals of the difference to it; Bradley-Terry with "
        f"{VIRTUAL_DRAWS:g} virtual draw{'s' * (VIRTUAL_DRAWS != 1)} per player."
    ]
    if len(anchors) > 1:
        notes.append(
            f"No games link all players: they are {len(anchors)} groups that cannot be compared with each other, "
            f"with these at 0: {', '.join(anchors)}."
        )
    if ratings.colour is not None:
        notes.append(
            f"Black's advantage before the first move: {elo_text(ratings.colour[0], signed=True)} ± "
            f"{NORMAL_95 * ratings.colour[1]:.0f} Elo."
        )
    rules = {rules_text(match.rules) for match in matches if match.games}
    notes += [f"Rules: {'; in some matches: '.join(sorted(rules))}."] if rules else []
    voided = sum(match.voided for match in matches)
    if voided:
        games = f"{voided} games were" if voided > 1 else "1 game was"
        notes.append(f"{games} voided (an engine crashed or ran out of time); voided games count nothing.")
    return tuple(notes)


def rules_text(rules: Mapping) -> str:
    """A match's rules in words."""
    try:
        return Rules(**rules).sentence()
    except ValidationError:  # of another version: as they stand
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in rules.items())


def rules_name(rules: Mapping) -> RuleSet:
    """What games by these rules are called: by how they are counted."""
    return "japanese" if rules.get("scoring") == "territory" else "chinese"


def elo_text(elo: float, signed: bool = False) -> str:
    """`1234`, `−56`."""
    return formats.minus(f"{elo:+.0f}" if signed else f"{elo:.0f}")


def _rating_rows(tally: Tally, ratings: Ratings, names: Mapping[str, str], order: Sequence[int]) -> tuple[Row, ...]:
    rows = []
    for place, player in enumerate(order):
        games, points = float(tally.met[player].sum()), float(tally.taken[player].sum())
        following = order[place + 1] if place + 1 < len(order) else None
        superior = None if following is None else ratings.superiority(player, following)
        half = ratings.half_width(player)
        cells = {
            "number": Cell(f"#{place + 1}", place + 1),
            "player": text_cell(names[tally.ids[player]]),
            "elo": Cell(elo_text(ratings.elo[player]), float(ratings.elo[player])),
            "interval": Cell("anchor" if player in ratings.anchors else f"{half:.0f}", half),
            "games": Cell(formats.count(int(games)), int(games)),
            "share": Cell(
                f"{100 * points / games:.1f} %" if games else formats.NONE, points / games if games else None
            ),
            "superior": Cell(formats.NONE if superior is None else _per_cent(superior), superior),
        }
        rows.append(Row(tally.ids[player], cells))
    return tuple(rows)


def _against(
    order: Sequence[int],
    tally: Tally,
    name: str,
    title: str,
    cell: Callable[[int, int], Cell],
    parts: Sequence[str] = (),
) -> list[Table]:
    """Tables of every player against every other, by their numbers in the ratings, so many opponents beside each other
    as fit. parts: what a cell holds, where it is not one number."""
    tables = []
    for start in range(0, len(order), COLUMNS_A_TABLE):
        across = order[start : start + COLUMNS_A_TABLE]
        columns = (
            Column("number", "#"),
            *(_opponent(str(place + 1), parts) for place in range(start, start + len(across))),
        )
        rows = []
        for place, one in enumerate(order):
            cells = {str(start + number + 1): cell(one, other) for number, other in enumerate(across)}
            rows.append(Row(tally.ids[one], {"number": Cell(f"#{place + 1}", place + 1), **cells}))
        suffix = f"-{start // COLUMNS_A_TABLE + 1}" if len(order) > COLUMNS_A_TABLE else ""
        tables.append(Table(name + suffix, title, columns, tuple(rows)))
    return tables


def _opponent(number: str, parts: Sequence[str]) -> Column:
    return Column(number, f"#{number}", parts=tuple(f"{number}_{part}" for part in parts))


def _superiority(ratings: Ratings, one: int, other: int) -> Cell:
    probability = ratings.superiority(one, other)
    if probability is None:
        return Cell("" if one == other else formats.NONE)
    if probability > 0.995:
        return Cell(">99", probability)
    return Cell("<1" if probability < 0.005 else f"{100 * probability:.0f}", probability)


def _points(tally: Tally, one: int, other: int) -> Cell:
    games, points = float(tally.met[one, other]), float(tally.taken[one, other])
    if not games:
        return Cell("" if one == other else formats.NONE)
    return Cell(f"{points:g}/{games:.0f}", [points, games])


def _per_cent(share: float) -> str:
    """`97.3 %`; never a certainty that is only rounded."""
    shown = min(max(round(100 * share, 1), 0.1), 99.9) if 0 < share < 1 else 100 * share
    return f"{math.floor(10 * shown + 0.5) / 10:.1f} %"
