"""Targets other than the move played, from rows of a position store: what auxiliary heads and further output planes
learn, and which points are illegal.

Rows of a game are contiguous, so what comes later is index arithmetic (go/layout.py). All targets of points are
turned by the sample's symmetry, as its planes are. -1 stands for "not known, or none": it never adds to a loss. Calls
run without the GIL, from as many threads as you like.

    illegal        (N, 361) bool    points with a stone, and the simple-ko point (spec: other systems 2.5)
    future         (N, K) int64     the next K moves after the one played: the reply, the move after it; -1 for a pass
                                    or none
    ladders        (N, 361) bool    stones of chains that a ladder captures: GoNN's planes 23, 24 (spec: GoNN 3.3)
    next_occupant  (N, 361) int8    next stone to come to the point: 0 none, 1 own, 2 opponent's (spec: other systems
                                    3.8, A1)
    removal_time   (N, 361) int8    of each stone: class of REMOVAL_BINS of its capture; -1 on empty points (A2)
    ownership      (N, 361) int8    at the end of a counted game: 1 own, 0 the opponent's (A5; points: final_owner.py)
    value          (N,) int64       1 the mover wins, 0 he loses, -1 no winner known (A6)
    moves_left     (N,) float32     moves of the game's record from here on, passes and those after a cut included (A7)
    score          (N,) int64       class of the points that the mover wins by, 5 points each: 20 from a draw to less
                                    than 5, 19 a loss by up to 5, 0 and 39 whatever is beyond; -1 unless counted

next_occupant and removal_time say "none" and "never" of what has not happened when the record ends. Where the game was
not counted, or its replay was cut, much would still have happened: positions in the last `CENSORED_PLIES` plies of such
games are all -1 (the number is the document's; that counted games keep them is ours).
"""

from collections.abc import Sequence

import numpy as np

from gonn_core.features.final_owner import certain_owners
from gonn_core.features.source import plane_source
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.layout import COMPLETE, FLAGS, KO, LAST, MOVE, PLY, RESULT_COUNTED, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, POINTS, SYMMETRY, WHITE, WORDS

NAMES = ("illegal", "future", "ladders", "next_occupant", "removal_time", "ownership", "value", "moves_left", "score")
REMOVAL_BINS = ("1", "2", "3-4", "5-8", "9-16", "17-32", "33 or more", "never")
"""Classes of removal_time, in opponent's turns until the stone is captured; a stone leaves on such a turn only."""
SCORE_CLASSES, SCORE_POINTS = 40, 5
"""Classes of score, and how many points each has (ours)."""
CENSORED_PLIES = 20

_ONE = np.uint64(1)
_LONGEST = 33
NEVER = 7
_BINS = np.array([-1, 0, 1, 2, 2, *[3] * 4, *[4] * 8, *[5] * 16, 6], np.int8)
"""(34,) class of a number of turns, 1 … 32, 33 or more."""
assert len(_BINS) == _LONGEST + 1


@kernel
def _mark(bits, word, image, value, out):
    """Set `out` to `value` at the images of the points in one word of a bitboard."""
    while bits != 0:
        out[image[word * 64 + lowest_bit(bits)]] = value
        bits &= bits - _ONE


@kernel
def mark_illegal(stones, moves, rows, symmetries, out):
    """out (B, 361) bool: points with a stone, and the ko point."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = False
        for word in range(WORDS):
            _mark(stones[row, word] | stones[row, WORDS + word], word, image, True, out[j])
        if moves[row, KO] >= 0:
            out[j, image[moves[row, KO]]] = True


@kernel
def mark_laddered(stones, ladders, rows, symmetries, out):
    """out (B, 361) bool: stones that the store's ladder bits mark."""
    for j in range(len(rows)):
        row = rows[j]
        out[j] = False
        for word in range(WORDS):
            _mark(
                ladders[row, word] & (stones[row, word] | stones[row, WORDS + word]),
                word,
                SYMMETRY[symmetries[j]],
                True,
                out[j],
            )


