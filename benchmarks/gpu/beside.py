"""Trials side by side on one device: processes that train the same net at the same time.

`python -m benchmarks.gpu.beside CONFIG.json DEVICE SECONDS` is one of them: it says when it is warm, waits for a line,
and prints the samples/s of the seconds that follow.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from subprocess import PIPE

from gonn_core.config import TrialConfig, parse_model
from gonn_core.files.json_files import read_json, write_json

ROOT = Path(__file__).resolve().parents[2]
READY, RATE = "trial is ready", "trial's samples/s:"
"""What a process says."""


def beside(config: TrialConfig, device: str, trials: int, seconds: float) -> dict:
    """samples_per_s of all of `trials` processes together, and of the slowest. Raises
    RuntimeError with the words of a process that failed."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as ending:
        path = Path(folder) / "config.json"
        write_json(path, config.model_dump(mode="json"))
        command = [sys.executable, "-m", "benchmarks.gpu.beside", str(path), device, str(seconds)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        processes = []
        for _ in range(trials):
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, text=True, stdin=PIPE, stdout=PIPE, stderr=subprocess.STDOUT
            )
            ending.callback(process.wait)
            ending.callback(process.kill)
            processes.append(process)
        for process in processes:
            _line(process, READY)
        for process in processes:
            print("go", file=process.stdin, flush=True)
        rates = [float(_line(process, RATE)) for process in processes]
    return {"trials": trials, "samples_per_s": sum(rates), "slowest": min(rates)}


def _line(process: subprocess.Popen, word: str) -> str:
    """What follows a word at the beginning of a line that a process prints."""
    assert process.stdout is not None
    last = "nothing"
    for line in process.stdout:
        if line.startswith(word):
            return line.removeprefix(word).strip()
        last = line.strip() or last
    raise RuntimeError(f"a trial ended before it was measured: {last}")


def one_trial(config: TrialConfig, device_name: str, seconds: float) -> float:
    """samples/s for `seconds`, once a line was read from standard input."""
    import torch

    from benchmarks.gpu.steps import prepared
    from gonn_core.training.speed import random_batches, timed_steps

    device = torch.device(device_name)
    trainer, _ = prepared(config, device, 1)
    batches = random_batches(config, device, "channels_last")
    timed_steps(trainer, batches, device, 0.0, least=3)  # kernels are made and chosen
    print(READY, flush=True)
    sys.stdin.readline()
    rate, _ = timed_steps(trainer, batches, device, seconds)
    return rate


if __name__ == "__main__":
    read = parse_model(TrialConfig, read_json(Path(sys.argv[1])), "config.json")
    print(RATE, one_trial(read, sys.argv[2], float(sys.argv[3])), flush=True)
