"""What the runners cost beside trials that keep every core busy: wall time that is not the trials' own, local and Ray.

    python -m benchmarks.orchestration [--trials 4] [--slots 2] [--seconds 60]

A trial here imports what a real one imports, then multiplies matrices, as many as take the given seconds, and tells an
event a second. The baseline is the same work in as many bare processes side by side, before and after, so what a
runner's own processes take of the cores counts as well. `start-up` is the time until the first trial is at work;
`overhead` all else that is not the trials' own.
"""

import argparse
import importlib
import multiprocessing
import os
import tempfile
import time

import numpy as np

from gonn_core.config import TrialConfig, with_values
from gonn_core.trial.events import Started, Tick
from gonn_core.trial.job import Job, RunSettings
from orchestration.runners.base import WORKER_ENVIRONMENT
from orchestration.runners.local import LocalRunner
from orchestration.runners.ray_runner import RayRunner

FUNCTION = "benchmarks.orchestration:multiply"


def burn(products: int) -> None:
    """So many products of matrices, on one thread."""
    one, other = np.ones((128, 128), np.float32), np.empty((128, 128), np.float32)
    for _ in range(products):
        np.matmul(one, one, out=other)


def multiply(job: Job, on_progress) -> dict:
    """A trial of `training.samples` products after its imports; an event each time that 1 / `progress_points` of them
    is done."""
    importlib.import_module("gonn_core.trial.run")
    products, parts = job.config.training.samples, job.run.progress_points
    on_progress(Started(job.id, 0, products, device="cpu", resumed=0, training_seconds=0.0))
    began = time.perf_counter()
    for part in range(1, parts + 1):
        burn(products // parts)
        spent = time.perf_counter() - began
        on_progress(
            Tick(
                job.id,
                part * (products // parts),
                products,
                None,
                1.0,
                train_nats=0.0,
                seconds_left=0.0,
                training_seconds=spent,
            )
        )
    return {"state": "done"}


def _bare(start, products: int, seconds) -> None:
    burn(1000)
    start.wait()
    began = time.perf_counter()
    burn(products)
    seconds.put(time.perf_counter() - began)


def bare(slots: int, products: int) -> float:
    """Seconds of the slowest of `slots` bare processes that each make so many products at the same time."""
    context = multiprocessing.get_context("spawn")
    start, seconds = context.Barrier(slots), context.Queue()
    processes = [context.Process(target=_bare, args=(start, products, seconds)) for _ in range(slots)]
    for process in processes:
        process.start()
    slowest = max(seconds.get() for _ in processes)
    for process in processes:
        process.join()
    return slowest


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=4)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60)
    wanted = parser.parse_args()
    os.environ.update(WORKER_ENVIRONMENT)
    rounds = -(-wanted.trials // wanted.slots)
    sample = 20_000
    products = max(100, round(sample * wanted.seconds / bare(wanted.slots, sample) / 100) * 100)
    print(
        f"{wanted.trials} trials of about {wanted.seconds} s, {wanted.slots} at a time, every one keeping a core busy",
        flush=True,
    )
    print(f"{'':10}{'wall s':>10}{'start-up s':>12}{'overhead s':>12}{'share':>9}", flush=True)
    before, measured = bare(wanted.slots, products * rounds), {}
    with tempfile.TemporaryDirectory() as folder:
        settings = RunSettings(runs=folder, store="", device="cpu", progress_points=wanted.seconds)
        training = {"training.samples": products, "training.batch_size": 100}
        jobs = [
            Job(config=with_values(TrialConfig(), {**training, "training.init_seed": seed}), run=settings)
            for seed in range(wanted.trials)
        ]
        for name, runner in (("local", LocalRunner(FUNCTION)), ("ray", RayRunner(function=FUNCTION))):
            measured[name] = _run(runner, jobs, wanted.slots)
    ideal = (before + bare(wanted.slots, products * rounds)) / 2
    print(f"{'bare':10}{ideal:10.1f}")
    for name, (wall, start) in measured.items():
        overhead = wall - start - ideal
        print(f"{name:10}{wall:10.1f}{start:12.1f}{overhead:12.1f}{overhead / ideal:9.1%}")


def _run(runner, jobs, slots: int) -> tuple[float, float]:
    """Wall seconds, and those until the first trial was at work."""
    began, first = time.perf_counter(), []

    def hear(event: dict) -> None:
        if event.kind == "started":
            first.append(time.perf_counter() - began)

    outcomes = runner.run(jobs, slots, hear)
    assert {outcome.state for outcome in outcomes} == {"done"}, outcomes
    return time.perf_counter() - began, first[0]


if __name__ == "__main__":
    main()