@kernel
def fill_future(moves, rows, symmetries, out):
    """out (B, K) int64: the moves 1 … K after the one played from here, as long as the game continues and the players
    alternate; else -1."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = -1
        mover = moves[row, FLAGS] & WHITE_TO_MOVE
        for k in range(out.shape[1]):
            if moves[row, FLAGS] & LAST:
                break
            row += 1
            mover ^= WHITE_TO_MOVE
            if moves[row, FLAGS] & WHITE_TO_MOVE != mover:
                break
            if moves[row, MOVE] >= 0:
                out[j, k] = image[moves[row, MOVE]]


@kernel
def _is_censored(game, last, censored, row):
    return censored[game[row]] and last[game[row]] - row <= CENSORED_PLIES


@kernel
def fill_next_occupants(moves, game, last, censored, rows, symmetries, out):
    """out (B, 361) int8: 0 none, 1 own, 2 opponent's; -1 everywhere near the end of a censored game.

    A stone only comes to an empty point, so the next stone at a point is the next move there, whatever is there
    now.
    """
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        if _is_censored(game, last, censored, row):
            out[j] = -1
            continue
        out[j] = 0
        mover = moves[row, FLAGS] & WHITE_TO_MOVE
        for at in range(row, last[game[row]]):
            move = moves[at, MOVE]
            if move >= 0 and out[j, image[move]] == 0:
                out[j, image[move]] = 1 if moves[at, FLAGS] & WHITE_TO_MOVE == mover else 2


@kernel
def fill_removal_times(stones, moves, game, last, censored, rows, symmetries, out):
    """out (B, 361) int8: class of each stone's capture, -1 on empty points, and everywhere near the end of a censored
    game.

    Black stones leave on White's turns and the other way round, so a turn is a look at six words; each opponent's turn
    counts, passes too.
    """
    standing = np.empty(2 * WORDS, np.uint64)
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        out[j] = -1
        if _is_censored(game, last, censored, row):
            continue
        for word in range(2 * WORDS):
            standing[word] = stones[row, word]
            _mark(standing[word], word % WORDS, image, NEVER, out[j])
        turns_of_black = turns_of_white = 0
        for at in range(row, last[game[row]]):
            if moves[at, FLAGS] & WHITE_TO_MOVE:
                turns_of_white += 1
                turns, first = turns_of_white, 0
            else:
                turns_of_black += 1
                turns, first = turns_of_black, WORDS
            for word in range(WORDS):
                gone = standing[first + word] & ~stones[at + 1, first + word]
                if gone != 0:
                    standing[first + word] ^= gone
                    _mark(gone, word, image, _BINS[min(turns, _LONGEST)], out[j])


@kernel
def fill_ownership(moves, game, owners, rows, symmetries, out):
    """out (B, 361) int8 from owners (G, 12) uint64, Black's points and White's: 1 own, 0 the opponent's, -1
    neither's."""
    for j in range(len(rows)):
        row, image = rows[j], SYMMETRY[symmetries[j]]
        white = moves[row, FLAGS] & WHITE_TO_MOVE
        out[j] = -1
        for word in range(WORDS):
            _mark(owners[game[row], word], word, image, 0 if white else 1, out[j])
            _mark(owners[game[row], WORDS + word], word, image, 1 if white else 0, out[j])


_OF_GAMES = ("next_occupant", "removal_time", "ownership", "value", "moves_left", "score")


class Targets:
    """Makes the targets called `names` (of NAMES, `future` once for each move wanted) from rows of `store`.

    All but the first three of NAMES need a store with `games`. Raises ValueError for an unknown name or a store without
    them. ownership reads the end of every counted game here, once.
    """

    def __init__(self, store, names: Sequence[str]):
        unknown = set(names) - set(NAMES)
        if unknown:
            raise ValueError(f"targets {sorted(unknown)}: valid are {NAMES}")
        self._source, self.names = plane_source(store), tuple(dict.fromkeys(names))
        stones, ladders, moves, game = self._source[:4]
        self._kernels: dict[str, tuple] = {
            "illegal": (mark_illegal, np.bool_, POINTS, stones, moves),
            "future": (fill_future, np.int64, list(names).count("future"), moves),
            "ladders": (mark_laddered, np.bool_, POINTS, stones, ladders),
        }
        """Target -> its kernel, and the type and width of what it fills from which arrays."""
        if not set(names) & set(_OF_GAMES):
            return
        if not hasattr(store, "games"):
            raise ValueError(f"targets {self.names} need a store that knows its games")
        games = np.asarray(store.games)
        counted = (games["result"] == RESULT_COUNTED) & (games["end"] == COMPLETE)
        last = np.ascontiguousarray(games["first_row"] + games["rows"] - 1)
        owners = certain_owners(stones, last, counted) if "ownership" in names else None
        self._kernels |= {
            "next_occupant": (fill_next_occupants, np.int8, POINTS, moves, game, last, ~counted),
            "removal_time": (fill_removal_times, np.int8, POINTS, stones, moves, game, last, ~counted),
            "ownership": (fill_ownership, np.int8, POINTS, moves, game, owners),
        }
        self._winner, self._recorded = games["winner"].copy(), games["recorded_moves"].copy()
        self._margin = np.where(games["result"] == RESULT_COUNTED, games["margin"], np.nan)

    def make(self, rows: np.ndarray, symmetries: np.ndarray) -> dict[str, np.ndarray]:
        """rows (N,) int64 of the store, symmetries (N,) uint8 0..7 -> name -> array, as the module says. Raises
        ValueError out of range."""
        rows, symmetries = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(symmetries, np.uint8)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self._source.moves) and symmetries.max() < 8):
            raise ValueError("rows or symmetries out of range")
        return {name: self._make(name, rows, symmetries) for name in self.names}

    def _make(self, name: str, rows: np.ndarray, symmetries: np.ndarray) -> np.ndarray:
        if name in self._kernels:
            fill, dtype, width, *arrays = self._kernels[name]
            out = np.empty((len(rows), width), dtype)
            fill(*arrays, rows, symmetries, out)
            return out
        game, moves = self._source.game[rows], self._source.moves[rows]
        if name == "moves_left":
            return (self._recorded[game] - moves[:, PLY]).astype(np.float32)
        winner, mover = self._winner[game], np.where(moves[:, FLAGS] & WHITE_TO_MOVE, WHITE, BLACK)
        wins = np.where(winner == 0, -1, winner == mover).astype(np.int64)
        if name == "value":
            return wins
        points = np.where(wins == 0, -1.0, 1.0) * self._margin[game]  # a drawn game's margin is 0
        known = ~np.isnan(points)
        classes = np.floor(np.where(known, points, 0.0) / SCORE_POINTS).astype(np.int64) + SCORE_CLASSES // 2
        return np.where(known, classes.clip(0, SCORE_CLASSES - 1), -1)
