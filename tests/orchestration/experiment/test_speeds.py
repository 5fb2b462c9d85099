"""Speeds of nets: measured in turns, and cached for a machine and day."""

from types import SimpleNamespace

import pytest

from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import with_values
from gonn_core.trial.job import EvaluationRequest, RunSettings
from orchestration.experiment import speeds
from orchestration.experiment.speeds import (
    EVALUATION_SHARE,
    TURNS,
    TimeEstimate,
    estimate,
    net_key,
    speeds_of,
    today_file,
)
from reports.workspace import Workspace

REGISTRY = load_registry()
NET = budget_config(REGISTRY.base("gonn-b5"), REGISTRY.budget("smoke"), 5120)
RELU, WIDE, DEEP = (
    with_values(NET, {path: value})
    for path, value in (("net.activation", "relu"), ("net.trunk.width", 32), ("net.trunk.blocks", 3))
)


@pytest.fixture
def machine(monkeypatch):
    """A machine of a pace that changes while it measures: `pace(turn)`; what was measured, net by net."""
    measured, rates = [], {net_key(NET): 800.0, net_key(RELU): 1000.0, net_key(WIDE): 400.0, net_key(DEEP): 600.0}

    def one_speed(config, device, seconds, compile):
        key = net_key(config, compile)
        measured.append(key)
        pace = machine.pace * (1 + 0.1 * (len(measured) % 3 == 0))
        return pace * rates[key] / 2, pace * rates[key]

    monkeypatch.setattr(speeds, "one_speed", one_speed)
    machine = type("Machine", (), {"pace": 1.0, "measured": measured})
    return machine


def say(line: str) -> None:
    """Nobody listens."""


def test_what_a_step_does_not_take_longer_for_makes_no_other_net():
    values = {"training.samples": 9_600, "training.init_seed": 7, "training.optimiser.learning_rate": 0.05}
    assert net_key(with_values(NET, values)) == net_key(NET)
    assert len({net_key(config) for config in (NET, RELU, WIDE, DEEP)}) == 4
    assert net_key(with_values(NET, {"training.batch_size": 64})) != net_key(NET)


def test_nets_take_turns_and_are_measured_once_a_day(tmp_path, machine):
    workspace = Workspace(tmp_path)
    found = speeds_of(workspace, {"control": NET, "relu": RELU}, "cpu", say)
    assert machine.measured == [net_key(NET), net_key(RELU)] * TURNS
    assert found["control"]["samples_per_s"] == 800.0 and found["relu"]["samples_per_s"] == 1000.0  # of CPU time
    again = speeds_of(workspace, {"other name": RELU, "control": NET}, "cpu", say)
    assert again == {"other name": found["relu"], "control": found["control"]}
    assert len(machine.measured) == 2 * TURNS


def test_turns_are_short_where_trials_are(tmp_path, monkeypatch):
    """Trials of 8 and of 30 seconds, and of hours; the first turn knows nothing yet."""
    turns: dict[int, list[float]] = {}

    def one_speed(config, device, seconds, compile):
        turns.setdefault(config.training.samples, []).append(seconds)
        return 100.0, 100.0

    monkeypatch.setattr(speeds, "one_speed", one_speed)
    for samples in (800, 1600, 10**6):
        config = with_values(NET, {"training.samples": samples, "net.trunk.width": 8 * len(turns) + 8})
        speeds_of(Workspace(tmp_path), {"control": config}, "cpu", say)
    assert turns == {
        samples: [0.1, *[later] * (TURNS - 1)] for samples, later in ((800, 0.16), (1600, 0.32), (10**6, 0.5))
    }


def test_a_new_net_is_measured_with_all_nets_of_its_study(tmp_path, machine):
    """So the ratio of two arms is of one session, however slow the machine has become since."""
    workspace = Workspace(tmp_path)
    speeds_of(workspace, {"control": NET, "relu": RELU}, "cpu", say)
    machine.pace = 0.5
    later = speeds_of(workspace, {"control": NET, "wide": WIDE}, "cpu", say)
    assert (later["control"]["samples_per_s"], later["wide"]["samples_per_s"]) == (400.0, 200.0)
    assert later["control"]["session"] == later["wide"]["session"]
    assert machine.measured == [net_key(NET), net_key(RELU)] * TURNS + [net_key(NET), net_key(WIDE)] * TURNS


def test_another_day_or_machine_measures_again(tmp_path, machine, monkeypatch):
    workspace = Workspace(tmp_path)
    speeds_of(workspace, {"control": NET}, "cpu", say)
    here = today_file(workspace, "cpu")
    monkeypatch.setattr(speeds, "machine", lambda: "another one")
    assert today_file(workspace, "cpu") != here != today_file(workspace, "NVIDIA H200")
    here.rename(here.with_name("2026-03-01-x.json"))
    machine.pace = 0.5
    assert speeds_of(workspace, {"control": NET}, "cpu", say)["control"]["samples_per_s"] == 400.0


def test_a_damaged_file_is_measured_again(tmp_path, machine):
    path = today_file(Workspace(tmp_path), "cpu")
    path.parent.mkdir()
    path.write_text("{")
    assert speeds_of(Workspace(tmp_path), {"control": NET}, "cpu", say)["control"]["samples_per_s"] == 800.0


def test_the_time_of_many_arms_follows_from_some_of_them(tmp_path, machine, monkeypatch):
    """Speeds by operations: what is measured of six nets holds for ten."""
    from reports.results.nets import net_cost

    arms = {f"{width}": with_values(NET, {"net.trunk.width": width}) for width in range(16, 96, 8)}
    monkeypatch.setattr(
        speeds, "one_speed", lambda config, *_: (machine.measured.append(1), 1e9 / net_cost(config)[1])[1:] * 2
    )
    trials = [SimpleNamespace(arm=arm) for arm in arms]
    study = SimpleNamespace(arm=lambda name: SimpleNamespace(config=arms[name]))
    settings = RunSettings(runs="", store="", device="cpu", progress_positions=1, progress_points=1)
    found = estimate(study, trials, settings, Workspace(tmp_path), say)
    samples = NET.training.samples + EVALUATION_SHARE * settings.looks
    expected = sum(samples * net_cost(config)[1] / 1e9 for config in arms.values()) / found.slots
    assert found == TimeEstimate(pytest.approx(expected), found.slots) and len(machine.measured) == 6 * TURNS
    tested = EvaluationRequest(split="test", view="0" * 20, minimum_positions=20_000)
    settings = settings.model_copy(update={"evaluations": (tested,)})
    plain = estimate(study, trials[:1], settings, Workspace(tmp_path), say).seconds
    arms["16"] = with_values(arms["16"], {"evaluation.symmetry_averaging": True})
    averaged = estimate(study, trials[:1], settings, Workspace(tmp_path), say).seconds
    assert averaged / plain == pytest.approx(1 + EVALUATION_SHARE * 7 * 20_000 / (samples + EVALUATION_SHARE * 20_000))


def test_many_nets_have_fewer_turns_each(machine, tmp_path, monkeypatch):
    monkeypatch.setattr(speeds, "MOST_TURNS", 9)
    nets = {"relu": RELU, "net": NET, "wide": WIDE, "deep": DEEP}
    entries = speeds.speeds_of(Workspace(tmp_path), nets, "cpu", lambda line: None)
    assert [len(entry["turns"]) for entry in entries.values()] == [2] * 4 and len(machine.measured) == 8
