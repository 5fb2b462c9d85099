"""A study that goes on from one that was complete with fewer seeds counts the look that was taken."""

import json

import pytest

from ablations.study import Looks, study_id
from orchestration.study.folder import state_of
from orchestration.study.looks import earlier_study, planned_looks, with_looks
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.stats.looks import planned_level, repeated_p
from reports.study.report import looks_line
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


@pytest.fixture
def four(tmp_path):
    made = plan_study(tmp_path, CARD, seeds=(1, 2, 3, 4))
    shown(made)
    return made


def test_more_seeds_after_a_complete_study_are_a_second_look(four, tmp_path):
    study = unwritten(tmp_path, seeds=tuple(range(1, 9))).study
    grown = with_looks(study, (), None, Workspace(tmp_path), identify(study))
    assert grown.looks == Looks(seeds=(4, 8), spent=1) and grown.id != study.id
    assert "4 (taken before) and 8 seeds: an effect is shown where its q is at most 0.05 (p below " in looks_line(grown)
    assert f"{planned_level((4, 8), 0.05):.4f} at any look" in looks_line(grown)


def test_p_is_that_of_both_looks(tmp_path):
    """Of which the earlier one, by the same trials, counts with the p that it had."""
    few, alone = (plan_study(tmp_path / name, CARD, seeds=tuple(range(1, n + 1))) for name, n in (("a", 4), ("b", 8)))
    both = plan_study(tmp_path / "c", CARD, seeds=tuple(range(1, 9)), looks=Looks(seeds=(4, 8), spent=1))
    for made in (few, alone, both):
        train(made, {"without-parametric_relu": 0.004})
    effects = [analyse_study(load_results(made.study, made.runs), "nats").effects[CARD] for made in (few, alone, both)]
    assert effects[2].delta == effects[1].delta and effects[2].interval95 == effects[1].interval95
    assert effects[2].p == repeated_p((4, 8), [effects[0].p, effects[1].p]) > min(each.p for each in effects[:2]) > 0


def test_looks_may_be_planned_after_one_that_was_taken(four, tmp_path):
    study = unwritten(tmp_path, seeds=tuple(range(1, 13))).study
    looks = with_looks(study, (4, 8, 12), None, Workspace(tmp_path), identify(study)).looks
    assert looks == Looks(seeds=(4, 8, 12), spent=1) and looks.to_come == (8, 12)


def test_looks_that_were_planned_and_taken_are_kept(tmp_path):
    earlier = plan_study(tmp_path, CARD, seeds=tuple(range(1, 7)), looks=Looks(seeds=(3, 6))).study
    assert planned_looks((), 9, None, earlier) == Looks(seeds=(3, 6, 9), spent=2)
    assert planned_looks((), 9, None) is None and planned_looks((4, 9), 9, None) == Looks(seeds=(4, 9))


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
    assert with_looks(made.study, (), None, workspace, identify(made.study)) == made.study


def test_a_study_whose_arms_stopped_early_is_complete_with_what_it_needed(tmp_path):
    study = unwritten(tmp_path, seeds=tuple(range(1, 13))).study
    made = plan_study(tmp_path, CARD, seeds=tuple(range(1, 9)), looks=Looks(seeds=(4, 8)))
    needed = [trial.trial for trial in made.study.trials if trial.seed <= 4]
    (made.study_folder / "looks.json").write_text(json.dumps({state_of(needed): "ablate"}))
    train(made, {"without-parametric_relu": 0.2}, skip={(arm.id, s) for arm in made.study.arms for s in range(5, 9)})
    assert earlier_study(study, Workspace(tmp_path)) == made.study


def test_a_study_that_was_written_down_once_keeps_its_looks(four, tmp_path):
    study = plan_study(tmp_path, CARD, seeds=tuple(range(1, 9))).study
    assert with_looks(study, (), None, Workspace(tmp_path), identify(study)) == study
