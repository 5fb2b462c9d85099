"""`python -m gonn_core.trial`: job files, trial directories, printed lines, and what it never imports."""

import io
import json
import subprocess
import sys

import pytest

from gonn_core.errors import InputError, SettingError
from gonn_core.trial.__main__ import Printer, describe, main
from gonn_core.trial.job import progress_points, read_job, snapshot_points
from tests.paths import ROOT
from tests.trial.events import event
from tests.trial.helpers import tiny_job


@pytest.fixture(autouse=True)
def signals_stay(monkeypatch):
    monkeypatch.setattr("gonn_core.trial.__main__.signal.signal", lambda *_: None)


def write(path, tree):
    path.write_text(json.dumps(tree))
    return path


def test_a_job_file_then_its_trial_directory(tmp_path, capsys):
    job = tiny_job(tmp_path / "elsewhere")
    path = write(tmp_path / "job.json", job.model_dump(mode="json"))
    assert main([str(path), "--runs", str(tmp_path / "runs")]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["state"] == "done"
    assert f"{job.id}  0/800 samples  starts on cpu" in printed.err and "  done  " in printed.err
    assert not (tmp_path / "elsewhere").exists()
    config = tmp_path / "runs" / job.id / "config.json"
    assert main([str(config), "--runs", str(tmp_path / "again")]) == 0
    assert (tmp_path / "again" / job.id / "result.json").exists()


def test_bad_jobs_are_one_line(tmp_path, capsys):
    job = tiny_job(tmp_path).model_dump(mode="json")
    with pytest.raises(InputError, match="No such file"):
        read_job(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("hello")
    with pytest.raises(InputError, match="not a JSON file"):
        read_job(tmp_path / "text.json")
    with pytest.raises(InputError, match="not a job"):
        read_job(write(tmp_path / "list.json", []))
    with pytest.raises(
        SettingError, match=r"job.json.run.device=tpu: not a valid value; valid: 'auto', 'cpu' or 'cuda'"
    ):
        read_job(write(tmp_path / "job.json", {**job, "run": {**job["run"], "device": "tpu"}}))
    with pytest.raises(InputError, match="made with numerics"):
        read_job(write(tmp_path / "config.json", {**job, "id": "0" * 16, "numerics": {"nets": 0}}))
    assert main([str(tmp_path / "none.json")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_points():
    assert progress_points(100_000, 32, 4) == [25_024, 50_016, 75_008, 100_000]
    assert progress_points(64, 32, 12) == [32, 64]
    assert snapshot_points(100_000, 32, (33,)) == [64, 10_016, 20_000, 50_016, 100_000]
    assert snapshot_points(800, 8, ()) == [800]
    assert snapshot_points(5_000_000, 200, ()) == [
        m * 10**e for e in (4, 5, 6) for m in (1, 2, 5) if m * 10**e <= 5_000_000
    ]


def test_plain_lines_are_few(monkeypatch):
    stream = io.StringIO()
    printer = Printer(stream)
    tick = event("tick", "abc", 100, 800, 5.5, 1234.5, train_nats=5.75, seconds_left=3725.0)
    for _ in range(10):
        assert printer(tick)
    assert stream.getvalue() == "abc  100/800 samples  1,234/s  5.5000 validation nats  1:02:05 left\n"


def test_every_event_has_a_line():
    assert "process 7 on box" in describe(event("waiting", "abc", 0, 800, pid=7, host="box"))
    assert (
        describe(event("started", "abc", 8, 800, None, None, device="cpu", resumed=8))
        == "abc  8/800 samples  resumes on cpu"
    )
    assert "evaluating test: 256/1,000 positions" in describe(
        event("evaluating", "abc", 8, 800, None, None, split="test", history="full", positions=256, of=1000)
    )


def test_it_imports_nothing_that_a_bare_machine_lacks():
    """Nor torch's compiler, over a second of every process that trains and compiles nothing."""
    code = (
        "import sys, torch, gonn_core.trial.run, gonn_core.trial.__main__, gonn_core.trial.weights\n"
        "from gonn_core.config import TrialConfig, with_values\n"
        "from gonn_core.training.speed import measure_speed\n"
        "config = with_values(TrialConfig(), {'net.trunk.width': 4, 'net.trunk.blocks': 1, 'training.batch_size': 2})\n"
        "for kind in ('sgd', 'adamw'):\n"
        "    config = with_values(config, {'training.optimiser.kind': kind})\n"
        "    assert measure_speed(config, torch.device('cpu'), 0.0)\n"
        "heavy = {'ray', 'mlflow', 'optuna', 'matplotlib', 'pandas', 'sgfmill', 'rich', 'typer'}\n"
        "heavy |= {'ablations', 'orchestration', 'reports', 'torch._dynamo', 'torch._inductor', 'sympy'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_declarations_need_no_numpy_and_reading_evaluations_needs_no_torch():
    code = (
        "import sys, gonn_core.metrics; assert not {'numpy', 'torch', 'pydantic'} & set(sys.modules)\n"
        "import gonn_core.evaluation.stored, gonn_core.trial.directory; assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
