"""What the runners cost: wall time of N short trials that is not the trials' own, local and Ray.

    python -m benchmarks.orchestration [--trials 6] [--slots 2] [--seconds 20]

A trial here imports what a real one imports, then tells an event a second and otherwise sleeps: so nothing competes for the cores,
and all that is left is starting processes, imports, scheduling and messages. The baseline is the same sleep in no runner at all.
"""

import argparse
import importlib
import tempfile
import time

from gonn_core.config import TrialConfig, with_values
from gonn_core.trial.events import event
from gonn_core.trial.job import Job, RunSettings
from orchestration.local_runner import LocalRunner
from orchestration.ray_runner import RayRunner

FUNCTION = "benchmarks.orchestration:nap"


def nap(job: Job, on_progress) -> dict:
    """A trial that takes `progress_points` seconds after its imports."""
    importlib.import_module("gonn_core.trial.run")
    for second in range(job.run.progress_points):
        time.sleep(1)
        on_progress(event("tick", job.id, second, job.run.progress_points, None, 1.0, train_nats=0.0, seconds_left=0.0))
    return {"state": "done"}


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=6)
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=20)
    wanted = parser.parse_args()
    rounds = -(-wanted.trials // wanted.slots)
    ideal = rounds * wanted.seconds
    with tempfile.TemporaryDirectory() as folder:
        settings = RunSettings(runs=folder, store="", device="cpu", progress_points=wanted.seconds)
        jobs = [Job(config=with_values(TrialConfig(), {"training.init_seed": seed}), run=settings) for seed in range(wanted.trials)]
        print(f"{wanted.trials} trials of {wanted.seconds} s, {wanted.slots} at a time: {ideal} s without a runner")
        print(f"{'runner':8}{'wall s':>10}{'overhead s':>12}{'first event s':>15}{'overhead of a 60 s trial':>26}")
        for name, runner in (("local", LocalRunner(FUNCTION)), ("ray", RayRunner(function=FUNCTION))):
            began, first = time.perf_counter(), []
            outcomes = runner.run(jobs, wanted.slots, lambda event, began=began, first=first: first or first.append(time.perf_counter() - began))
            wall = time.perf_counter() - began
            assert {outcome.state for outcome in outcomes} == {"done"}, outcomes
            # the start is paid once a study, the rest by every round of trials
            each = (wall - ideal) / rounds
            print(f"{name:8}{wall:10.1f}{wall - ideal:12.1f}{first[0] - 1:15.1f}{each / 60:25.1%}")


if __name__ == "__main__":
    main()
