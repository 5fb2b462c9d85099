"""Move choice: the biased distribution against its closed form, by a fine grid of draws and by Beta-distributed
thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.points import POINTS
from gonn_core.play.net_player import MoveChoice, bias, choose

BIASED = MoveChoice()


def closed_form(logits, candidates, moves: int) -> np.ndarray:
    """(361,) chance of every point: (1 - c before)^beta - (1 - c after)^beta along the candidates, the rest to the last
    (spec: GoNN 5)."""
    p = np.exp(logits.astype(np.float64) - logits.max())
    p /= p.sum()
    order = sorted(np.flatnonzero(candidates).tolist(), key=lambda point: (-p[point], point))
    beta, chances, before = 1 + np.sqrt(max(0, moves - 20)), np.zeros(POINTS), 0.0
    for point in order:
        after = before + p[point]
        chances[point] = max(0.0, 1 - before) ** beta - max(0.0, 1 - after) ** beta
        before = after
    chances[order[-1]] += max(0.0, 1 - before) ** beta
    return chances


def policy(seed: int, sharpness: float, share: float):
    generator = np.random.default_rng(seed)
    candidates = generator.random(POINTS) < share
    candidates[generator.integers(POINTS)] = True
    return (sharpness * generator.normal(size=POINTS)).astype(np.float32), candidates


@settings(max_examples=6)
@given(st.integers(0, 2**32), st.sampled_from([0.5, 2.0, 6.0]), st.sampled_from([0.02, 0.5, 1.0]), st.integers(0, 400))
def test_the_biased_choice_has_its_closed_form(seed, sharpness, share, moves):
    logits, candidates = policy(seed, sharpness, share)
    count = 4000
    draws = (np.arange(count) + 0.5) / count
    chosen = choose(BIASED, np.tile(logits, (count, 1)), np.tile(candidates, (count, 1)), np.full(count, moves), draws)
    shares = np.bincount(chosen, minlength=POINTS) / count
    # The draws that choose a point are an interval: its share is right to within one draw at either end.
    assert np.abs(shares - closed_form(logits, candidates, moves)).max() <= 1.001 / count


def test_the_closed_form_is_that_of_beta_distributed_thresholds():
    logits, candidates = policy(5, 2.0, 0.6)
    generator, moves, count = np.random.default_rng(1), 120, 40_000
    p = np.exp(logits.astype(np.float64))
    p /= p.sum()
    order = sorted(np.flatnonzero(candidates).tolist(), key=lambda point: -p[point])
    sums = np.cumsum(p[order])
    assert bias([0, 20, 50, 120])[-1] == 11 and bias([0, 20]).tolist() == [1, 1]
    picked = np.searchsorted(sums, generator.beta(1, 11, count), side="right").clip(max=len(order) - 1)
    shares = np.bincount(np.array(order)[picked], minlength=POINTS) / count
    expected = closed_form(logits, candidates, moves)
    assert np.abs(shares - expected).max() < 5 * np.sqrt(0.25 / count)


def test_what_lies_outside_the_candidates_keeps_its_probability():
    """p is not renormalised: with little left to the candidates the last of them gets the remainder."""
    logits, candidates = np.zeros((1, POINTS), np.float32), np.zeros((1, POINTS), bool)
    logits[0, 0], candidates[0, [5, 9]] = 10, True
    assert choose(BIASED, logits, candidates, np.array([0]), np.array([0.5])).tolist() == [9]
    assert choose(BIASED, logits, candidates, np.array([0]), np.array([0.0])).tolist() == [5]


def test_argmax_and_sampled():
    logits, candidates = policy(3, 3.0, 0.5)
    moves, draws = np.array([7, 7]), np.array([0.1, 0.9])
    best = max(np.flatnonzero(candidates).tolist(), key=lambda point: logits[point])
    tiled = np.tile(logits, (2, 1)), np.tile(candidates, (2, 1))
    assert choose(MoveChoice(kind="argmax"), *tiled, moves, draws).tolist() == [best, best]
    count = 4000
    tiled = np.tile(logits, (count, 1)), np.tile(candidates, (count, 1))
    chosen = choose(MoveChoice(kind="sampled"), *tiled, np.full(count, 300), (np.arange(count) + 0.5) / count)
    p = np.where(candidates, np.exp(logits.astype(np.float64)), 0)
    assert np.abs(np.bincount(chosen, minlength=POINTS) / count - p / p.sum()).max() <= 1.001 / count


@pytest.mark.parametrize("kind", ["biased", "sampled", "argmax"])
def test_ties_go_to_the_lowest_point_and_minus_infinity_is_no_trouble(kind):
    logits, candidates = np.full((1, POINTS), -np.inf, np.float32), np.zeros((1, POINTS), bool)
    logits[0, [7, 8, 9]], candidates[0, [3, 8, 9]] = 1.0, True
    assert choose(MoveChoice(kind=kind), logits, candidates, np.array([0]), np.array([0.0])).tolist() == [8]
