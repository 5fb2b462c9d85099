"""Training on a CPU: samples per CPU-second of steps alone and of a whole trial, and where the rest goes.

    python -m benchmarks.training [--samples 4800]

Net 3x32 (PReLU, centre kernel, pooled head), batch 32, one thread, on the bundled games. Baseline in the same
run: the same steps with torch's own F.prelu. Medians of three.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import torch

from ablations.data.datasets import load_dataset, prepare
from gonn_core.config import TrialConfig, with_values
from gonn_core.evaluation.evaluate import evaluate
from gonn_core.records.sampler import Sampler
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import Trainer
from gonn_core.training.speed import measure_speed
from gonn_core.trial.data import TrialData
from gonn_core.trial.job import Job, RunSettings
from gonn_core.trial.run import run_trial

CPU = torch.device("cpu")
NET = {
    "net.activation": "prelu",
    "net.stem.center_kernel": True,
    "net.trunk.width": 32,
    "net.trunk.blocks": 3,
    "net.head.pooling": "mean_max",
    "training.batch_size": 32,
    "training.schedule.kind": "linear",
    "training.optimiser.learning_rate": 0.2,
}


def median_speed(config: TrialConfig) -> float:
    """Samples per CPU-second of steps on one batch of planes."""
    return statistics.median(measure_speed(config, CPU, 3.0).samples_per_cpu_s for _ in range(3))


def steps_with_torchs_prelu(config: TrialConfig) -> float:
    """The same with F.prelu in place of this project's own."""
    from gonn_core.nets.parts import activations

    def activate(x, slopes):
        return torch.nn.functional.prelu(x, slopes.to(x.dtype))

    with mock.patch.object(activations, "PReLU", SimpleNamespace(apply=activate)):
        return median_speed(config)


def plane_seconds(data: TrialData, config: TrialConfig) -> float:
    """CPU-seconds per sample for sampling and planes."""
    sampler = Sampler(data.view(config.data.view), 32, 0, history_keep=config.data.history_keep)
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last)
    times = []
    for repeat in range(4):
        began = time.process_time()
        for k in range(200):
            maker.on_host(*sampler.batch(200 * repeat + k))
        times.append((time.process_time() - began) / 6400)
    return statistics.median(times[1:])


def trial(config: TrialConfig, store: str, validation: str, runs: Path) -> dict:
    """A whole trial with its 12 looks at 2,048 validation positions."""
    settings = RunSettings(runs=str(runs), store=store, device="cpu", progress_view=validation)
    return run_trial(Job(config=config, run=settings))


def evaluation_rate(data: TrialData, config: TrialConfig, validation: str) -> float:
    """Positions per CPU-second evaluated."""
    reset_torch(1)
    trainer = Trainer(config, 1000, CPU, "channels_last")
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last)
    rows = data.view(validation).rows[:2048]
    evaluate(trainer.net, maker, rows[:256], "full")
    began = time.process_time()
    evaluate(trainer.net, maker, rows, "full")
    return len(rows) / (time.process_time() - began)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=4800)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(load_dataset("starter"), Path(folder) / "stores")
        store, validation = str(prepared.store.folder), prepared.views["validation"].digest
        base = with_values(
            TrialConfig(), {**NET, "data.view": prepared.views["train"].digest, "training.samples": options.samples}
        )
        data = TrialData(store)
        print(f"3x32, batch 32, one thread, {options.samples:,} samples; samples per CPU-second")
        print(
            f"{'precision':10}{'steps':>8}{'F.prelu':>9}{'ReLU':>8}{'trial*':>8}{'planes':>9}{'looks':>8}{'rest':>8}{'evaluated':>11}"
        )
        for precision in ("fp32", "bf16"):
            config = with_values(base, {"training.precision": precision})
            steps, baseline = median_speed(config), steps_with_torchs_prelu(config)
            relu = median_speed(with_values(config, {"net.activation": "relu"}))
            planes, evaluated = plane_seconds(data, config), evaluation_rate(data, config, validation)
            result = trial(config, store, validation, Path(folder) / "runs")
            looks_seconds = 12 * 2048 / evaluated
            seconds = (result["cpu_seconds"] - looks_seconds) / options.samples
            share = {
                "planes": planes / seconds,
                "looks": looks_seconds / result["cpu_seconds"],
                "rest": 1 - (planes + 1 / steps) / seconds,
            }
            speeds = f"{steps:8.0f}{baseline:9.0f}{relu:8.0f}{1 / seconds:8.0f}"
            shares = f"{share['planes']:9.1%}{share['looks']:8.1%}{share['rest']:8.1%}"
            print(f"{precision:10}{speeds}{shares}{evaluated:11.0f}")
        print("* without the looks at validation; planes, rest: shares of that; looks: share of the whole")


if __name__ == "__main__":
    main()
