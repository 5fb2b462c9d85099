"""A study that goes on from one that was complete with fewer seeds pays for the look that was taken."""

import json

import pytest

from ablations.study import Looks, study_id
from orchestration.looks.asked import AskedSeeds
from orchestration.looks.levels import earlier_study, planned_looks, state_of, with_looks
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.stats.looks import later_level, planned_levels
from reports.study.looks import cost_of_looks
from reports.workspace import Workspace
from tests.reports.made_studies import plan_study, train

CARD = "parametric_relu"


def shown(made):
    """Somebody was shown all results of a study."""
    state = state_of([trial.trial for trial in made.study.trials])
    (made.study_folder / "looks.json").write_text(json.dumps({state: "ablate"}))


def unwritten(folder, **settings):
    """A study as it is planned, not written down."""
    made = plan_study(folder, CARD, **settings)
    (made.study_folder / "study.json").unlink()
    return made


def identify(study):
    return lambda looks: study_id(
        study.cards, study.base, study.budget, study.data, study.design,
        [trial.trial for trial in study.trials], study.thresholds, study.evaluations, looks,
    )  # fmt: skip


def asked(count, looks=()):
    return AskedSeeds(tuple(range(1, count + 1)), looks)


@pytest.fixture
def four(tmp_path):
    made = plan_study(tmp_path, CARD, seeds=(1, 2, 3, 4))
    shown(made)
    return made


def test_more_seeds_after_a_complete_study_need_a_smaller_p(four, tmp_path):
    study = unwritten(tmp_path, seeds=tuple(range(1, 9))).study
    grown = with_looks(study, asked(8), Workspace(tmp_path), identify(study))
    level = later_level((4,), (0.05,), 8, 0.05)
    assert grown.looks == Looks(seeds=(4, 8), levels=(0.05, level), spent=1) and grown.id != study.id
    assert cost_of_looks(grown) == (
        f"Results were looked at before with 4 seeds, without a plan: an adjusted p below {level:g} at 8 seeds is "
        f"needed; it would have been {planned_levels((4, 8), 0.05)[0]:g} with all of these looks planned."
    )
    made = plan_study(tmp_path / "grown", CARD, seeds=tuple(range(1, 9)), looks=grown.looks)
    train(made, {})
    table = analyse_study(load_results(made.study, made.runs, made.study_folder), "nats").table
    assert [(effect.n, effect.level) for effect in table.effects.values()] == [(8, level)]


def test_looks_may_be_planned_after_one_that_was_not(four, tmp_path):
    study = unwritten(tmp_path, seeds=tuple(range(1, 13))).study
    looks = with_looks(study, asked(12, (4, 8, 12)), Workspace(tmp_path), identify(study)).looks
    assert (looks.seeds, looks.spent, looks.to_come) == ((4, 8, 12), 1, (8, 12)) and len(set(looks.levels)) == 3


def test_looks_that_were_planned_and_taken_are_kept(tmp_path):
    before = Looks(seeds=(3, 6), levels=planned_levels((3, 6), 0.05))
    earlier = plan_study(tmp_path, CARD, seeds=tuple(range(1, 7)), looks=before).study
    grown = planned_looks(earlier, asked(9), earlier)
    assert grown.seeds == (3, 6, 9) and grown.levels[:2] == before.levels and grown.spent == 2


def test_what_was_never_shown_or_is_another_study_costs_nothing(tmp_path):
    workspace = Workspace(tmp_path)
    study = unwritten(tmp_path, seeds=tuple(range(1, 9))).study
    assert earlier_study(study, workspace) is None
    made = plan_study(tmp_path, CARD, seeds=(1, 2, 3, 4))
    assert earlier_study(study, workspace) is None  # not shown
    shown(made)
    assert earlier_study(study, workspace) == made.study
    assert earlier_study(study.model_copy(update={"seeds": (2, 3, 4, 5, 6)}), workspace) is None
    assert earlier_study(study.model_copy(update={"data": "other"}), workspace) is None
    assert with_looks(made.study, asked(4), workspace, identify(made.study)) == made.study


def test_a_study_that_was_written_down_once_keeps_its_looks(four, tmp_path):
    study = plan_study(tmp_path, CARD, seeds=tuple(range(1, 9))).study
    assert with_looks(study, asked(8), Workspace(tmp_path), identify(study)) == study
