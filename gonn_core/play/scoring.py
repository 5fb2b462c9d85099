"""Counting: area, territory, unconditional life, and what it says about dead stones."""

from collections.abc import Collection, Mapping

import numpy as np

from gonn_core.go.points import BLACK, EMPTY, POINTS, SIZE, WHITE, WORDS
from gonn_core.go.rules import BOARD_LENGTH, UNDO_PER_MOVE, set_up
from gonn_core.play.game import Game
from gonn_core.play.kernels import find_settled


def colours_of(stones: np.ndarray) -> np.ndarray:
    """(361,) uint8 colours of stones (12,) uint64: black bitboard, then white."""
    bits = np.unpackbits(np.ascontiguousarray(stones, "<u8").view(np.uint8), bitorder="little").reshape(2, WORDS * 64)[
        :, :POINTS
    ]
    return bits[0] * np.uint8(BLACK) + bits[1] * np.uint8(WHITE)


def area(stones: np.ndarray, dead: Collection[int] = frozenset()) -> tuple[int, int]:
    """Points of Black and of White in stones (12,) uint64: stones, and empty points from which stones of one colour
    alone are reached. dead: points whose stones are taken off first."""
    colours = colours_of(stones)
    colours[list(dead)] = EMPTY
    board = colours.reshape(SIZE, SIZE)
    black, white = (_reached(board == colour, board == EMPTY) for colour in (BLACK, WHITE))
    return int((black & ~white).sum()), int((white & ~black).sum())


def _reached(stones: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(19, 19) bool: stones and the empty points that are connected to them."""
    reached = stones
    while True:
        grown = reached.copy()
        grown[1:] |= reached[:-1]
        grown[:-1] |= reached[1:]
        grown[:, 1:] |= reached[:, :-1]
        grown[:, :-1] |= reached[:, 1:]
        grown = stones | (grown & empty)
        if np.array_equal(grown, reached):
            return reached
        reached = grown


def territory(game: Game, dead: Collection[int], owned: Mapping[int, Collection[int]]) -> tuple[int, int]:
    """Points of Black and of White by Japanese rules: empty points of their own (`owned`: colour -> points), stones of
    the other that they took off in the game, and the other's dead stones, which count for the point they stand on, too.

    Raises ValueError where dead points hold no stone, points of territory hold one, or both sides have a point.
    """
    colours = dict(enumerate(game.board.colours().tolist()))
    if not all(colours.get(point, EMPTY) for point in dead):
        raise ValueError("a dead stone where there is none")
    if any(colours.get(point) != EMPTY for points in owned.values() for point in points):
        raise ValueError("a point of territory that is no empty point")
    if set(owned[BLACK]) & set(owned[WHITE]):
        raise ValueError("a point of territory that is both sides'")
    prisoners = game.captured

    def points(colour: int, other: int) -> int:
        lost = sum(colours[point] == other for point in dead)
        return len(set(owned[colour])) + prisoners[other] + 2 * lost

    return points(BLACK, WHITE), points(WHITE, BLACK)


def result_text(margin: float) -> str:
    """A result as SGF writes it, `B+3.5`, from Black's points less White's and the komi; `0` for a draw."""
    return "0" if margin == 0 else f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"


def pass_alive(stones: np.ndarray) -> dict[int, np.ndarray]:
    """Colour -> (361,) bool: its unconditionally alive chains and the regions that are theirs (Benson 1976), of stones
    (12,) uint64.

    However its owner passes, the enemy can neither take such a chain nor live in such a region. See
    kernels.find_settled.
    """
    board, owner = np.zeros(BOARD_LENGTH, np.uint16), np.empty(POINTS, np.uint8)
    set_up(board, np.zeros(UNDO_PER_MOVE, np.uint16), np.ascontiguousarray(stones, np.uint64))
    find_settled(board, owner)
    return {colour: owner == colour for colour in (BLACK, WHITE)}


def cleanup(stones: np.ndarray) -> tuple[frozenset[int], frozenset[int]]:
    """(dead, unsettled) points of stones (12,) uint64: stones inside the enemy's unconditional regions; points that are
    nobody's for certain."""
    colours, owned = colours_of(stones), pass_alive(stones)
    dead = (owned[BLACK] & (colours == WHITE)) | (owned[WHITE] & (colours == BLACK))
    unsettled = ~(owned[BLACK] | owned[WHITE])
    return frozenset(np.flatnonzero(dead).tolist()), frozenset(np.flatnonzero(unsettled).tolist())
