"""What a plan says of looks."""

from ablations.study import Looks
from reports.stats.looks import planned_level
from reports.study.footnotes import looks_line
from tests.reports.made_studies import plan_study


def test_a_plan_names_looks_levels_and_futility(tmp_path):
    looks = Looks(seeds=(4, 8, 10), futility=0.02)
    study = plan_study(tmp_path, "parametric_relu", seeds=tuple(range(1, 11)), looks=looks).study
    line = looks_line(study)
    assert line.startswith("looks at 4, 8 and 10 seeds: ") and "its arm stops" in line and "±0.02 nats" in line
    assert f"{planned_level((4, 8, 10), 0.05):.4f}" in line
    last = study.model_copy(update={"looks": Looks(seeds=(4, 10), spent=1)})
    assert looks_line(last).startswith("looks at 4 (taken before) and 10 seeds: ") and "stops" not in looks_line(last)
    assert looks_line(study.model_copy(update={"looks": None})) is None
