"""The first look: which studies have one, what it is, and that it goes before the full study and touches nothing of
it."""

import dataclasses

import pytest

from ablations import resolve
from ablations.registry import load_registry
from ablations.request import Request
from ablations.schema import FirstLook
from gonn_core.files.json_files import write_json
from orchestration.experiment import speeds
from orchestration.study import first_look
from orchestration.study.plan import Plan, make_plan, plan_of
from reports.workspace import Workspace
from tests.orchestration.commands import gonn, workspace
from tests.trial.helpers import starter_data

LOOK = FirstLook(samples=640, seeds=3, evaluation_positions=300, progress_positions=64)


@pytest.fixture
def smoke(monkeypatch):
    """The smoke budget has a first look, and every study is long enough for it."""
    registry = load_registry()
    budget = registry.budgets["smoke"].model_copy(update={"first_look": LOOK, "samples": 1280})
    made = dataclasses.replace(registry, budgets={**registry.budgets, "smoke": budget})
    monkeypatch.setattr(resolve, "load_registry", lambda: made)
    monkeypatch.setattr(first_look, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(first_look, "MOST_SHARE", 10.0)
    monkeypatch.setattr(speeds, "one_speed", lambda config, device, seconds, compile: (100.0, 250.0))


@pytest.fixture
def home(tmp_path, monkeypatch, smoke) -> Workspace:
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    return Workspace.here()


def planned(home: Workspace, **settings) -> Plan:
    return make_plan(resolve.resolve_study(Request("parametric_relu", budget="smoke", **settings)), home)


def test_it_is_a_small_study_of_the_same_arms_by_itself(home):
    full = planned(home)
    look = first_look.first_look(full, home, print)
    study = look.plan.study
    assert study.first_look and not full.study.first_look and study.title.endswith("; a first look")
    assert [arm.id for arm in study.arms] == [arm.id for arm in full.study.arms]
    assert {arm.config.training.samples for arm in study.arms} == {640} and study.seeds == (1, 2, 3)
    assert [each.history for each in study.evaluations] == ["full"]
    assert 300 <= study.evaluations[0].positions < full.study.evaluations[0].positions
    assert look.plan.jobs[0].run.progress_positions == 64
    assert not {trial.trial for trial in study.trials} & {trial.trial for trial in full.study.trials}
    assert study.id.startswith("parametric_relu-gonn-b5-smoke-640-starter-")
    rates = [plan.study.arms[0].config.training for plan in (look.plan, full)]
    assert rates[0].schedule == rates[1].schedule, "a linear schedule ends by itself"


@pytest.mark.parametrize(
    "settings",
    [{"seeds": "2"}, {"samples": "960"}, {"first_look": "no"}, {"control_seeds": "6"}, {"design": "factorial"}],
)
def test_who_says_what_is_to_be_trained_gets_that_alone(home, settings):
    assert first_look.first_look(planned(home, **settings), home, print) is None


def test_none_before_a_study_that_is_short_or_under_way_or_of_many_arms(home, monkeypatch):
    full = planned(home)
    begun = home.runs / full.study.trials[1].trial
    write_json(begun / "config.json", {})
    assert full.study.trials[1].arm != "control" and first_look.first_look(full, home, print) is None
    (begun / "config.json").unlink()
    write_json(home.runs / full.study.trials[0].trial / "config.json", {})  # the control serves other studies too
    assert first_look.first_look(full, home, print) is not None
    monkeypatch.setattr(first_look, "LEAST_SECONDS", 3600.0)
    assert first_look.first_look(full, home, print) is None
    monkeypatch.setattr(first_look, "LEAST_SECONDS", 0.0)
    monkeypatch.setattr(first_look, "MOST_SHARE", 0.01)
    assert first_look.first_look(full, home, print) is None
    monkeypatch.setattr(first_look, "MOST_SHARE", 10.0)
    design = resolve.resolve_study(Request("parametric_relu,global_pooling_head,ladder_input", budget="smoke"))
    many = plan_of(design, full.prepared, home)
    assert first_look.first_look(many, home, print) is None


@pytest.mark.system
def test_its_verdict_comes_first_and_the_full_study_goes_on(tmp_path, smoke):
    """The same command again trains nothing; the pages over everything know the full study alone."""
    home = workspace(tmp_path / "home")
    command = ("ablate", "parametric_relu", "--budget", "smoke", "--runner", "local", "--no-track")
    code, out, err = gonn(home, *command)
    assert code == 0, err
    look, _, full = out.partition("the full study continues with")
    assert "a first look at 640 samples: parametric_relu: Δ" in look and "parametric_relu: Δ" in full
    studies = sorted(path.name for path in (home / "studies").iterdir())
    assert len(studies) == 2 and len(list((home / "runs").iterdir())) == 10
    stamps = {path: path.stat().st_mtime_ns for path in (home / "runs").glob("*/result.json")}
    code, again, err = gonn(home, *command)
    assert code == 0 and "a first look" not in again, "the study is complete: there is nothing to look at first"
    assert stamps == {path: path.stat().st_mtime_ns for path in (home / "runs").glob("*/result.json")}
    code, out, err = gonn(home, "report")
    index = (home / "out" / "report" / "index.md").read_text(encoding="utf-8")
    assert code == 0 and "smoke-640" not in index
