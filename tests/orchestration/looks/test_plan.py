"""What a plan says of looks."""

import pytest

from ablations.study import Looks
from orchestration.looks.plan import looks_lines
from reports.results.seed_pool import PriorNoise
from reports.stats.looks import planned_levels
from reports.stats.seed_noise import Differences
from tests.reports.made_studies import plan_study


@pytest.fixture
def study(tmp_path):
    looks = Looks(seeds=(4, 8, 10), levels=planned_levels((4, 8, 10), 0.05), futility=0.02)
    return plan_study(tmp_path, "parametric_relu", seeds=tuple(range(1, 11)), looks=looks).study


def test_looks_and_the_seeds_that_an_arm_takes(study):
    by_seed = {seed: 0.0178 * (-1) ** seed for seed in range(8)}
    prior = PriorNoise({"a of b": Differences(by_seed, {"t": 1.0, "c": -1.0})}, 1e-6, ("b",))
    told = list(looks_lines(study, prior))
    level = study.looks.levels[0]
    assert told[0] == f"looks at 4, 8 and 10 seeds: an arm stops where its adjusted p is below {level:g} at each"
    assert told[1] == "an arm also stops where its 90 % interval lies within ±0.02 nats"
    assert told[2].startswith("seeds that an arm takes on average, by its effect in nats: ") and len(told) == 3
    means = [float(part.split(" at ")[0].split()[-1]) for part in told[2].split(": ", 1)[1].split("), ")]
    assert len(means) == 4 and all(4 <= mean <= 10 for mean in means) and means[3] == min(means)


def test_without_any_noise_measured_it_is_not_known(study):
    assert list(looks_lines(study, PriorNoise({}, None, ())))[-1].startswith("seeds that an arm takes: unknown")


def test_a_study_without_looks_has_nothing_to_tell(study):
    assert list(looks_lines(study.model_copy(update={"looks": None}), PriorNoise({}, None, ()))) == []
