"""What lies beside study.json, when two commands change it at once."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

from gonn_core.files.json_files import read_json
from orchestration.study import folder as study_folder
from orchestration.study.folder import count_look, measure_speeds
from reports.workspace import Workspace

ARMS = [SimpleNamespace(id="control", config="net"), SimpleNamespace(id="with-prelu", config="other")]
STUDY = SimpleNamespace(id="study", arms=ARMS)


def test_no_look_is_lost(tmp_path):
    workspace = Workspace(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: count_look(workspace, STUDY, [f"trial {i}"], "report"), range(60)))
    assert count_look(workspace, STUDY, ["trial 3"], "ablate") == {"report": 60}
    assert count_look(workspace, STUDY, [], "ablate") == {"report": 60}


def test_a_study_keeps_the_speeds_it_was_begun_with(tmp_path, monkeypatch):
    """Also when several commands begin it, and on a later day."""
    asked = []

    def speeds_of(workspace, configs, device, say, compile):
        asked.append((sorted(configs), device, compile))
        return {arm: {"samples_per_s": float(len(asked))} for arm in configs}

    monkeypatch.setattr(study_folder, "speeds_of", speeds_of)
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: measure_speeds(Workspace(tmp_path), STUDY, "cpu", print), range(3)))
    assert asked == [(["control", "with-prelu"], "cpu", "none")]
    assert found == [{"control": {"samples_per_s": 1.0}, "with-prelu": {"samples_per_s": 1.0}}] * 3
    assert read_json(tmp_path / "studies" / "study" / "speed.json") == found[0]
