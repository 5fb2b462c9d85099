"""How a move is chosen from a net's policy."""

from typing import Literal

import numpy as np

from gonn_core.play.kernels import choose_biased
from gonn_core.settings.strict import Strict

PASSING = {"no_candidates": 0, "after_pass": 1, "pass_alive": 2, "guard": 0}
"""Passing rule -> its number in kernels.survey; a guard is asked by who plays."""
MOVES_SHOWN = {"full": 5, "last": 1, "none": 0}
"""History mode -> how many earlier moves a net sees."""
_UNBIASED_MOVES = 20


class Choice(Strict):
    """Part of a player's identity. A candidate is a legal point that is no simple eye of the mover (spec: GoNN 5.2; for
    argmax it is ours)."""

    kind: Literal["biased", "argmax", "sampled"] = "biased"
    """biased: GoNN's, sharper as the game goes on (spec: GoNN 5.4); argmax: the likeliest candidate (spec: other
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
    choice: Choice, logits: np.ndarray, candidates: np.ndarray, moves: np.ndarray, draws: np.ndarray
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
