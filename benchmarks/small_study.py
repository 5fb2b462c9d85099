"""What a study takes beside its training: four small trials in a new workspace, four more of the same nets, and nothing
to do when all is there.

    python -m benchmarks.small_study [--rounds 3] [--runner ray]

The command runs in a pseudo-terminal: seconds to its end, to the first thing drawn, and the longest time in which
nothing was drawn. Baseline in the same run: the trials' own CPU time, shared by the slots. Then the same trials once
more, runner alone: seconds from the moment a slot takes a trial to its first step, for the first trials of the workers
and for those that come after. The machine should be idle, and its kernels compiled (`make setup` does that).
"""

import argparse
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from gonn_core.files.json_files import read_json
from gonn_core.training.environment import describe_processor
from gonn_core.trial.events import Begun, Event, Started
from gonn_core.trial.job import Job, read_job
from orchestration.experiment.pipeline import make_runner
from reports.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
RUNNERS = ("ray", "local")
STUDY = ("ablate", "parametric_relu", "--budget", "smoke")
SLOTS = 2


class Watched(NamedTuple):
    """A command that was watched, in seconds: how long it took, until something was drawn, in which nothing was."""

    seconds: float
    first: float
    longest: float


def on_terminal(command: Sequence[str], environment: Mapping[str, str]) -> Watched:
    """Run a command in a terminal of its own. Raises RuntimeError with its last words where it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    began = time.monotonic()
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env={**environment, "TERM": "xterm-256color"}
    ) as process:
        os.close(theirs)
        drawn, text = [began], b""
        while chunk := _read(ours):
            drawn.append(time.monotonic())
            text = (text + chunk)[-2000:]
    os.close(ours)
    ended = time.monotonic()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}:\n{text.decode(errors='replace')}")
    moments = [*drawn, ended]
    pauses = [later - earlier for earlier, later in zip(moments, moments[1:], strict=False)]
    return Watched(ended - began, pauses[0], max(pauses))


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # Linux's way to say that the other side was closed
        return b""


def study(home: Path, runner: str, seeds: str) -> Watched:
    """The study of these seeds in a workspace: two trials of each."""
    command = [sys.executable, "-m", "orchestration.cli", *STUDY]
    command += ["--seeds", seeds, "--runner", runner, "--slots", str(SLOTS)]
    usual = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    path = os.pathsep.join(filter(None, [str(ROOT), usual.get("PYTHONPATH")]))
    return on_terminal(command, {**usual, "GONN_HOME": str(home), "PYTHONPATH": path})


def jobs_of(workspace: Workspace, runs: Path) -> list[Job]:
    """The jobs of all trials of a workspace, to be run again in another folder."""
    jobs = []
    for folder in sorted(path for path in workspace.runs.iterdir() if (path / "config.json").is_file()):
        job = read_job(folder / "config.json")
        jobs.append(job.model_copy(update={"run": job.run.model_copy(update={"runs": str(runs)})}))
    return jobs


def ways_to_the_first_step(jobs: Sequence[Job], runner: str) -> tuple[list[float], list[float]]:
    """Seconds from the slot's taking a trial to its start, of each worker's first trial and of the others."""
    begun: dict[str, float] = {}
    took: list[float] = []

    def hear(event: Event) -> None:
        if isinstance(event, Begun):
            begun[event.trial] = time.monotonic()
        elif isinstance(event, Started):
            took.append(time.monotonic() - begun[event.trial])

    outcomes = make_runner(runner).run(jobs, SLOTS, hear)
    assert {outcome.state for outcome in outcomes} == {"done"}, outcomes
    return took[:SLOTS], took[SLOTS:]


def trained_seconds(workspace: Workspace) -> float:
    """CPU seconds of all trials of a workspace."""
    return sum(read_json(path)["cpu_seconds"] for path in workspace.runs.glob("*/result.json"))


def measure(runner: str) -> dict[str, float]:
    """One round, by what is measured."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        workspace = Workspace(home)
        new, again = study(home, runner, "1,2"), study(home, runner, "1,2")
        trained = trained_seconds(workspace)
        more = study(home, runner, "3,4")
        first, later = ways_to_the_first_step(jobs_of(workspace, home / "again"), runner)
        return {
            "four trials, new workspace": new.seconds,
            "four more of the same nets": more.seconds,
            "trials' CPU time / slots": trained / SLOTS,
            "until something is drawn": new.first,
            "longest without": max(new.longest, more.longest),
            "when all is there": again.seconds,
            "to the first step, new worker": median(first),
            "to the first step, used worker": median(later),
        }


def print_table(measured: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Medians over rounds, with their range. measured: runner -> rounds."""
    print(f"{'seconds':32}" + "".join(f"{runner:>22}" for runner in measured))
    for name in next(iter(measured.values()))[0]:
        line = f"{name:32}"
        for rounds in measured.values():
            values = [each[name] for each in rounds]
            line += f"{f'{median(values):.2f} [{min(values):.2f}..{max(values):.2f}]':>22}"
        print(line)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--runner", choices=RUNNERS, action="append", help="default: both")
    options = parser.parse_args(arguments)
    print(f"{describe_processor()}, {os.cpu_count()} cores, {SLOTS} slots; load at the start {os.getloadavg()[0]:.1f}")
    runners = options.runner or RUNNERS
    measured: dict[str, list[dict[str, float]]] = {runner: [] for runner in runners}
    for _ in range(options.rounds):
        for runner in runners:
            measured[runner].append(measure(runner))
    print_table(measured)


if __name__ == "__main__":
    main()
