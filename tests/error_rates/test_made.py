"""The made trials are as noisy as they say, share what they say, and know nothing of what judges them."""

import ast

import numpy as np
import pytest

from tests.error_rates.made import (
    ARM_BY_GAMES,
    RUN_BY_GAMES,
    TRAINING,
    Noise,
    first_seeds,
    make_arms,
)
from tests.paths import ROOT


def test_made_trials_use_of_the_project_only_what_the_analysis_reads():
    tree = ast.parse((ROOT / "tests/error_rates/made.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name if isinstance(node, ast.Import) else node.module for node in imports for alias in node.names}
    assert names == {"collections.abc", "dataclasses", "typing", "numpy", "reports.stats.clusters"}
    assert [a.name for n in imports if getattr(n, "module", "") == "reports.stats.clusters" for a in n.names] == [
        "ArmResult"
    ]


PLAIN = Noise()


def means(seeds, noise=PLAIN, tables=600, truths=(0.0, 0.0)):
    """(tables, arms, seeds) mean losses."""
    generator = np.random.default_rng(0)
    arms = {f"arm {number}": truth for number, truth in enumerate(truths)}
    return np.array([[arm.means for arm in make_arms(generator, arms, seeds, noise).values()] for _ in range(tables)])


def test_a_run_has_the_measured_standard_deviation():
    noise = Noise(arm_by_games=0.0)
    spread = np.sqrt(means(4, noise).var(axis=2, ddof=1).mean())
    assert spread == pytest.approx(np.hypot(TRAINING, RUN_BY_GAMES), rel=0.05) == pytest.approx(0.0127, rel=0.05)


def test_arms_share_a_part_of_the_training_noise_and_games_favour_an_arm_with_every_seed():
    made = means(4, Noise(shared=0.5))
    across = made - made.mean(2, keepdims=True)
    shared = (across[:, 0] * across[:, 1]).sum(1).mean() / 3
    assert shared == pytest.approx(0.5 * TRAINING**2, rel=0.15)
    many = means(2, Noise(training=0.0, run_by_games=0.0))
    assert many[:, 0, 0] == pytest.approx(many[:, 0, 1])
    assert (many[:, 1] - many[:, 0]).std() == pytest.approx(2**0.5 * ARM_BY_GAMES, rel=0.1)


@pytest.mark.parametrize("shape", ["normal", "t3", "exponential"])
def test_every_shape_has_mean_0_and_the_same_spread(shape):
    made = means(8, Noise(shape=shape, shared=0.0), tables=1500)
    assert np.diff(made.mean((0, 2)))[0] == pytest.approx(0.0, abs=5e-4)
    assert np.sqrt(made.var(axis=2, ddof=1).mean()) == pytest.approx(0.0127, rel=0.15)


def test_truths_and_noise_are_those_of_each_arm():
    made = means(4, Noise(scale={"arm 1": 3.0}), truths=(0.0, -0.05))
    assert np.diff(made.mean((0, 2)))[0] == pytest.approx(-0.05, abs=0.003)
    quiet, loud = np.sqrt(made.var(axis=2, ddof=1).mean(0))
    assert loud / quiet == pytest.approx(3.0, rel=0.1)


def test_seeds_may_be_given_by_arm_and_the_first_be_taken():
    generator = np.random.default_rng(0)
    arms = make_arms(generator, {"a": 0.0, "b": 0.0}, {"a": (1, 2, 3), "b": (2,)}, Noise(games=5))
    assert arms["a"].seeds == (1, 2, 3) and arms["b"].seeds == (2,) and arms["b"].sums.shape == (1, 5)
    few = first_seeds(arms, 2)
    assert few["a"].seeds == (1, 2) and np.array_equal(few["a"].sums, arms["a"].sums[:2])
