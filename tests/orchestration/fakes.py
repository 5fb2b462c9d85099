"""Trials of a few milliseconds that leave a directory as real ones do, for tests of who runs them and who is told."""

import json
import os
import signal
import sys
import time
from pathlib import Path

from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import OutOfMemory, UserError
from gonn_core.files.seals import digest_of
from gonn_core.trial.job import Job, RunSettings
from gonn_core.trial.lease import this_process
from tests.trial.events import event
from tests.waiting import wait_until


def fake_job(folder, seed: int, behaviour: str = "") -> Job:
    """A job whose trial behaves as its commit says."""
    config = with_values(TrialConfig(), {"training.init_seed": seed, "training.samples": 20, "training.batch_size": 10})
    return Job(config=config, run=RunSettings(runs=str(folder), store="", device="cpu", commit=behaviour or "unknown"))


def run_fake(job, on_progress) -> dict:
    """Appends its process id to `attempts`, then behaves as the job says."""
    folder = Path(job.run.runs) / job.id
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "attempts", "a") as file:
        print(os.getpid(), os.environ.get("OMP_NUM_THREADS"), os.environ.get("CUDA_VISIBLE_DEVICES"), file=file)
    attempt = len((folder / "attempts").read_text().splitlines())
    match job.run.commit:
        case "raises":
            raise RuntimeError("the loss is not finite")
        case "user error":
            raise UserError("STORE=/nowhere: no such folder")
        case "no memory":
            raise MemoryError("Unable to allocate 9.17 MiB")
        case "dies once" if attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            sys.stdout.flush()
            os._exit(7)
        case "hangs once" if attempt == 1:
            time.sleep(1000)
        case "short once" | "too large" | "steady":
            _on_a_gpu(
                job, on_progress, short=job.run.commit == "too large" or job.run.commit == "short once" and attempt == 1
            )
    on_progress(event("started", job.id, 0, 20, device="none"))
    while job.run.commit == "goes on until told" and attempt == 1:
        if on_progress(event("tick", job.id, 5, 20, None, 50.0)) is False:
            return {"state": "paused", "samples": 5}
        time.sleep(0.05)
    for samples in (10, 20):
        line = progress_line(samples)
        with open(folder / "metrics.jsonl", "a") as file:
            print(json.dumps(line), file=file)
        if on_progress(event("point", job.id, samples, 20, line["nats"], line["samples_per_s"])) is False:
            return {"state": "paused", "samples": samples}
    (folder / "result.json").write_text(json.dumps({"format": 1, "id": job.id, "seed": job.config.training.init_seed}))
    return {"state": "done"}


def _on_a_gpu(job, on_progress, short: bool) -> None:
    """Two seconds of progress, or out of memory when it is `short`."""
    on_progress(event("started", job.id, 0, 20, device="a GPU"))
    for tick in range(20):
        time.sleep(0.02)
        if short:
            raise OutOfMemory("CUDA out of memory")
        on_progress(event("tick", job.id, tick, 20, None, 10.0))


def config_tree() -> dict:
    return with_values(TrialConfig(), {"net.trunk.dilations": [2, 3]}).model_dump(mode="json")


def progress_line(samples: int) -> dict:
    """A line of metrics.jsonl."""
    times = dict.fromkeys(("wall_seconds", "training_seconds"), samples / 50)
    levels = {"train_nats": 5.0, "nats": 5.5 - samples / 100, "top1": 0.3, "top4": 0.6}
    return {"samples": samples, **levels, "samples_per_s": 50.0, "learning_rate": 0.1, "looks": samples // 10, **times}


def write_evaluation(folder: Path, **values) -> None:
    """The evaluation e… of a trial over four positions of two games; values: of its summary."""
    import numpy as np

    from gonn_core.evaluation.metrics import METRIC_SET, Scores
    from gonn_core.evaluation.stored import pack_arrays

    scores = Scores(np.array([0.5, 1.0, 2.0, 4.0], np.float32), np.array([0, 1, 4, 40], np.uint16))
    arrays = pack_arrays(scores, np.arange(4), np.array([0, 0, 1, 1]))
    summary = {"format": 1, "id": "e" * 16, "split": "test", "history": "full", "samples": 20, "metric_set": METRIC_SET}
    summary |= {"nats": 2.6, "top1": 0.4, "top4": 0.7, "requests": [], "subset": "0" * 20, "symmetry_averaging": False}
    summary |= {"positions": 100, "games": 2, "arrays": digest_of(arrays), **values}
    (folder / "eval" / f"{'e' * 16}.npz").write_bytes(arrays)
    (folder / "eval" / f"{'e' * 16}.json").write_text(json.dumps(summary))


def write_trial(folder: Path, state: str, points: int = 2) -> None:
    """A trial directory in the given state, with what the tracker reads."""
    for name in ("eval", "snapshots"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("lease.json", "failure.json"):
        (folder / name).unlink(missing_ok=True)

    def write(name, tree):
        (folder / name).write_text(json.dumps({"format": 1, **tree}))

    session = {
        "started": "2026-01-02T03:04:05+00:00",
        "device": "cpu",
        "commit": "abc123",
        "dirty": True,
        "versions": {"torch": "2.13"},
    }
    write(
        "config.json",
        {
            "id": folder.name,
            "config": config_tree(),
            "sessions": [session],
            "numerics": {"nets": 1},
            "run": {},
            "labels": {},
        },
    )
    lines = map(progress_line, range(10, 10 * points + 1, 10))
    (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if state == "running":
        write("lease.json", {"token": "t", "process": this_process()._asdict()})
    if state == "failed":
        write(
            "failure.json",
            {"error": "RuntimeError: the loss is not finite", "traceback": "Traceback …", "unix_time": 0.0},
        )
    if state == "done":
        write(
            "result.json",
            {
                "id": folder.name,
                "samples": 20,
                "samples_per_s": 50.0,
                "weights": "0123456789abcdef",
                "parameters": 1234,
            },
        )
        (folder / "checkpoint.safetensors").write_bytes(b"weights")
        write_evaluation(folder, weights="0123456789abcdef")


def meet(job, on_progress) -> dict:
    """Waits until another process is at this too, then does what the job is for: a trial, or probes."""
    from gonn_core.trial.evaluations import ProbeJob, run_probes
    from gonn_core.trial.run import run_trial

    folder = Path(job.run.runs).parent / "met"
    folder.mkdir(exist_ok=True)
    (folder / str(os.getpid())).touch()
    wait_until(lambda: len(list(folder.iterdir())) >= 2)
    return run_probes(job, on_progress) if isinstance(job, ProbeJob) else run_trial(job, on_progress)
