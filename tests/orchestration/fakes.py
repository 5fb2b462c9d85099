"""Trials of a few milliseconds that leave a directory as real ones do, for tests of who runs them and who is told."""

import json
import os
import signal
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from gonn_core.config import TrialConfig, trial_id, with_values
from gonn_core.errors import UserError


@dataclass(frozen=True)
class FakeSettings:
    runs: str
    device: str = "cpu"
    behaviour: str = ""


@dataclass(frozen=True)
class FakeJob:
    config: TrialConfig
    run: FakeSettings
    labels: dict = field(default_factory=dict, compare=False)


def fake_job(folder, seed: int, behaviour: str = "") -> FakeJob:
    return FakeJob(with_values(TrialConfig(), {"training.init_seed": seed}), FakeSettings(str(folder), behaviour=behaviour))


def run_fake(job, on_progress):
    """Appends its process id to `attempts`, then behaves as the job says."""
    folder = Path(job.run.runs) / trial_id(job.config)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "attempts", "a") as file:
        print(os.getpid(), os.environ.get("OMP_NUM_THREADS"), os.environ.get("CUDA_VISIBLE_DEVICES"), file=file)
    attempt = len((folder / "attempts").read_text().splitlines())
    match job.run.behaviour:
        case "raises":
            raise RuntimeError("the loss is not finite")
        case "user error":
            raise UserError("STORE=/nowhere: no such folder")
        case "dies once" if attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        case "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exits":
            sys.stdout.flush()
            os._exit(7)
        case "hangs once" if attempt == 1:
            time.sleep(60)
    lines = [{"samples": samples, "train_nats": 5.0, "nats": 5.5 - samples / 100, "samples_per_s": 50.0} for samples in (10, 20)]
    for line in lines:
        with open(folder / "metrics.jsonl", "a") as file:
            print(json.dumps(line), file=file)
        on_progress(line)
    (folder / "result.json").write_text(json.dumps({"seed": job.config.training.init_seed}))
