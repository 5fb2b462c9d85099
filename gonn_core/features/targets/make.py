"""Targets beside the move played, from rows of a position store: what auxiliary heads and further output planes learn,
and which points are illegal.

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

from gonn_core.features.source import plane_source
from gonn_core.features.targets import kernels
from gonn_core.features.targets.final_owner import certain_owners
from gonn_core.go.layout import COMPLETE, FLAGS, PLY, RESULT_COUNTED, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, POINTS, WHITE

NAMES = ("illegal", "future", "ladders", "next_occupant", "removal_time", "ownership", "value", "moves_left", "score")
REMOVAL_BINS = ("1", "2", "3-4", "5-8", "9-16", "17-32", "33 or more", "never")
"""Classes of removal_time, in opponent's turns until the stone is captured; a stone leaves on such a turn only."""
SCORE_CLASSES, SCORE_POINTS = 40, 5
"""Classes of score, and how many points each has (ours)."""
CENSORED_PLIES = kernels.CENSORED_PLIES

_POINTWISE = {
    "illegal": np.bool_,
    "ladders": np.bool_,
    "next_occupant": np.int8,
    "removal_time": np.int8,
    "ownership": np.int8,
}
_OF_GAMES = ("next_occupant", "removal_time", "ownership", "value", "moves_left", "score")


class Targets:
    """Makes the targets called `names` (of NAMES, `future` once for each move wanted) from rows of `store`.

    All but the first three of NAMES need a store with `games`. Raises ValueError for an unknown name or a store without
    them. ownership looks at the end of every counted game here, once.
    """

    def __init__(self, store, names: Sequence[str]):
        unknown = set(names) - set(NAMES)
        if unknown:
            raise ValueError(f"targets {sorted(unknown)}: valid are {NAMES}")
        self._source, self.names, self._future = (
            plane_source(store),
            tuple(dict.fromkeys(names)),
            list(names).count("future"),
        )
        if any(name in _OF_GAMES for name in names):
            if not hasattr(store, "games"):
                raise ValueError(f"targets {self.names} need a store that knows its games")
            games = np.asarray(store.games)
            counted = (games["result"] == RESULT_COUNTED) & (games["end"] == COMPLETE)
            self._last = np.ascontiguousarray(games["first_row"] + games["rows"] - 1)
            self._winner, self._recorded = (
                np.ascontiguousarray(games["winner"]),
                np.ascontiguousarray(games["recorded_moves"]),
            )
            self._margin = np.where(games["result"] == RESULT_COUNTED, games["margin"], np.nan)
            self._censored = ~counted
            self._owners = certain_owners(self._source.stones, self._last, counted) if "ownership" in names else None

    def make(self, rows: np.ndarray, symmetries: np.ndarray) -> dict[str, np.ndarray]:
        """rows (N,) int64 of the store, symmetries (N,) uint8 0..7 -> name -> array, as the module says. Raises
        ValueError out of range."""
        rows, symmetries = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(symmetries, np.uint8)
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(self._source.moves) and symmetries.max() < 8):
            raise ValueError("rows or symmetries out of range")
        return {name: getattr(self, f"_{name}_of")(rows, symmetries) for name in self.names}

    def _illegal_of(self, rows, symmetries):
        return self._pointwise(
            "illegal", kernels.mark_illegal, rows, symmetries, self._source.stones, self._source.moves
        )

    def _ladders_of(self, rows, symmetries):
        return self._pointwise(
            "ladders", kernels.mark_laddered, rows, symmetries, self._source.stones, self._source.ladders
        )

    def _next_occupant_of(self, rows, symmetries):
        games = self._source.moves, self._source.game, self._last, self._censored
        return self._pointwise("next_occupant", kernels.fill_next_occupants, rows, symmetries, *games)

    def _removal_time_of(self, rows, symmetries):
        games = self._source.stones, self._source.moves, self._source.game, self._last, self._censored
        return self._pointwise("removal_time", kernels.fill_removal_times, rows, symmetries, *games)

    def _ownership_of(self, rows, symmetries):
        games = self._source.moves, self._source.game, self._owners
        return self._pointwise("ownership", kernels.fill_ownership, rows, symmetries, *games)

    def _pointwise(self, name, kernel, rows, symmetries, *arrays):
        out: np.ndarray = np.empty((len(rows), POINTS), _POINTWISE[name])
        kernel(*arrays, rows, symmetries, out)
        return out

    def _future_of(self, rows, symmetries):
        out = np.empty((len(rows), self._future), np.int64)
        kernels.fill_future(self._source.moves, rows, symmetries, out)
        return out

    def _value_of(self, rows, symmetries):
        winner = self._winner[self._source.game[rows]]
        mover = np.where(self._source.moves[rows, FLAGS] & WHITE_TO_MOVE, WHITE, BLACK)
        return np.where(winner == 0, -1, winner == mover).astype(np.int64)

    def _moves_left_of(self, rows, symmetries):
        return (self._recorded[self._source.game[rows]] - self._source.moves[rows, PLY]).astype(np.float32)

    def _score_of(self, rows, symmetries):
        game = self._source.game[rows]
        won = np.where(self._value_of(rows, symmetries) == 0, -1.0, 1.0)  # a drawn game's margin is 0
        points = won * self._margin[game]
        known = ~np.isnan(points)
        classes = np.floor(np.where(known, points, 0.0) / SCORE_POINTS).astype(np.int64) + SCORE_CLASSES // 2
        return np.where(known, classes.clip(0, SCORE_CLASSES - 1), -1)
