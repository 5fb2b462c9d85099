"""What trial directories say, read back: evaluations of the final weights, unfinished trials, what lies beside the
study file."""

import json

import numpy as np
import pytest

from gonn_core import numerics
from gonn_core.errors import InputError
from gonn_core.nets import cost
from reports.results.decisions import load_results
from reports.stats.estimates import sums_by_game
from tests.reports.made_studies import GAMES, fail_trial, plan_study, train


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """PReLU with 3 seeds; treatment's seed 3 not started, control's seed 2 failed."""
    made = plan_study(tmp_path_factory.mktemp("made"), "parametric_relu", seeds=(1, 2, 3))
    train(made, {}, skip=[("without-parametric_relu", 3), ("control", 2)])
    failed = next(trial for trial in made.study.trials if (trial.arm, trial.seed) == ("control", 2))
    fail_trial(made, failed, "Diverged: loss is nan")
    return made


@pytest.fixture(scope="module")
def results(made):
    return load_results(made.study, made.runs, made.study_folder)


def test_trials_are_carried_as_they_are(results):
    states = {(trial.arm, trial.seed): trial.state for trial in results.trials}
    assert states == {
        ("control", 1): "done",
        ("without-parametric_relu", 1): "done",
        ("control", 2): "failed",
        ("without-parametric_relu", 2): "done",
        ("control", 3): "done",
        ("without-parametric_relu", 3): "new",
    }
    assert [trial.failure for trial in results.trials if trial.state == "failed"] == ["Diverged: loss is nan"]
    assert {(trial.arm, trial.seed) for trial in results.unfinished} == {("control", 2), ("without-parametric_relu", 3)}
    assert sorted(results.evaluated("control", 0)) == [1, 3] and sorted(
        results.evaluated("without-parametric_relu", 2)
    ) == [1, 2]


def test_sums_by_game_are_those_of_the_stored_positions(results):
    arm = results.arm_result("control", 0, "nats")
    stored = results.evaluated("control", 0)[3].evaluations[0]
    sums, counts = sums_by_game(stored.scores.nats.astype(np.float64), stored.games)
    assert arm.seeds == (1, 3) and len(counts) == GAMES
    assert np.allclose(arm.sums[1], sums) and (arm.counts == counts).all()
    assert arm.means[1] == pytest.approx(stored.summary["nats"])
    assert results.arm_result("control", 0, "top1").means[1] == pytest.approx(stored.summary["top1"])
    assert results.arm_result("control", 0, "rank").means[1] == pytest.approx(stored.scores.rank.mean() + 1)


def change_evaluations(folder, **values):
    """Set fields in all evaluation summaries of a trial."""
    for path in (folder / "eval").glob("*.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_only_evaluations_of_the_final_weights_count(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    train(made, {})
    change_evaluations(made.runs / made.study.trials[0].trial, weights="f" * 16)
    assert load_results(made.study, made.runs).evaluated("control", 0) == {}


def test_an_evaluation_of_other_size_than_planned_is_refused(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    train(made, {})
    change_evaluations(made.runs / made.study.trials[0].trial, positions=7)
    with pytest.raises(
        InputError, match="an evaluation of 7 positions of 40 games where the study has 1,958 positions of 40 games"
    ):
        load_results(made.study, made.runs)


def test_a_trial_of_another_net_is_left_out_and_named(tmp_path, monkeypatch):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    train(made, {})
    control = made.study.trials[0].trial
    path = made.runs / control / "config.json"
    tree = json.loads(path.read_text())
    del tree["seal"]
    path.write_text(json.dumps(tree | {"numerics": numerics.versions()}))
    for _ in range(2):  # made trials have one parameter
        results = load_results(made.study, made.runs, cache=tmp_path / "cache")
        trial = next(trial for trial in results.trials if trial.id == control)
        assert (trial.state, trial.result, trial.evaluations[0]) == ("damaged", None, None)
        assert f"{control}: trained with another net" in trial.failure and "(1 parameters, now " in trial.failure
        monkeypatch.setattr(cost, "fingerprint", lambda *parts: pytest.fail("built a net once more"))


def test_speeds_and_looks_lie_beside_the_study(tmp_path):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    (made.study_folder / "speed.json").write_text(
        '{"control": {"samples_per_s": 1000, "device": "cpu", "torch": "2", "load": 0.5}}'
    )
    (made.study_folder / "looks.json").write_text('{"00ff": "report", "00fe": "ablate", "00fd": "report"}')
    results = load_results(made.study, made.runs, made.study_folder)
    assert results.speeds["control"].samples_per_s == 1000 and results.speeds["control"].load == 0.5
    assert results.look_counts == {"ablate": 1, "report": 2}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("speed.json", '{"control": {}}', "no speed of arm control"),
        ("speed.json", '{"control": {"samples_per_s": 0, "device": "cpu"}}', "no speed of arm control"),
        ("looks.json", "3", "holds no mapping"),
    ],
)
def test_damaged_notes_are_named(tmp_path, name, text, message):
    made = plan_study(tmp_path, "parametric_relu", seeds=(1,))
    (made.study_folder / name).write_text(text)
    with pytest.raises(InputError, match=message):
        load_results(made.study, made.runs, made.study_folder)
