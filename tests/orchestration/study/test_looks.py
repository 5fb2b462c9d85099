"""Studies with looks, run by hand over made-up trials: who stops, who goes on, what is said."""

import pytest

from ablations.study import Looks, seeded
from gonn_core.trial.job import Job, RunSettings
from orchestration.study.looks import LookedAt
from reports.results.compare import analyse_study
from reports.results.decisions import load_results, trials_due
from reports.study.report import look_words
from reports.workspace import Workspace
from tests.reports.made_studies import finish_trial, plan_study
from tests.trial.events import event

SHOWN, SMALL = "parametric_relu", "stem_kernel_5x5"


def made_study(folder, futility=None, **settings):
    looks = Looks(seeds=(3, 6, 9), futility=futility)
    return plan_study(folder, SHOWN, SMALL, seeds=tuple(range(1, 10)), looks=looks, **settings)


class Command:
    """One `gonn ablate` of a study whose trials are done as soon as they are handed out."""

    def __init__(self, made, effects, trials=None):
        self.made, self.effects, self.said, self.trained = made, effects, [], []
        study = made.study
        run = RunSettings(runs=str(made.runs), store="", device="cpu")
        jobs = [Job(config=seeded(study.arm(t.arm).config, t.seed), run=run) for t in study.trials]
        self.looked = LookedAt(Workspace(made.folder), study, jobs, self.said.append)
        refs = {trial.trial: trial for trial in study.trials}
        for job in self.looked.jobs(lambda jobs: None):
            if trials is not None and len(self.trained) == trials:
                return  # killed
            if job is None:
                pytest.fail("waits though nothing is at work")
            trial = refs[job.id]
            finish_trial(made, trial, effects.get(trial.arm, 0.0))
            self.trained.append((trial.arm, trial.seed))
            self.looked(event("finished", job.id, 1, 1))

    def seeds(self, arm):
        return sorted(seed for each, seed in self.trained if each == arm)


def results_of(made):
    return load_results(made.study, made.runs, made.study_folder)


def arm_of(made, card):
    contrast = next(each for each in made.study.contrasts if each.card == card)
    return next(arm for arm in (*contrast.with_it, *contrast.without) if arm != made.study.arms[0].id)


@pytest.fixture
def made(tmp_path):
    return made_study(tmp_path)


def test_a_card_that_is_shown_stops_and_the_other_goes_on_with_the_control(made):
    effects = {arm_of(made, SHOWN): 0.2}
    command = Command(made, effects)
    assert command.seeds(arm_of(made, SHOWN)) == [1, 2, 3]
    assert command.seeds(arm_of(made, SMALL)) == command.seeds(made.study.arms[0].id) == list(range(1, 10))
    assert len(command.said) == 3 and command.said[0].startswith(f"look at 3 seeds: {SHOWN} shown (q ")
    assert f", {SMALL} continues (q " in command.said[0] and SHOWN not in command.said[1]
    results = results_of(made)
    assert not results.unfinished and len(results.trials) == 21
    analysis = analyse_study(results, "nats")
    assert [effect.runs for effect in analysis.effects.values()] == [(9, 3), (9, 9)]
    assert [str(verdict) for verdict in analysis.verdicts.values()] == ["helps", "not shown"]
    again = Command(made, effects)
    assert again.trained == [] and again.said == command.said  # why nothing more is trained


def test_an_interrupted_study_goes_on_where_it_was(tmp_path):
    whole, broken = made_study(tmp_path / "a"), made_study(tmp_path / "b")
    effects = {arm_of(whole, SHOWN): 0.2}
    at_once = Command(whole, effects)
    first = Command(broken, effects, trials=12)  # in the middle of the second look
    assert len(first.said) == 1 and len(results_of(broken).unfinished) == 3
    assert [effect.runs for effect in analyse_study(results_of(broken), "nats").effects.values()] == [(5, 3), (5, 4)]
    second = Command(broken, effects)
    assert first.trained + second.trained == at_once.trained and second.said == at_once.said
    assert results_of(broken).looks == results_of(whole).looks


def test_a_card_that_is_small_enough_stops_too(tmp_path):
    made = made_study(tmp_path, futility=0.05)
    command = Command(made, {arm_of(made, SHOWN): 0.2})
    assert len(command.trained) == 9 and f"{SMALL} futile (q " in command.said[0]
    needed = tuple(trial for trial in made.study.trials if trial.seed <= 3)
    assert trials_due(made.study, made.runs) == needed


def test_a_look_is_not_taken_while_a_trial_of_it_failed(made):
    study, run = made.study, RunSettings(runs=str(made.runs), store="", device="cpu")
    jobs = [Job(config=seeded(study.arm(t.arm).config, t.seed), run=run) for t in study.trials]
    said = []
    looked = LookedAt(Workspace(made.folder), study, jobs, said.append)
    asked = looked.jobs(lambda jobs: None)
    handed = [next(asked) for _ in range(9)]
    assert [next(asked), next(asked)] == [None, None]  # all nine are at work
    for job in handed:
        looked(event("failed" if job is handed[4] else "finished", job.id, 1, 1))
    assert list(asked) == [] and said == []


def test_the_report_says_at_which_look_each_card_was_decided(made):
    Command(made, {arm_of(made, SHOWN): 0.2})
    results = results_of(made)
    assert [look_words(results, card) for card in (SHOWN, SMALL)] == [
        "decided at look 1 of 3",
        "decided at look 3 of 3",
    ]
