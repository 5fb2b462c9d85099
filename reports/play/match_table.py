"""Matches as a table: who took how many of which games."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from gonn_core.play.match.record import GameLine, Match, game_points, player_id
from reports.play.rating import wilson
from reports.play.ratings import rules_name, rules_text
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

_COLUMNS = (
    Column("a", "player", "left"),
    Column("b", "against", "left", under="a"),
    Column("rules", "rules", "left"),
    Column("games", "games"),
    Column("points", "points", under="games"),
    Column("share", "share"),
    Column("interval", "95 % interval", under="share", parts=interval95()),
    Column("black", "as Black", brief=False),
    Column("white", "as White", brief=False, under="black"),
    Column("ends", "ends", "left", brief=False),
    Column("moves", "moves (median)", brief=False),
    Column("voided", "voided", brief=False, under="moves"),
    Column("match", "match", "left"),
)
_OF_ONE_KIND = tuple(column for column in _COLUMNS if column.key != "rules")
_ENDS = ("passes", "resign", "illegal", "length")
_END_TEXTS = {
    "passes": "by two passes",
    "resign": "by resignation",
    "illegal": "by a refused move",
    "length": "at the move limit",
}


def match_table(matches: Sequence[Match], names: Mapping[str, str]) -> Table:
    """A row per match, from A's side, with the rules where they are not the same in all. names: player id -> name."""
    columns = _COLUMNS if len({rules_name(match.rules) for match in matches}) > 1 else _OF_ONE_KIND
    rows = tuple(_row(match, names) for match in sorted(matches, key=lambda match: _order(match, names)))
    notes = [
        "Share of points, a draw counting half, with Wilson's 95 % interval: it is for further games of these players."
    ]
    notes += [f"Rules: {text}." for text in sorted({rules_text(match.rules) for match in matches})]
    if voided := sum(match.voided for match in matches):
        notes.append(
            f"{formats.count(voided)} game{'s were' if voided > 1 else ' was'} voided because an engine failed, and "
            "played anew."
        )
    if refused := _refused(matches, names):
        notes.append(f"Refused moves, each of which lost its game: {refused}.")
    return Table("matches", "Matches", columns, rows, tuple(notes))


def _order(match: Match, names: Mapping[str, str]) -> list:
    """By names, numbers in them by their size: level 5 before level 10."""
    text = "\0".join([*(names[player_id(match.players[side])] for side in "AB"), match.id])
    return [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", text)]


def _row(match: Match, names: Mapping[str, str]) -> Row:
    games, points = len(match.games), match.points("A")
    interval = list(wilson(points, games)) if games else None
    ends: Counter[str] = Counter(game.end for game in match.games)
    moves = [game.moves for game in match.games]
    cells = {
        "a": text_cell(names[player_id(match.players["A"])]),
        "b": text_cell(names[player_id(match.players["B"])]),
        "rules": text_cell(rules_name(match.rules).capitalize()),
        "games": Cell(formats.count(games), games),
        "points": Cell(f"{points:g}", points),
        "share": Cell(_per_cent(points / games) if games else formats.NONE, points / games if games else None),
        "interval": Cell(formats.NONE if interval is None else f"[{', '.join(map(_per_cent, interval))}]", interval),
        "black": _of(match.games, "A"),
        "white": _of(match.games, "B"),
        "ends": Cell(
            ", ".join(f"{ends[end]} {_END_TEXTS[end]}" for end in _ENDS if ends[end]) or formats.NONE,
            " ".join(f"{end} {ends[end]}" for end in _ENDS if ends[end]),
        ),
        "moves": Cell(f"{median(moves):.0f}" if moves else formats.NONE, median(moves) if moves else None),
        "voided": Cell(formats.count(match.voided), match.voided),
        "match": text_cell(match.id),
    }
    return Row(match.id, cells)


def _of(games: Sequence[GameLine], black: str) -> Cell:
    """A's points of the games in which that side had Black: `12/20`."""
    some = [game for game in games if game.black == black]
    points = sum(game_points(game, "A") for game in some)
    return Cell(f"{points:g}/{len(some)}", points)


def _refused(matches: Sequence[Match], names: Mapping[str, str]) -> str:
    """`3 of GNU Go 3.8 level 1`: who lost so many games by moves that the referee refused."""
    count: Counter[str] = Counter()
    for match in matches:
        for game in match.games:
            if game.end == "illegal" and game.winner is not None:
                count[names[player_id(match.players["B" if game.winner == "A" else "A"])]] += 1
    return ", ".join(f"{number} of {name}" for name, number in sorted(count.items()))


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"
