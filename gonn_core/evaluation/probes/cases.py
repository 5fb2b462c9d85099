"""What a probe case is, and a suite of them with a digest."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gonn_core.features.source import Position
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, SIZE, SYMMETRY, WHITE, WORDS


@dataclass(frozen=True)
class Case:
    """One question to a net.

    right: moves of which one ought to be preferred; empty: the case is shown, never scored. They are set against
    * the same moves in `twin`, a position that differs in one stone and in which they are wrong, where there is a twin;
    * else the moves of `wrong`; where that is empty too, every other point of the board.
    distance: from what makes the moves right to the moves, in points (each family documents how it is measured).
    cluster: cases of one cluster (a game, a drawing in its turned copies) are not independent of each other.
    """

    name: str
    group: str
    position: Position
    right: tuple[int, ...] = ()
    wrong: tuple[int, ...] = ()
    twin: Position | None = None
    distance: int | None = None
    cluster: str = ""

    @property
    def chance(self) -> float:
        """Probability that a net without any knowledge prefers a right move: all moves compared are equally likely to
        come first."""
        if self.twin is not None:
            return 0.5
        against = len(self.wrong) if self.wrong else SIZE * SIZE - len(self.right)
        return len(self.right) / (len(self.right) + against)

    def turned(self, symmetry: int, swap_colours: bool) -> "Case":
        """The same case under a symmetry (0..7), and with the colours exchanged. Its name says so, its cluster
        stays."""
        twin = self.twin and turned_position(self.twin, symmetry, swap_colours)
        name = f"{self.name}-{symmetry}{'w' if swap_colours else 'b'}"
        position = turned_position(self.position, symmetry, swap_colours)
        return replace(
            self,
            name=name,
            position=position,
            right=_turned_points(self.right, symmetry),
            wrong=_turned_points(self.wrong, symmetry),
            twin=twin,
            cluster=self.cluster or self.name,
        )


def turned_position(position: Position, symmetry: int, swap_colours: bool) -> Position:
    """A position under a symmetry (0..7), with black and white exchanged if wanted."""
    image = SYMMETRY[symmetry]
    colours = np.zeros_like(image, dtype=np.uint8)
    colours[image] = Board(position.stones).colours()
    mover = position.mover
    if swap_colours:
        colours = np.array([0, WHITE, BLACK], np.uint8)[colours]
        mover = BLACK + WHITE - mover
    ko = int(image[position.ko]) if position.ko >= 0 else -1
    history = _turned_points(position.history, symmetry)
    return Position(stones_of(dict(enumerate(colours.tolist()))), mover, ko, history)


def _turned_points(points: Iterable[int], symmetry: int) -> tuple[int, ...]:
    """Points under a symmetry; what is no point (a pass) stays."""
    return tuple(int(SYMMETRY[symmetry][p]) if p >= 0 else p for p in points)


def stones_of(colours: Mapping[int, int]) -> np.ndarray:
    """(12,) uint64 bitboards, as a row of the store's `stones`, of a mapping point -> EMPTY, BLACK or WHITE."""
    stones = np.zeros(2 * WORDS, np.uint64)
    for point, colour in colours.items():
        if colour in (BLACK, WHITE):
            stones[(colour - 1) * WORDS + (point >> 6)] |= np.uint64(1) << np.uint64(point & 63)
    return stones


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
            for position in (case.position, case.twin):
                if position is not None:
                    digest.update(position.stones.tobytes())
                    digest.update(json.dumps([position.mover, position.ko, position.history]).encode())
        return digest.hexdigest()[:16]

    @property
    def groups(self) -> tuple[str, ...]:
        """Names of the groups, in the order of their first cases."""
        return tuple(dict.fromkeys(case.group for case in self.cases))
