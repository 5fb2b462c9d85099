"""`NetPlayer`: a trained net that chooses moves in many games at once."""

from collections.abc import Sequence

import numpy as np
import torch

from gonn_core.config import FeatureConfig
from gonn_core.errors import SettingError
from gonn_core.evaluation.evaluate import NotFinite, turned_back
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import PlaneSource
from gonn_core.go.points import PASS, POINTS, SIZE
from gonn_core.go.workspace import make_workspace
from gonn_core.play.choice import MOVES_SHOWN, PASSING, Choice, choose
from gonn_core.play.game import Game, GameTable, copy_game, make_table, plane_rows, present_rows
from gonn_core.play.kernels import add_ladders, survey

CHUNK = 32
"""Positions of one forward pass, always: a smaller batch is filled up. So a position's logits do not hang on what else
is asked about, for a convolution may take another algorithm, and give other bits, for another number of positions."""


class NetPlayer:
    """A net in inference mode on the CPU with the planes that it knows and a way to choose.

    `moves` passes by the choice's rule; with the rule `guard` it passes only without candidates, and the guard is asked
    by who plays.
    """

    def __init__(self, net: torch.nn.Module, features: FeatureConfig, choice: Choice | None = None, chunk: int = CHUNK):
        """choice: None is the default one. Raises SettingError for a choice of history where the net sees no earlier
        moves."""
        choice = choice or Choice()
        if choice.history != "full" and not features.history and not features.past_boards:
            raise SettingError("history", choice.history, "this net sees no earlier moves", ("full",))
        self.choice = choice
        self._net, self._features, self._chunk = net.eval(), features, chunk
        self._computed = len(computed_planes(features))
        self._selected = torch.from_numpy(plane_indices(features))
        self._work = make_workspace()

    def moves(self, games: Sequence[Game], draws: np.ndarray) -> list[int]:
        """A point or PASS for each game's side to move. draws (N,): uniform in [0, 1). All games have the same superko
        rule."""
        if not games:
            return []
        table, which = _gathered(games)
        return self.table_moves(table, which, np.asarray(draws), games[0].superko).tolist()

    def policies(self, games: Sequence[Game], symmetry: int | None = None) -> np.ndarray:
        """(N, 361) float64 probabilities of the points for each game's side to move, all points included. symmetry: one
        of 0..7 instead of those of the choice."""
        logits = self.table_logits(*_gathered(games), symmetry).astype(np.float64)
        shares = np.exp(logits - logits.max(1, keepdims=True))
        return shares / shares.sum(1, keepdims=True)

    def table_moves(self, table: GameTable, which: np.ndarray, draws: np.ndarray, superko: bool) -> np.ndarray:
        """As `moves`, of the games `which` (N,) int64 of a table: (N,) int64."""
        (candidates, settled), passes = np.empty((2, len(which), POINTS), np.bool_), np.empty(len(which), np.bool_)
        survey(table, which, superko, PASSING[self.choice.passing], candidates, settled, passes)
        chosen = np.full(len(which), PASS, np.int64)
        moving = np.flatnonzero(~passes)
        if len(moving):
            logits = self.table_logits(table, which[moving])
            logits[settled[moving]] = -np.inf
            played = table.played[which[moving]]
            chosen[moving] = choose(self.choice, logits, candidates[moving], played, draws[moving])
        return chosen

    @torch.inference_mode()
    def table_logits(self, table: GameTable, which: np.ndarray, symmetry: int | None = None) -> np.ndarray:
        """(N, 361) float32 logits of the present positions of the games `which` of a table, under one symmetry 0..7 or
        as the choice says. Raises NotFinite."""
        first_symmetry, *others = range(self.choice.symmetries) if symmetry is None else [symmetry]
        if self._features.ladders:
            add_ladders(table, which, self._work)
        source, rows = plane_rows(table), present_rows(table, which)
        out = np.empty((len(rows), POINTS), np.float32)
        for first in range(0, len(rows), self._chunk):
            chunk = np.resize(rows[first : first + self._chunk], self._chunk)
            logits = self._turned_back(source, chunk, first_symmetry)
            for other in others:
                logits = logits + self._turned_back(source, chunk, other)
            count = min(self._chunk, len(rows) - first)
            out[first : first + count] = (logits / (1 + len(others)))[:count].float().numpy()
        if not np.isfinite(out).all():
            raise NotFinite("the net's logits are not finite numbers: its training has diverged")
        return out

    def _turned_back(self, source: PlaneSource, rows: np.ndarray, symmetry: int) -> torch.Tensor:
        """(N, 361) logits of rows that the net sees under a symmetry, by the points as they are recorded."""
        return turned_back(self._net(self._planes(source, rows, symmetry)), symmetry)

    def _planes(self, source: PlaneSource, rows: np.ndarray, symmetry: int) -> torch.Tensor:
        planes, targets = np.empty((len(rows), self._computed, SIZE, SIZE), np.float32), np.empty(len(rows), np.int64)
        symmetries = np.full(len(rows), symmetry, np.uint8)
        keep = np.full(len(rows), MOVES_SHOWN[self.choice.history], np.uint8)
        make_planes(self._features, source, rows, symmetries, keep, planes, targets)
        shown = torch.from_numpy(planes)
        return shown if len(self._selected) == self._computed else shown[:, self._selected]


def _gathered(games: Sequence[Game]) -> tuple[GameTable, np.ndarray]:
    """Games in one table."""
    if len(games) == 1:
        return games[0].table, np.array([games[0].place])
    table = make_table(len(games), max(map(len, games)))
    for place, game in enumerate(games):
        copy_game(game.table, game.place, table, place)
    return table, np.arange(len(games))
