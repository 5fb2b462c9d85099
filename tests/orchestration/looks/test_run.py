"""Studies with looks, run by hand over made-up trials: who stops, who goes on, what is said, what stands."""

import json

import pytest

from ablations.study import Looks, seeded
from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from gonn_core.trial.job import Job, RunSettings
from orchestration.looks.run import LookedAt
from reports.results.compare import analyse_study
from reports.results.decisions import due_trials, load_results, read_decisions
from reports.stats.looks import planned_levels
from reports.study.report import make_report
from reports.workspace import Workspace
from tests.reports.made_studies import finish_trial, plan_study
from tests.trial.events import event

SHOWN, SMALL = "parametric_relu", "stem_kernel_5x5"
LEVELS = planned_levels((3, 6, 9), 0.05, 2)


def made_study(folder, futility=None, **settings):
    looks = Looks(seeds=(3, 6, 9), levels=LEVELS, futility=futility)
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
    assert len(command.said) == 3 and command.said[0].startswith(
        f"look at 3 seeds, at an adjusted p of {LEVELS[0]:g}: {SHOWN} shown, its arm stops (p "
    )
    results = results_of(made)
    assert not results.unfinished and len(results.trials) == 21
    table = analyse_study(results, "nats").table
    assert [(effect.n, effect.level) for effect in table.effects.values()] == [(3, LEVELS[0]), (9, LEVELS[2])]
    assert [str(verdict) for verdict in table.verdicts.values()] == ["helps", "not shown"]
    assert Command(made, effects).trained == []  # all is there


def test_an_interrupted_study_goes_on_where_it_was(tmp_path):
    whole, broken = made_study(tmp_path / "a"), made_study(tmp_path / "b")
    effects = {arm_of(whole, SHOWN): 0.2}
    at_once = Command(whole, effects)
    first = Command(broken, effects, trials=12)  # in the middle of the second look
    assert len(first.said) == 1 and len(results_of(broken).unfinished) == 3
    assert [effect.n for effect in analyse_study(results_of(broken), "nats").table.effects.values()] == [3, 3]
    second = Command(broken, effects)
    assert first.trained + second.trained == at_once.trained and first.said + second.said == at_once.said
    decisions = [(each.study_folder / "decisions.json").read_text() for each in (whole, broken)]
    assert decisions[0] == decisions[1]


def test_what_was_decided_stands_whatever_is_trained_or_known_later(made):
    arm = arm_of(made, SHOWN)
    Command(made, {arm: 0.2})
    before = analyse_study(results_of(made), "nats")
    for trial in made.study.trials:  # by another study that shares the arm
        if trial.arm == arm and trial.seed > 3:
            finish_trial(made, trial, -0.5)
    assert analyse_study(results_of(made), "nats").table.effects == before.table.effects
    path = made.study_folder / "decisions.json"
    tree = read_json(path)
    tree["looks"][0]["cards"][SHOWN]["p_adjusted"] = 0.01234
    path.write_text(json.dumps(tree))
    assert analyse_study(results_of(made), "nats").table.effects[SHOWN].p_adjusted == 0.01234


def test_a_card_that_is_small_enough_stops_too(tmp_path):
    made = made_study(tmp_path, futility=0.05)
    command = Command(made, {arm_of(made, SHOWN): 0.2})
    assert len(command.trained) == 9 and f"{SMALL} small, its arm stops" in command.said[0]
    assert due_trials(made.study, read_decisions(made.study, made.study_folder)) == tuple(
        trial for trial in made.study.trials if trial.seed <= 3
    )


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
    assert list(asked) == [] and said == [] and not (made.study_folder / "decisions.json").exists()


def test_the_report_says_at_which_look_each_card_was_decided(made):
    Command(made, {arm_of(made, SHOWN): 0.2})
    report = make_report(results_of(made), made.registry)
    assert "(3 seeds, decided at look 1 of 3, " in report.sentences[0]
    assert "(9 seeds, decided at look 3 of 3, " in report.sentences[1]
    assert any(note.startswith("Looks were planned at 3, 6 and 9 seeds") for note in report.notes)


def test_decisions_of_another_study_are_no_decisions(made):
    (made.study_folder / "decisions.json").write_text(
        '{"format": 1, "looks": [{"seeds": 4, "level": 0.1, "cards": {}}]}'
    )
    with pytest.raises(InputError, match="not those of study"):
        results_of(made)
