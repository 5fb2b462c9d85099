"""Probe cases and suites of them: the documents' test positions, drawn families, and ladders from games.

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

*ko_threats* (compare spec: GoNN 7.7 with 7.8): White has just taken a ko that decides a long black chain. On the
other side of the board an atari threatens a white chain, which one answer makes safe. In the counterpart the ko is
over, Black has the point of White's ko stone, White has moved elsewhere, and the atari is a wasted threat. Distance:
from the ko to the threat.

ladders.npz holds pairs of positions that differ in one far stone, which decides whether a ladder works (spec: GoNN
1.2). One of the two is from a game of the bundled data set (none that its nets are trained on); in the other a stone is
removed, or one is added on the ladder's way. In *ladder_capture* the move starts a working ladder, in *ladder_run* it
runs out of a broken one; in the counterpart it is wrong. Distance: king's moves from the deciding stone to the chain.
No history is shown where the game had the other player to move. In 76 of the 2,411 captures the move starts another
ladder in the counterpart. The code that cut them is in the history (probes/ladders.py at commit cf01600b).
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from gonn_core.features.source import Position
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, SIZE, SYMMETRY, WHITE, WORDS, point

PUBLISHED = "published"
"""Group of the documents' test positions."""


@dataclass(frozen=True)
class Case:
    """One question to a net.

    right: moves of which one ought to be preferred; empty: the case is shown, never scored. They are set against
    * the same moves in `counterpart`, if any: a position that differs in one stone, in which they are wrong;
    * else the moves of `wrong`; where that is empty too, every other point of the board.
    distance: from what makes the moves right to the moves, in points (each family documents how it is measured).
    cluster: cases of one cluster (a game, a drawing in its turned copies) are not independent of each other.
    """

    name: str
    group: str
    position: Position
    right: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    counterpart: Position | None = None
    distance: int | None = None
    cluster: str = ""

    @property
    def chance(self) -> float:
        """Probability that a net without any knowledge prefers a right move: all moves compared are equally likely to
        come first."""
        if self.counterpart is not None:
            return 0.5
        against = len(self.wrong) if self.wrong else SIZE * SIZE - len(self.right)
        return len(self.right) / (len(self.right) + against)

    def turned(self, symmetry: int, swap_colours: bool) -> "Case":
        """The same case under a symmetry (0..7), and with the colours exchanged, as its name says. Its cluster
        stays."""
        return replace(
            self,
            name=f"{self.name}-{symmetry}{'w' if swap_colours else 'b'}",
            position=_turned_position(self.position, symmetry, swap_colours),
            right=_turned_points(self.right, symmetry),
            wrong=_turned_points(self.wrong, symmetry),
            counterpart=self.counterpart and _turned_position(self.counterpart, symmetry, swap_colours),
            cluster=self.cluster or self.name,
        )


def _turned_position(position: Position, symmetry: int, swap_colours: bool) -> Position:
    colours = np.zeros(SIZE * SIZE, np.uint8)
    colours[SYMMETRY[symmetry]] = Board(position.stones).colours()
    mover = position.mover
    if swap_colours:
        colours = np.array([0, WHITE, BLACK], np.uint8)[colours]
        mover = BLACK + WHITE - mover
    (ko,), history = (_turned_points(points, symmetry) for points in ((position.ko,), position.history))
    return Position(_bitboards(colours), mover, ko, history)


def _turned_points(points: Iterable[int], symmetry: int) -> tuple[int, ...]:
    """Points under a symmetry; a negative one (a pass, no ko) stays."""
    return tuple(int(SYMMETRY[symmetry][p]) if p >= 0 else p for p in points)


def _bitboards(colours: np.ndarray) -> np.ndarray:
    """(12,) uint64, as a row of the store's `stones`, of (361,) EMPTY, BLACK or WHITE."""
    bits = np.zeros((2, 64 * WORDS), bool)
    bits[:, : colours.size] = colours == np.array([[BLACK], [WHITE]])
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


@dataclass(frozen=True)
class Suite:
    """Cases in a fixed order, names unique."""

    cases: tuple[Case, ...]

    def __post_init__(self):
        if len({case.name for case in self.cases}) < len(self.cases):
            raise ValueError("two probe cases have one name")

    @cached_property
    def digest(self) -> str:
        """16 hex digits over everything in the cases."""
        digest = hashlib.sha256()
        for case in self.cases:
            fields = [case.name, case.group, case.right, case.wrong, case.distance, case.cluster]
            digest.update(json.dumps(fields).encode())
            for position in (case.position, case.counterpart):
                if position is not None:
                    digest.update(position.stones.tobytes())
                    digest.update(json.dumps([position.mover, position.ko, position.history]).encode())
        return digest.hexdigest()[:16]

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in the order of their first cases."""
        return tuple(dict.fromkeys(case.group for case in self.cases))


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
def probe_suite() -> Suite:
    """Everything that nets are asked: the drawn suite, then the ladders."""
    with np.load(Path(__file__).with_name("ladders.npz"), allow_pickle=False) as file:
        rows = file["cases"]
    ladders = []
    for row in rows:
        name, group = row["name"].decode(), "ladder_run" if row["run"] else "ladder_capture"
        shown = int(row["mover"]), int(row["ko"]), tuple(row["history"][: row["plies"]].tolist())
        right, wrong = Position(row["stones"], *shown), Position(row["counterpart"], *shown)
        game, distance = name.partition("-")[0], int(row["distance"])
        ladders.append(Case(name, group, right, (int(row["move"]),), (), wrong, distance, cluster=game))
    return Suite((*drawn_suite().cases, *ladders))


@cache
def drawn_suite() -> Suite:
    """The documents' positions and the drawn families, 16 cases of each drawing."""
    cases = [shown.case for shown in published()]
    for tree in _read("drawn.json"):
        right = tuple(point(name) for name in tree["right"])
        counterpart = _position(tree["counterpart"]) if "counterpart" in tree else None
        case = Case(
            tree["name"], tree["group"], _position(tree), right, counterpart=counterpart, distance=tree["distance"]
        )
        cases += [case.turned(symmetry, swap) for swap in (False, True) for symmetry in range(8)]
    return Suite(tuple(cases))


def _read(name: str) -> list[dict]:
    return json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))


def _shares(percents: dict[str, float]) -> dict[int, float]:
    return {point(name): percent / 100 for name, percent in percents.items()}


def _position(tree: dict) -> Position:
    """A position from 19 rows of `X` black, `O` white, `.` empty (blanks are ignored), player to move, ko and last
    move."""
    points = "".join("".join(row.split()) for row in tree["board"])
    colours = np.array([".XO".index(character) for character in points], np.uint8)
    mover = {"black": BLACK, "white": WHITE}[tree["to_play"]]
    ko = point(tree["ko"]) if "ko" in tree else -1
    history = (point(tree["last_move"]),) if tree.get("history", True) else ()
    return Position(_bitboards(colours), mover, ko, history)
