"""What lies beside study.json, when two commands change it at once."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from orchestration.study import folder as study_folder
from orchestration.study.folder import count_look, measure_speeds
from reports.workspace import Workspace

STUDY = SimpleNamespace(id="study", arms=[SimpleNamespace(id="control"), SimpleNamespace(id="with-prelu")])


def test_no_look_is_lost(tmp_path):
    workspace = Workspace(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: count_look(workspace, STUDY, [f"trial {i}"], "report"), range(60)))
    assert count_look(workspace, STUDY, ["trial 3"], "ablate") == {"report": 60}
    assert count_look(workspace, STUDY, [], "ablate") == {"report": 60}


def test_arms_take_turns_and_the_middle_rate_counts(tmp_path, monkeypatch):
    rates, order = {"control": iter([5.0, 9.0, 7.0]), "with-prelu": iter([1.0, 2.0, 30.0])}, []

    def speed(arm, device):
        order.append(arm.id)
        return {"samples_per_s": next(rates[arm.id])}

    monkeypatch.setattr(study_folder, "_speed", speed)
    found = measure_speeds(Workspace(tmp_path), STUDY, "cpu", lambda line: None)
    assert order == ["control", "with-prelu"] * 3
    assert {arm: speed["samples_per_s"] for arm, speed in found.items()} == {"control": 7.0, "with-prelu": 2.0}


def test_an_arm_is_measured_once_and_alone(tmp_path, monkeypatch):
    workspace, measuring, most = Workspace(tmp_path), [], []

    def speed(arm, device):
        measuring.append(arm.id)
        most.append(len(measuring))
        time.sleep(0.05)
        measuring.remove(arm.id)
        return {"samples_per_s": 1.0}

    monkeypatch.setattr(study_folder, "_speed", speed)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: measure_speeds(workspace, STUDY, "cpu", lambda line: None), range(3)))
    assert most == [1] * 2 * study_folder.SPEED_TURNS and all(
        set(speeds) == {"control", "with-prelu"} for speeds in found
    )
    assert json.loads((tmp_path / "studies" / "study" / "speed.json").read_text()) == found[0]
