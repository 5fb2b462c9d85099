"""Counting: area, territory, unconditional life, and what it says about dead stones."""

from collections.abc import Collection, Mapping

import numpy as np

from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, EMPTY, POINTS, SIZE, WHITE, WORDS
from gonn_core.go.rules import BOARD_LENGTH, UNDO_PER_MOVE
from gonn_core.go.setup import set_up
from gonn_core.play.game import Game
from gonn_core.play.kernels import find_settled


def colours_of(stones: np.ndarray) -> np.ndarray:
    """(361,) uint8 colours of stones (12,) uint64: black bitboard, then white."""
    bits = np.unpackbits(np.ascontiguousarray(stones, "<u8").view(np.uint8), bitorder="little").reshape(2, WORDS * 64)[
        :, :POINTS
    ]
    return bits[0] * np.uint8(BLACK) + bits[1] * np.uint8(WHITE)


def area(position: Board | np.ndarray, dead: Collection[int] = frozenset()) -> tuple[int, int]:
    """Points of Black and of White: stones, and empty points from which stones of one colour alone are reached.

    position: a board, or stones (12,) uint64. dead: points whose stones are taken off first.
    """
    colours = (position.colours() if isinstance(position, Board) else colours_of(position)).tolist()
    for point in dead:
        colours[point] = EMPTY
    points = [0, colours.count(BLACK), colours.count(WHITE)]
    seen = set()
    for start in range(POINTS):
        if colours[start] != EMPTY or start in seen:
            continue
        region, borders, waiting = {start}, set(), [start]
        while waiting:
            for q in _NEIGHBOURS[waiting.pop()]:
                if colours[q] != EMPTY:
                    borders.add(colours[q])
                elif q not in region:
                    region.add(q)
                    waiting.append(q)
        seen |= region
        if len(borders) == 1:
            points[borders.pop()] += len(region)
    return points[BLACK], points[WHITE]


def territory(game: Game, dead: Collection[int], owned: Mapping[int, Collection[int]]) -> tuple[int, int]:
    """Points of Black and of White by Japanese rules: empty points of their own (`owned`: colour -> points), stones of
    the other that they took off in the game, and the other's dead stones, which count for the point they stand on, too.

    Raises ValueError for what is no point, where dead points hold no stone, or points of territory one, or both have a
    point.
    """
    colours = game.board.colours().tolist()
    if not all(0 <= point < POINTS for points in (dead, *owned.values()) for point in points):
        raise ValueError("what is no point of the board")
    if any(colours[point] == EMPTY for point in dead):
        raise ValueError("a dead stone where there is none")
    if any(colours[point] != EMPTY for points in owned.values() for point in points):
        raise ValueError("a stone on a point of territory")
    if set(owned[BLACK]) & set(owned[WHITE]):
        raise ValueError("a point of territory that is both sides'")
    prisoners = game.captured

    def points(colour: int, other: int) -> int:
        lost = sum(colours[point] == other for point in dead)
        return len(set(owned[colour])) + prisoners[other] + 2 * lost

    return points(BLACK, WHITE), points(WHITE, BLACK)


def _neighbours(p: int) -> tuple[int, ...]:
    row, col = divmod(p, SIZE)
    around = ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col))
    return tuple(r * SIZE + c for r, c in around if 0 <= r < SIZE and 0 <= c < SIZE)


_NEIGHBOURS = [_neighbours(p) for p in range(POINTS)]


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
    return _points(dead), _points(unsettled)


def _points(mask: np.ndarray) -> frozenset[int]:
    return frozenset(np.flatnonzero(mask).tolist())
