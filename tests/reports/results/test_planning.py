"""The noise that finished runs of a base tell: whose count, and what it is good for."""

import math

import pytest

from reports.results.compare import analyse_study
from reports.results.decisions import known_noise, load_results, planned_effect
from reports.results.group import Groups
from tests.reports.made_studies import plan_study, train


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    """Two finished studies that share their control, and one under another budget."""
    folder = tmp_path_factory.mktemp("earlier")
    made = {card: plan_study(folder, card, seeds=(1, 2, 3), results=True) for card in ("parametric_relu", "ko_plane")}
    made["other"] = plan_study(folder, "parametric_relu", seeds=(1, 2, 3), budget="cpu")
    for each in made.values():
        train(each, {})
    return made


def known(made, study):
    return known_noise(made.folder / "studies", made.runs, study)


def test_all_runs_of_the_base_tell_it(workspace, tmp_path):
    made, study = workspace["parametric_relu"], plan_study(tmp_path, "ladder_input", seeds=(1, 2, 3)).study
    found = known(made, study)
    assert found.studies == tuple(sorted(workspace[card].study.id for card in ("ko_plane", "parametric_relu")))
    assert found.runs == 9, "the control once"
    members = [workspace[card] for card in ("parametric_relu", "ko_plane")]
    group = Groups([each.study for each in members], lambda each: load_results(each, made.runs)).of(study)
    analysis = analyse_study(load_results(made.study, made.runs), "nats", group=group)
    assert found.run.run == pytest.approx(analysis.noise.run) and 0.002 < found.run.run < 0.01
    errors = [group.effect(each.study, each.study.contrasts[0], "nats", study.evaluations[0])[0] for each in members]
    assert found.evaluation_variance == pytest.approx(sum(each.se_eval**2 for each in errors) / 2)


def test_a_study_that_has_not_begun_is_planned_from_it(workspace, tmp_path):
    made = workspace["parametric_relu"]
    few, many = (plan_study(tmp_path, "ladder_input", seeds=tuple(range(1, n + 1))).study for n in (3, 12))
    smallest = [planned_effect(study, known(made, study)) for study in (few, many)]
    assert 0 < smallest[1] < smallest[0] < 0.1 and math.isfinite(smallest[0])
    assert planned_effect(few.model_copy(update={"seeds": (1,)}), known(made, few)) is None
    nothing = known_noise(tmp_path / "studies", tmp_path / "runs", few)
    assert nothing is None and planned_effect(few, nothing) is None
