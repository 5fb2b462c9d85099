"""Games side by side in arrays, every position a row laid out as the position store's (go/layout.py).

So a net sees a game in play as it sees a recorded one: its planes come from the true earlier boards, by the same
kernels.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from gonn_core.features.source import PlaneSource
from gonn_core.go.layout import FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, POINTS, WHITE, WORDS
from gonn_core.go.rules import BOARD_LENGTH, UNDO_PER_MOVE
from gonn_core.go.setup import keep_living
from gonn_core.play.kernels import start


class GameTable(NamedTuple):
    """G games with room for R - 1 moves each. Row r of a game is the position after r moves; rows after `played` mean
    nothing."""

    boards: np.ndarray  # (G, BOARD_LENGTH) uint16: the present boards, see go/rules.py
    undo: np.ndarray  # scratch of one move
    stones: np.ndarray  # (G, R, 12) uint64
    ladders: np.ndarray  # (G, R, 6) uint64: of rows that a net was asked about, if it wants them
    moves: np.ndarray  # (G, R, 4) int16
    hashes: np.ndarray  # (G, R) uint64: of the stones
    vacated: np.ndarray  # (G, 6) uint64: where stones were captured
    played: np.ndarray  # (G,) int64: moves so far
    game: np.ndarray  # (G * R,) int32
    setup_count: np.ndarray  # (G,) int32
    setup: np.ndarray  # (G, 361) int16: codes colour*361 + point


def make_table(games: int, moves: int) -> GameTable:
    """Room for `games` games of up to `moves` moves, 170 bytes a move; none is begun."""
    rows = moves + 1
    return GameTable(
        boards=np.zeros((games, BOARD_LENGTH), np.uint16),
        undo=np.zeros(UNDO_PER_MOVE, np.uint16),
        stones=np.zeros((games, rows, 2 * WORDS), np.uint64),
        ladders=np.zeros((games, rows, WORDS), np.uint64),
        moves=np.zeros((games, rows, 4), np.int16),
        hashes=np.zeros((games, rows), np.uint64),
        vacated=np.zeros((games, WORDS), np.uint64),
        played=np.zeros(games, np.int64),
        game=np.repeat(np.arange(games, dtype=np.int32), rows),
        setup_count=np.zeros(games, np.int32),
        setup=np.zeros((games, POINTS), np.int16),
    )


def begin(table: GameTable, game: int, setup: Mapping[int, int], to_move: int) -> None:
    """Begins a game anew from setup stones (point -> colour), less chains without a liberty."""
    codes = [colour * POINTS + point for point, colour in setup.items()]
    table.setup_count[game] = len(codes)
    table.setup[game, : len(codes)] = codes
    stones = table.stones[game, 0]
    stones[:] = 0
    for point, colour in setup.items():
        stones[(colour - 1) * WORDS + (point >> 6)] |= np.uint64(1 << (point & 63))
    keep_living(stones)
    start(table, game, to_move)


def copy_game(source: GameTable, game: int, target: GameTable, place: int) -> None:
    """Copies a game with its rows to `place` of a table with enough room."""
    rows = int(source.played[game]) + 1
    for name in ("stones", "ladders", "moves", "hashes"):
        getattr(target, name)[place, :rows] = getattr(source, name)[game, :rows]
    for name in ("boards", "vacated", "played", "setup_count", "setup"):
        getattr(target, name)[place] = getattr(source, name)[game]


def present_rows(table: GameTable, games: np.ndarray) -> np.ndarray:
    """(B,) int64: the rows of the present positions of `games` (B,) in the source of `plane_rows`."""
    return games * table.moves.shape[1] + table.played[games]


def plane_rows(table: GameTable) -> PlaneSource:
    """All rows of all games, as kernels of planes take them; copies nothing, reads what comes later too."""
    games, rows = table.hashes.shape
    arrays = {
        "stones": table.stones.reshape(games * rows, 2 * WORDS),
        "ladders": table.ladders.reshape(games * rows, WORDS),
        "moves": table.moves.reshape(games * rows, 4),
        "game": table.game.view(),
        "setup_first": np.arange(games, dtype=np.int64) * POINTS,
        "setup_count": table.setup_count.view(),
        "setup": table.setup.reshape(games * POINTS),
    }
    for array in arrays.values():
        array.flags.writeable = False  # as the store's: one compiled version of the kernels serves both
    return PlaneSource(**arrays)


def mover(table: GameTable, game: int) -> int:
    """The side to move, BLACK or WHITE."""
    return WHITE if table.moves[game, table.played[game], FLAGS] & WHITE_TO_MOVE else BLACK


def ko_point(table: GameTable, game: int) -> int:
    """The point that the simple ko forbids now, or -1."""
    return int(table.moves[game, table.played[game], KO])


def game_moves(table: GameTable, game: int) -> list[tuple[int, int]]:
    """The moves so far: (colour, point or PASS)."""
    rows = table.moves[game, : table.played[game]]
    return [(WHITE if flags & WHITE_TO_MOVE else BLACK, move) for move, flags in rows[:, [MOVE, FLAGS]].tolist()]
