"""`gonn plan` for a GPU that is not here: whose time is told, and whence it is known."""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from gonn_core.records.sampler import GONN_KEEP, keep_for_rows
from gonn_core.settings.features import FeatureConfig
from gonn_core.step_model.counts import Counts, Work
from gonn_core.step_model.devices import STANDARD, find_device
from gonn_core.trial.job import EvaluationRequest
from orchestration.cli import command as cli
from orchestration.speeds import gpu_memory
from orchestration.speeds.kept import net_key
from orchestration.speeds.on_gpu import measured_speeds, on_gpu
from orchestration.speeds.passes import evaluation_passes, look_passes
from orchestration.study import gpu_time
from reports.workspace import Workspace
from tests.trial.helpers import starter_data, tiny_job

WORK = Work(bf16=int(544e9), fp32=0, bytes=int(2.68e9), kernels=100)
COUNTS = Counts(batch_size=200, step=WORK, evaluation_batch=256, evaluation=WORK, memory=2**30)
"""100,000 samples/s on an H100: a millisecond of matrix work, one of memory traffic."""


@pytest.fixture
def plan(tmp_path, monkeypatch, capsys):
    """Runs `gonn plan` with counts of a net that nobody has; its output, lines that were broken put together."""
    shutil.copytree(starter_data().store.folder.parent, tmp_path / "stores")
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    for module in (gpu_time, gpu_memory):
        monkeypatch.setattr(module, "counted", lambda configs, *_: dict.fromkeys(configs, COUNTS))
    monkeypatch.setattr(gpu_time, "loader_rate", lambda *_: 1e6)

    def run(*arguments):
        code = cli.run(["plan", "parametric_relu", "--base", "gonn-b5", *arguments])
        out, err = capsys.readouterr()
        return code, " ".join(out.split()), err

    return run


def test_a_device_that_is_not_here(plan):
    code, out, _ = plan("--budget", "gpu", "--device", "cuda")
    assert code == 0 and "time: " not in out
    assert (
        "time on a GPU: about 11 min on one H100 SXM, one trial at a time, evaluation included; an estimate, from"
        in out
    )
    assert "a model of the step: 100,016 samples/s, limited by memory traffic" in out and "fit beside each other" in out
    named = plan("--budget", "smoke", "--gpu", "l4")[1]
    assert "on one L4, " in named and re.search(r"trials that fit beside each other: \d+ in L4 ", named)


def test_a_device_that_nobody_knows_is_one_line(plan):
    code, out, err = plan("--gpu", "h999")
    assert code == 2 and not out and err.startswith("GPU=h999: no device whose data sheet is known here; valid: h100")


def test_without_asking_no_gpu_is_mentioned(plan, monkeypatch):
    monkeypatch.setattr("orchestration.speeds.measure.one_speed", lambda *_: (100.0, 250.0))
    assert "GPU" not in plan("--budget", "smoke")[1]


def trial_of(folder, config, device, samples_per_s):
    """A finished trial, as far as speeds are read from it."""
    (folder / "0a").mkdir(parents=True)
    job = tiny_job(Path("runs"))
    tree = {"config": config.model_dump(mode="json"), "run": job.run.model_dump(mode="json")}
    (folder / "0a" / "config.json").write_text(json.dumps(tree))
    (folder / "0a" / "result.json").write_text(json.dumps({"device": device, "samples_per_s": samples_per_s}))


def test_measured_speeds_go_before_the_model(tmp_path):
    job, workspace = tiny_job(Path("runs")), Workspace(tmp_path)
    trial_of(workspace.runs, job.config, "NVIDIA H200", 500.0)
    assert measured_speeds(workspace, STANDARD) == {}
    speeds = measured_speeds(workspace, find_device("h200"))
    assert speeds == {net_key(job.config): 500.0}
    told = on_gpu(job.config, job.run, COUNTS, find_device("h200"), 1e6, speeds)
    assert told.measured and told.samples_per_s == 500.0 and told.seconds > job.config.training.samples / 500
    estimated = on_gpu(job.config, job.run, COUNTS, STANDARD, 1e6, {})
    assert not estimated.measured and estimated.samples_per_s == pytest.approx(100_000, rel=0.01)
    assert on_gpu(job.config, job.run, COUNTS, STANDARD, 1.0, {}).limit == "the loader"


def test_averaging_over_symmetries_is_eight_times_the_work():
    job = tiny_job(Path("runs"))
    request = EvaluationRequest(split="test", view="0" * 20, minimum_positions=100)
    averaged = request.model_copy(update={"symmetry_averaging": True})
    asked = job.run.model_copy(update={"progress_view": None, "evaluations": (request, averaged)})
    assert evaluation_passes(asked, job.config.features) == 900 and look_passes(asked) == 0


def test_what_is_the_same_under_full_history_is_not_computed_twice():
    """GoNN's rule keeps all of five moves in most positions; without planes of moves nothing differs."""
    job = tiny_job(Path("runs"))
    full = EvaluationRequest(split="test", view="0" * 20, minimum_positions=1000)
    published = full.model_copy(update={"history": "as_published"})
    both, alone = (job.run.model_copy(update={"evaluations": asked}) for asked in ((published, full), (published,)))
    with_moves, without = (FeatureConfig(history=moves) for moves in (5, 0))
    again = evaluation_passes(both, with_moves) - 1000
    kept = keep_for_rows(np.arange(10**5), 1, GONN_KEEP)  # any rows: a rule of chance
    assert again == pytest.approx(1000 * np.mean(kept < 5), abs=10) and 100 < again < 500
    assert evaluation_passes(both, without) == 1000 and evaluation_passes(alone, with_moves) == 1000
