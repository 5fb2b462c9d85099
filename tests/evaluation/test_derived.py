"""Derived metrics against their definitions, and their spread over games against a bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonn_core.evaluation.metrics import VALUES, Scores, by_move_number, median, over_part, trimmed
from gonn_core.metrics import METRICS


def made(count=2000, seed=0):
    generator = np.random.default_rng(seed)
    nats = generator.gamma(2.0, 1.2, count).astype(np.float32)
    rank = np.minimum(np.floor(np.exp(nats) / 3), 360).astype(np.uint16)
    scores = Scores(nats, rank, *(generator.uniform(0, high, count).astype(np.float32) for high in (5, 2, 1)))
    scores = scores._replace(ply=generator.integers(0, 250, count).astype(np.int16), ko=generator.random(count) < 0.05)
    there = generator.random((count, 2)) < 0.9
    later = (np.where(there, generator.uniform(0, high, (count, 2)), np.nan).astype(np.float32) for high in (6, 2))
    nats, error = later
    ranks = np.where(there, generator.integers(0, 4, (count, 2)), -1).astype(np.int16)
    return scores._replace(later_nats=nats, later_rank=ranks, later_squared_error=error)


def slow(metric, answers):
    """A metric as its definition reads, position by position."""
    positions = range(len(answers.nats))
    p = [float(np.exp(-np.float64(nats))) for nats in answers.nats]
    rank = [int(rank) + 1 for rank in answers.rank]
    losses = sorted(1 / (p[i] + 0.003) for i in positions)
    cut = int(0.05 * len(losses))

    def mean(values):
        values = list(values)
        return sum(values) / len(values)

    def later(name, plane):
        return [float(value) for value in getattr(answers, f"later_{name}")[:, plane - 2]]

    def is_there(plane):
        return [value for value in later("rank", plane) if value >= 0]

    known = {
        **{f"nats_plane{k}": lambda k=k: mean(v for v in later("nats", k) if v == v) for k in (2, 3)},
        **{f"top1_plane{k}": lambda k=k: mean(rank == 0 for rank in is_there(k)) for k in (2, 3)},
        "squared_error_planes": lambda: mean(
            [
                mean(map(float, answers.squared_error)),
                *(mean(v for v in later("squared_error", k) if v == v) for k in (2, 3)),
            ]
        ),
        "nats": lambda: mean(map(float, answers.nats)),
        "rank": lambda: mean(rank),
        "probability": lambda: mean(p),
        "search_loss": lambda: mean(losses),
        "search_loss_trimmed": lambda: mean(losses[cut : len(losses) - cut]),
        "search_loss_median": lambda: (losses[(len(losses) - 1) // 2] + losses[len(losses) // 2]) / 2,
        "search_loss_top10": lambda: mean(1 / (p[i] + 0.003) for i in positions if rank[i] <= 10),
        "top1_ko": lambda: mean(rank[i] == 1 for i in positions if answers.ko[i]),
        "entropy": lambda: mean(map(float, answers.entropy)),
        "squared_error": lambda: mean(map(float, answers.squared_error)),
        "illegal_probability": lambda: mean(map(float, answers.illegal)),
    }
    if metric in known:
        return known[metric]()
    if metric.startswith("top"):
        return mean(rank[i] <= int(metric[3:]) for i in positions)
    return mean(p[i] >= int(metric[1:]) / 100 for i in positions)


@pytest.mark.parametrize("metric", VALUES)
def test_against_the_definition(metric):
    answers = made()
    assert VALUES[metric](answers).mean() == pytest.approx(slow(metric, answers), rel=1e-9)


@given(st.lists(st.floats(-100, 100, allow_nan=False), min_size=1, max_size=60))
def test_linearised_means_are_the_metrics(numbers):
    values = np.array(numbers)
    cut = int(0.05 * len(values))
    assert trimmed(values).mean() == pytest.approx(np.sort(values)[cut : len(values) - cut].mean(), abs=1e-9)
    assert median(values).mean() == pytest.approx(np.median(values), abs=1e-9)
    part = values > values.min()
    if part.any():
        assert over_part(values, part).mean() == pytest.approx(values[part].mean(), abs=1e-9)
    else:
        assert over_part(values, part) is None


@pytest.mark.parametrize(
    "metric",
    ["search_loss_trimmed", "search_loss_median", "search_loss_top10", "top1_ko", "search_loss", "p10", "rank"],
)
def test_spread_over_games_is_that_of_drawing_games_again(metric):
    """The closed form that tables use on a metric's values, and the metric itself computed anew on games drawn with
    replacement."""
    from reports.stats.estimates import evaluation_noise

    answers, generator = made(6000, 3), np.random.default_rng(4)
    games = np.repeat(np.arange(150), 40)
    taste = generator.normal(0, 0.3, 150)
    answers = answers._replace(nats=np.maximum(answers.nats + taste[games], 0.01).astype(np.float32))
    sums = np.bincount(games, VALUES[metric](answers))
    closed = np.sqrt(evaluation_noise(sums[None], np.bincount(games)).total)
    drawn = []
    for _ in range(400):
        chosen = (generator.integers(150, size=150)[:, None] * 40 + np.arange(40)).ravel()
        again = Scores(answers.nats[chosen], answers.rank[chosen], ko=answers.ko[chosen])
        drawn.append(VALUES[metric](again).mean())
    assert closed == pytest.approx(np.std(drawn), rel=0.2)


def test_old_evaluations_lack_what_was_not_stored():
    answers = made(100)
    old = Scores(answers.nats, answers.rank)
    missing = [name for name, values in VALUES.items() if values(old) is None]
    of_planes = {name for name, metric in METRICS.items() if metric.planes > 1}
    assert set(missing) == {"top1_ko", "entropy", "squared_error", "illegal_probability", *of_planes}
    assert by_move_number(old) is None
    assert VALUES["top1_ko"](old._replace(ko=np.zeros(100, bool))) is None  # no position with a ko


def test_by_move_number():
    rank = np.array([0, 0, 1, 0, 5], np.uint16)
    answers = Scores(np.ones(5, np.float32), rank, ply=np.array([0, 19, 20, 39, 60], np.int16))
    assert by_move_number(answers) == [(1, 2, 1.0), (21, 2, 0.5), (61, 1, 0.0)]
