"""`gonn probe`: bad settings in one line; a trial's table, its test positions and their pictures."""

import pytest

from gonn_core.trial.run import run_trial
from reports.probes import boards
from tests.orchestration.commands import gonn
from tests.trial.helpers import starter_data, tiny_config, tiny_job


@pytest.mark.parametrize("arguments, line", [
    (["x"], "TARGET=x: no such study or trial; valid: none yet: make ablation NAME=… makes some"),
    (["\x1b[2J"], "TARGET=\\x1b[2J: no such study or trial; valid: none yet: make ablation NAME=… makes some"),
])  # fmt: skip
def test_bad_settings(tmp_path, arguments, line):
    assert gonn(tmp_path, "probe", *arguments) == (2, "", line + "\n")
    assert not list(tmp_path.iterdir())


def test_a_trial_is_probed_once(tmp_path, monkeypatch):
    draw, drawn = boards.draw_policy, []
    monkeypatch.setattr(boards, "draw_policy", lambda *given: (drawn or drawn.append(draw(*given)) or drawn)[0])
    job = tiny_job(tmp_path / "runs", tiny_config(training__samples=16))
    run_trial(job)
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    code, out, aside = gonn(tmp_path, "probe", job.id[:8])
    assert code == 0, aside
    for word in (
        "long chain eyes",
        "ladder capture",
        "ladder run",
        "ko threats",
        "races",
        "dilated1 S19 27.0 %",
        "S19 (right)",
    ):
        assert word in out
    pictures = list((tmp_path / "out" / "probes" / job.id).glob("*.png"))
    assert len(pictures) == 18 and pictures[0].read_bytes().startswith(b"\x89PNG"), "each drawn as the first"
    (first,) = (tmp_path / "runs" / job.id / "probes").glob("*.json")
    before = first.stat().st_mtime_ns
    assert gonn(tmp_path, "probe", job.id, "--no-boards")[0] == 0 and first.stat().st_mtime_ns == before
