"""`NetPlayer`: a trained net that chooses moves in many games at once; how it chooses from its policy."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch

from gonn_core.config import FeatureConfig
from gonn_core.errors import SettingError
from gonn_core.evaluation.evaluate import NotFinite, turned_back
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import PlaneSource
from gonn_core.go.ladder_search import make_workspace
from gonn_core.go.points import PASS, POINTS, SIZE
from gonn_core.play.game import Game, GameTable, copy_game, make_table, plane_rows, present_rows
from gonn_core.play.kernels import add_ladders, choose_biased, survey
from gonn_core.settings.strict import Strict

PASSING = {"no_candidates": 0, "after_pass": 1, "pass_alive": 2, "guard": 0}
"""Passing rule -> its number in kernels.survey; a guard is asked by who plays."""
MOVES_SHOWN = {"full": 5, "last": 1, "none": 0}
"""History mode -> how many earlier moves a net sees."""
_UNBIASED_MOVES = 20
CHUNK = 32
"""Positions of one forward pass, always: a smaller batch is filled up. So a position's logits do not hang on what else
is asked about, for a convolution may take another algorithm, and give other bits, for another number of positions."""


class MoveChoice(Strict):
    """Part of a player's identity. A candidate is a legal point that is no simple eye of the mover (spec: GoNN 5.2; for
    argmax it is ours)."""

    kind: Literal["biased", "argmax", "sampled"] = "biased"
    """biased: GoNN's, sharper as the game proceeds (spec: GoNN 5.4); argmax: the likeliest candidate (spec: other
    systems 2.7, 4.7); sampled: by the probabilities among candidates (ours)."""
    history: Literal["full", "last", "none"] = "full"
    """Earlier moves that the net is shown, in whatever planes it has for them: last moves, past boards. `last` is
    how GoNN's published games were played (spec: GoNN 0.7). A net without such planes (Clark & Storkey's) has `full`
    alone."""
    symmetries: Literal[1, 8] = 1
    """8: logits averaged over the symmetries of the position (spec: other systems 1.7)."""
    passing: Literal["pass_alive", "after_pass", "no_candidates", "guard"] = "pass_alive"
    """When it passes: without a candidate (no_candidates; spec: GoNN 5.3), which all do, and after_pass also after a
    pass (spec: other systems 2.7), guard when GNU Go would (spec: other systems 1.7). By pass_alive points in
    somebody's unconditionally alive region are no candidates, and the policy is that of the other points (ours)."""


def choose(
    choice: MoveChoice, logits: np.ndarray, candidates: np.ndarray, moves: np.ndarray, draws: np.ndarray
) -> np.ndarray:
    """(B,) int64 points chosen from logits (B, 361) among candidates (B, 361) bool, of which each position has one.

    moves (B,): moves played so far; draws (B,) in [0, 1). Among equally likely points the lowest comes first.
    """
    if choice.kind == "argmax":
        return np.where(candidates, logits, -np.inf).argmax(1)
    logits = np.ascontiguousarray(logits, np.float32)
    if choice.kind == "sampled":
        logits = np.where(candidates, logits, np.float32(-np.inf))
        exponents = np.ones(len(logits))
    else:
        exponents = bias(moves)
    chosen = np.empty(len(logits), np.int64)
    choose_biased(logits, candidates, exponents, np.ascontiguousarray(draws, np.float64), chosen)
    return chosen


def bias(moves: np.ndarray) -> np.ndarray:
    """(B,) float64: beta of Beta(1, beta) after so many moves: 1 for the first 20, then rising (spec: GoNN 5.4)."""
    return 1.0 + np.sqrt(np.maximum(0, np.asarray(moves, np.float64) - _UNBIASED_MOVES))


class NetPlayer:
    """A net in inference mode on the CPU with the planes that it knows and a way to choose.

    `moves` passes by the choice's rule; with the rule `guard` it passes only without candidates, and the guard is asked
    by who plays.
    """

    def __init__(
        self, net: torch.nn.Module, features: FeatureConfig, choice: MoveChoice | None = None, chunk: int = CHUNK
    ):
        """choice: None is the default one. Raises SettingError for a choice of history where the net sees no earlier
        moves."""
        choice = choice or MoveChoice()
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

    def policies(self, games: Sequence[Game]) -> np.ndarray:
        """(N, 361) float64 probabilities of the points for each game's side to move, all points included."""
        logits = self.table_logits(*_gathered(games)).astype(np.float64)
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
    def table_logits(self, table: GameTable, which: np.ndarray) -> np.ndarray:
        """(N, 361) float32 logits of the present positions of the games `which` of a table. Raises NotFinite."""
        if self._features.ladders:
            add_ladders(table, which, self._work)
        source, rows = plane_rows(table), present_rows(table, which)
        out = np.empty((len(rows), POINTS), np.float32)
        for first in range(0, len(rows), self._chunk):
            chunk = np.resize(rows[first : first + self._chunk], self._chunk)
            logits = self._turned_back(source, chunk, 0)
            for symmetry in range(1, self.choice.symmetries):
                logits = logits + self._turned_back(source, chunk, symmetry)
            count = min(self._chunk, len(rows) - first)
            out[first : first + count] = (logits / self.choice.symmetries)[:count].float().numpy()
        if not np.isfinite(out).all():
            raise NotFinite("the net's logits are not finite numbers: its training has diverged")
        return out

    def _turned_back(self, source: PlaneSource, rows: np.ndarray, symmetry: int) -> torch.Tensor:
        """(N, 361) logits of rows that the net sees under a symmetry, by the points as they are recorded."""
        planes, targets = np.empty((len(rows), self._computed, SIZE, SIZE), np.float32), np.empty(len(rows), np.int64)
        symmetries = np.full(len(rows), symmetry, np.uint8)
        keep = np.full(len(rows), MOVES_SHOWN[self.choice.history], np.uint8)
        make_planes(self._features, source, rows, symmetries, keep, planes, targets)
        shown = torch.from_numpy(planes)
        shown = shown if len(self._selected) == self._computed else shown[:, self._selected]
        return turned_back(self._net(shown), symmetry)


def _gathered(games: Sequence[Game]) -> tuple[GameTable, np.ndarray]:
    """Games in one table."""
    if len(games) == 1:
        return games[0].table, np.array([games[0].place])
    table = make_table(len(games), max(map(len, games)))
    for place, game in enumerate(games):
        copy_game(game.table, game.place, table, place)
    return table, np.arange(len(games))
