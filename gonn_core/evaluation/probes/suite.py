"""The suites of probes: the documents' test positions, drawn families, and ladders cut from a store's games.

published.json holds the documents' test positions with what the published nets said there (spec: GoNN 7). A right move
is named only where the text names one (make two eyes at S19, an eye at O19, answer at C4), a wrong one where the text
calls it so (running from a ladder, the answer to a slow move). A board that several pictures share is one case; each
picture keeps its figures.

drawn.json holds three families that differ in distance only. Each drawing comes in its eight turns and with colours
exchanged; tests play them out.

*long_chain_eyes* (after the pictures of spec: GoNN 7.9-7.11): a chain along the edge, with three points in the corner
of which the middle one makes two eyes, and at its lower end an eye of two points into which Black has just thrown. Any
other move leaves White one eye. Distance: king's moves from the throw-in to the right move.

*races* (after spec: GoNN 7.14): two long chains side by side, each with two liberties at its own end, none shared: who
moves first wins. White has just filled a distant liberty. Distance: from that move to the nearer right one.

*ko_threats* (compare spec: GoNN 7.7 with 7.8): White has just taken a ko that decides a long black chain. On the other
side of the board an atari threatens a white chain, which one answer makes safe. In the twin the ko is over, Black has
the point of White's ko stone, White has moved elsewhere, and the atari is a wasted threat. Distance: from the ko to the
threat.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from gonn_core.evaluation.probes.cases import Case, Suite, stones_of
from gonn_core.evaluation.probes.ladders import cut_ladders
from gonn_core.features.source import Position
from gonn_core.go.points import BLACK, EMPTY, SIZE, WHITE, point

PUBLISHED = "published"
"""Group of the documents' test positions."""
_MOST_LADDERS = 4000
"""Of more, so many are taken, evenly spaced."""
_COLOURS = {".": EMPTY, "X": BLACK, "O": WHITE}


@dataclass(frozen=True)
class PublishedPosition:
    """A test position: its case and what it shows.

    pictures: picture -> point -> probability, for the pictures that show a policy. laddered: stone -> probability of
    the published net that learned nothing but ladders (spec: GoNN 7.1, 7.2).
    """

    case: Case
    what: str
    pictures: dict[str, dict[int, float]]
    laddered: dict[int, float]


@cache
def published() -> tuple[PublishedPosition, ...]:
    """All test positions, in the order of the document."""
    positions = []
    for tree in _read("published.json"):
        right, wrong = (tuple(point(name) for name in tree.get(key, ())) for key in ("right", "wrong"))
        # A move named as wrong is shown; right ones are set against all others, so that one case says no more than its
        # picture.
        case = Case(tree["name"], PUBLISHED, _position(tree), right, wrong if not right else ())
        pictures = {name: _shares(figures) for name, figures in tree["pictures"].items()}
        positions.append(PublishedPosition(case, tree["what"], pictures, _shares(tree.get("laddered", {}))))
    return tuple(positions)


@cache
def picture_cases() -> dict[str, str]:
    """Name of a picture -> name of the case that has its board."""
    return {picture: shown.case.name for shown in published() for picture in (shown.case.name, *shown.pictures)}


@cache
def drawn_cases() -> tuple[Case, ...]:
    """The drawn families, 16 cases of each drawing."""
    cases = []
    for tree in _read("drawn.json"):
        right = tuple(point(name) for name in tree["right"])
        position = _position(tree)
        twin = _twin(position, **tree["twin"]) if "twin" in tree else None
        case = Case(tree["name"], tree["group"], position, right, twin=twin, distance=tree["distance"])
        cases += [case.turned(symmetry, swap) for swap in (False, True) for symmetry in range(8)]
    return tuple(cases)


@cache
def drawn_suite() -> Suite:
    """The documents' positions and the drawn families."""
    return Suite((*(shown.case for shown in published()), *drawn_cases()))


def suite_with_ladders(store, games: np.ndarray) -> Suite:
    """The drawn suite and the ladders of these games (numbers, ascending) of a store."""
    return Suite((*drawn_suite().cases, *cut_ladders(store, games, _MOST_LADDERS)))


def _read(name: str) -> list[dict]:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _shares(percents: dict[str, float]) -> dict[int, float]:
    return {point(name): percent / 100 for name, percent in percents.items()}


def _position(tree: dict) -> Position:
    mover = {"black": BLACK, "white": WHITE}[tree["to_play"]]
    ko = point(tree["ko"]) if "ko" in tree else -1
    history = (point(tree["last_move"]),) if tree.get("history", True) else ()
    return Position(stones_of(_parsed(tree["board"])), mover, ko, history)


def _parsed(rows: Sequence[str]) -> dict[int, int]:
    """Point -> colour of 19 rows of `X` black, `O` white, `.` empty; blanks are ignored."""
    points = "".join("".join(row.split()) for row in rows)
    if len(points) != SIZE * SIZE:
        raise ValueError(f"a board of {len(points)} points")
    return {at: _COLOURS[character] for at, character in enumerate(points)}


def _twin(position: Position, own_stone: str, last_move: str) -> Position:
    """The same position without a ko, with the mover's stone at one point and another last move."""
    stones, at = position.stones.copy(), point(own_stone)
    mine, bit = stones.reshape(2, -1)[position.mover - 1], np.uint64(1) << np.uint64(at & 63)
    stones.reshape(2, -1)[:, at >> 6] &= ~bit
    mine[at >> 6] |= bit
    return Position(stones, position.mover, -1, (point(last_move),))
