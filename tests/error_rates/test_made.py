"""The made runs are as noisy as they say, share what they say, and know nothing of what judges them."""

import ast

import numpy as np
import pytest

from tests.error_rates.made import ARM_BY_GAMES, PLAIN, RUN_BY_GAMES, TRAINING, Noise, add_one, make_runs, screen
from tests.paths import ROOT


def test_made_runs_use_nothing_of_the_project():
    tree = ast.parse((ROOT / "tests/error_rates/made.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name if isinstance(node, ast.Import) else node.module for node in imports for alias in node.names}
    assert names == {"collections.abc", "dataclasses", "typing", "numpy"}


def means(seeds, noise=PLAIN, tables=300, truths=(0.0,)):
    """(tables, arms, seeds) mean losses of the base and of levels alone."""
    generator, arms = np.random.default_rng(0), add_one(len(truths), seeds)
    made = (make_runs(generator, arms, truths, noise) for _ in range(tables))
    return np.array([(each.sums.sum(1) / each.lengths.sum()).reshape(len(arms), seeds) for each in made])


def test_a_run_has_the_measured_standard_deviation():
    spread = np.sqrt(means(4, Noise(arm_by_games=0.0)).var(axis=2, ddof=1).mean())
    assert spread == pytest.approx(np.hypot(TRAINING, RUN_BY_GAMES), rel=0.06) == pytest.approx(0.0127, rel=0.06)


def test_arms_share_a_part_of_the_training_noise_and_games_favour_an_arm_with_every_seed():
    made = means(4, Noise(shared=0.5))
    across = made - made.mean(2, keepdims=True)
    assert (across[:, 0] * across[:, 1]).sum(1).mean() / 3 == pytest.approx(0.5 * TRAINING**2, rel=0.2)
    many = means(2, Noise(training=0.0, run_by_games=0.0))
    assert many[:, 0, 0] == pytest.approx(many[:, 0, 1])
    assert (many[:, 1] - many[:, 0]).std() == pytest.approx(2**0.5 * ARM_BY_GAMES, rel=0.12)


def test_pairs_add_to_the_runs_that_have_both_and_missing_runs_are_missing():
    quiet = {"training": 0.0, "run_by_games": 0.0, "arm_by_games": 0.0}
    arms, pairs = screen(4, 8, 2), np.zeros((4, 4))
    pairs[0, 2] = 0.5
    made = make_runs(np.random.default_rng(1), arms, [0.1, 0.0, 0.0, 0.2], Noise(**quiet), pairs)
    level = made.sums.sum(1) / made.lengths.sum()
    true = made.changes @ [0.1, 0.0, 0.0, 0.2] + 0.5 * made.changes[:, 0] * made.changes[:, 2]
    assert level - level[0] == pytest.approx(true - true[0]) and np.ptp(true) > 0.5
    assert made.seeds.tolist() == [0, 1] * 8 and len(set(map(tuple, made.changes))) == 8
    lost = make_runs(np.random.default_rng(1), add_one(50, 20), np.zeros(50), Noise(lost=0.1, games=2))
    assert 0.07 < 1 - len(lost.seeds) / (51 * 20) < 0.13
