"""What a plan says of looks."""

import pytest

from ablations.study import Looks
from orchestration.study.looks import looks_lines
from reports.results.planning import KnownNoise
from reports.stats.looks import planned_level
from reports.stats.model import RunNoise
from tests.reports.made_studies import plan_study

KNOWN = KnownNoise(RunNoise(0.0126, 7.0), 1e-6, 16, ("a",))


@pytest.fixture
def study(tmp_path):
    looks = Looks(seeds=(4, 8, 10), futility=0.02)
    return plan_study(tmp_path, "parametric_relu", seeds=tuple(range(1, 11)), looks=looks).study


def means(line):
    return [float(part.split(" at ")[0].split()[-1]) for part in line.split(": ", 1)[1].split("), ")]


def test_looks_and_the_seeds_that_an_arm_takes(study):
    looks, seeds = looks_lines(study, KNOWN)
    assert looks == (
        "looks at 4, 8 and 10 seeds: an effect is shown, and its arm stops, where its q is at most 0.05 (p below "
        f"{planned_level((4, 8, 10), 0.05):.4f} at any look, for a single effect); its arm also stops where its 90 % "
        "interval lies within ±0.02 nats"
    )
    assert seeds.startswith("seeds that an arm takes on average, by its effect in nats: ")
    assert len(means(seeds)) == 4 and all(4 <= mean <= 10 for mean in means(seeds)) and means(seeds)[3] < 6


def test_no_arm_stops_before_the_first_look_that_is_to_come(study):
    grown = study.model_copy(update={"looks": study.looks.model_copy(update={"spent": 1, "futility": None})})
    looks, seeds = looks_lines(grown, KNOWN)
    assert looks.startswith("looks at 4 (taken before), 8 and 10 seeds: an effect is shown, and its arm stops, where")
    assert all(8 <= mean <= 10 for mean in means(seeds)) and means(seeds)[3] < 8.1
    last = study.model_copy(update={"looks": Looks(seeds=(4, 10), spent=1)})
    (only,) = looks_lines(last, KNOWN)
    assert only.startswith("looks at 4 (taken before) and 10 seeds: an effect is shown where its q is at most 0.05 (p ")


def test_without_any_noise_measured_it_is_not_known(study):
    assert list(looks_lines(study, None))[-1].startswith("seeds that an arm takes: unknown")


def test_a_study_without_looks_has_nothing_to_say(study):
    assert list(looks_lines(study.model_copy(update={"looks": None}), KNOWN)) == []
