"""`python -m gonn_core.trial`: job files, trial directories, printed lines, and what it never imports."""

import json
import subprocess
import sys

import pytest

from gonn_core.errors import InputError, SettingError
from gonn_core.trial.__main__ import main
from gonn_core.trial.job import read_job
from tests.paths import ROOT
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
