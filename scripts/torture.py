"""Torture: smoke studies whose processes are killed, signalled and starved at random moments, under both runners; and
whether the same command then ends with the weights and the evaluations of an undisturbed run, bit for bit.

    python -m scripts.torture FOLDER --minutes 60 [--faults raylet,gcs] [--seed 1]

Every round has a workspace of its own below FOLDER, which is kept when something did not survive. The table at the end
goes into docs/troubleshooting.md, with the commit. Linux alone: processes are looked for under /proc.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gonn_core.trial.lease import live_holder
from orchestration.runners.ray_runner import NAME
from tests.orchestration.runners.ray_processes import Member, ray_processes

STUDY = ("ablate", "last_move_input", "--budget", "smoke", "--seeds", "1", "--no-track")
TRIALS = 2
PATIENCE = 900.0
"""Seconds after which a command that should have ended, or gone on, counts as hung."""
PARTS = {
    "raylet": "raylet/raylet --raylet_socket",
    "gcs": "gcs_server --",
    "dashboard agent": "ray::DashboardAgent",
    "runtime env agent": "ray::RuntimeEnvAgent",
    "log monitor": "log_monitor.py",
    "dashboard": "dashboard.py",
}
"""Ray's processes, by words of their command lines."""


class Round:
    """One study, one fault."""

    def __init__(self, home: Path, runner: str, slots: int):
        self.home, self.runner, self.slots = home, runner, slots
        self.command: subprocess.Popen

    def start(self) -> None:
        """Begin the study, or go on with it."""
        with open(self.home / "out.txt", "a") as out, open(self.home / "err.txt", "a") as err:
            self.command = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "orchestration.cli",
                    *STUDY,
                    "--runner",
                    self.runner,
                    "--slots",
                    str(self.slots),
                ],
                env={**os.environ, "GONN_HOME": str(self.home), "OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )

    def points(self) -> int:
        """Lines of metrics that its trials have written so far."""
        return sum(len(path.read_bytes().splitlines()) for path in self.home.glob("runs/*/metrics.jsonl"))

    def done(self) -> int:
        """Trials that are done."""
        return len(list(self.home.glob("runs/*/result.json")))

    def worker(self) -> int | None:
        """A process that trains."""
        holders = [live_holder(path.parent) for path in self.home.glob("runs/*/lease.json")]
        return next((holder.process.pid for holder in holders if holder), None)

    def ray(self) -> list[Member]:
        """Processes of the command's Ray, its driver among them."""
        return ray_processes(self.command.pid)

    def role(self, name: str) -> int | None:
        """The process of Ray's that has this part."""
        words = PARTS.get(name)
        for each in self.ray():
            if words is None and "spawn_main" in each.words or words is not None and words in each.words:
                return each.pid
        return None


@dataclass(frozen=True)
class Fault:
    """What is done to a command."""

    name: str
    runners: tuple[str, ...]
    inflict: Callable[[Round], bool]
    """False when there was nobody to do it to."""
    ends: int | None = None
    """The exit code with which the command must end; None: it must go on to its end by itself."""


def _kill(find: Callable[[Round], int | None], number: int) -> Callable[[Round], bool]:
    def inflict(each: Round) -> bool:
        pid = find(each)
        if pid is None:
            return False
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return False
        return True

    return inflict


def _driver(each: Round) -> int:
    return each.command.pid


def _role(name: str) -> Callable[[Round], int | None]:
    return lambda each: each.role(name)


def _gonn_stop(each: Round) -> bool:
    environment = {**os.environ, "GONN_HOME": str(each.home)}
    done = subprocess.run([sys.executable, "-m", "orchestration.cli", "stop"], env=environment, capture_output=True)
    return done.returncode == 0


def _hang_up(each: Round) -> bool:
    """What a terminal that is closed does: SIGHUP to the whole group."""
    os.killpg(each.command.pid, signal.SIGHUP)
    return True


def _interrupt(each: Round) -> bool:
    """What Ctrl-C does: SIGINT to the whole group."""
    os.killpg(each.command.pid, signal.SIGINT)
    return True


BOTH = ("local", "ray")
FAULTS = [
    Fault("SIGKILL to the command", BOTH, _kill(_driver, signal.SIGKILL), -signal.SIGKILL),
    Fault("SIGTERM to the command", BOTH, _kill(_driver, signal.SIGTERM), 143),
    Fault("Ctrl-C", BOTH, _interrupt, 130),
    Fault("terminal closed", BOTH, _hang_up, 129),
    Fault("gonn stop", BOTH, _gonn_stop, 130),
    Fault("SIGKILL to a worker", BOTH, _kill(Round.worker, signal.SIGKILL)),
    *(
        Fault(f"SIGKILL to Ray's {name}", ("ray",), _kill(_role(name), signal.SIGKILL))
        for name in (*PARTS, "driver process")
    ),
    Fault("SIGTERM to Ray's driver process", ("ray",), _kill(_role("driver process"), signal.SIGTERM)),
    Fault("SIGSTOP to Ray's gcs", ("ray",), _kill(_role("gcs"), signal.SIGSTOP)),
]


def survived(each: Round, fault: Fault, undisturbed: Path) -> tuple[str, float]:
    """What went wrong, empty when nothing did, "-" when the fault came too late; seconds until the command ended or,
    told to go on, got on."""
    before, began = each.points() + each.done(), time.monotonic()
    while each.command.poll() is None and time.monotonic() - began < PATIENCE:
        if fault.ends is None and each.points() + each.done() > before:
            break
        time.sleep(0.2)
    seconds = time.monotonic() - began
    try:
        code = each.command.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        end(each)
        return "hung", seconds
    if fault.ends is not None and code == 0:
        return "-", seconds  # it was about to end anyway
    if code != (fault.ends or 0):
        return f"ended with {code}", seconds
    deadline = time.monotonic() + 30
    while (left := [each.worker(), *_of(each)]) and any(left) and time.monotonic() < deadline:
        time.sleep(0.5)
    if any(left):
        return f"left processes: {left}", seconds
    said = (each.home / "err.txt").read_text() + (each.home / "out.txt").read_text()
    if "Traceback" in said or "*** SIG" in said or "rpc_client" in said:
        return "said what is not its own", seconds
    for _ in range(0 if code == 0 else 2):
        each.start()
        try:
            if each.command.wait(PATIENCE) == 0:
                break
        except subprocess.TimeoutExpired:
            end(each)
            return "the same command hung", seconds
    else:
        if code != 0:
            return "the same command failed", seconds
    return differences(undisturbed, each.home), seconds


def _of(each: Round) -> list[int]:
    """Processes that show that they belong to the command."""
    mark = f"{NAME}{each.command.pid}-".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def end(each: Round) -> None:
    """End a command that hangs, and its Ray."""
    for pid in [process.pid for process in each.ray()] + [each.command.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    each.command.wait()


def differences(one: Path, other: Path) -> str:
    """Whether the trials of two workspaces are not the same, bit for bit: weights, numbers, evaluations."""
    names = {path.name for home in (one, other) for path in (home / "runs").iterdir() if len(path.name) == 16}
    if len(names) != TRIALS:
        return f"{len(names)} trials"
    for name in names:
        results = [json.loads((home / "runs" / name / "result.json").read_text()) for home in (one, other)]
        for key in ("weights", "nats", "top1", "top4", "train_nats", "samples"):
            if results[0][key] != results[1][key]:
                return f"{key} of {name} differ"
        arrays = [
            {path.name: path.read_bytes() for path in (h / "runs" / name).glob("eval/*.npz")} for h in (one, other)
        ]
        if arrays[0] != arrays[1] or not arrays[0]:
            return f"evaluations of {name} differ"
    return ""


def fresh(base: Path, home: Path) -> Path:
    """A workspace with the data and the speeds of another one."""
    home.mkdir(parents=True)
    for name in ("stores", "speeds"):
        if (base / name).exists():
            shutil.copytree(base / name, home / name)
    return home


def round_of(fault: Fault, runner: str, base: Path, home: Path, draw: random.Random) -> tuple[str, float]:
    """One round: "-" when the study was over before the fault came."""
    each = Round(fresh(base, home), runner, draw.choice((1, 2)))
    wanted, delay = draw.randrange(0, 14), draw.uniform(0.0, 1.5)
    each.start()
    while each.points() < wanted and each.command.poll() is None:
        time.sleep(0.02)
    while wanted == 0 and each.runner == "ray" and each.command.poll() is None and not each.role("raylet"):
        time.sleep(0.02)
    time.sleep(delay)
    while each.command.poll() is None:
        if fault.inflict(each):
            return survived(each, fault, base)
        time.sleep(0.02)
    return "-", 0.0


def main(arguments: list[str] | None = None) -> int:
    """Exit code: 0 when everything survived."""
    parser = argparse.ArgumentParser(prog="python -m scripts.torture", description=__doc__.split("\n\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--faults", help="parts of names, with commas between; default: all")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell's background jobs ignore Ctrl-C, and so do children
        signal.signal(signal.SIGINT, signal.default_int_handler)
    draw, console = random.Random(options.seed), Console()
    base = options.folder.resolve() / "undisturbed"
    if not (base / "runs").exists():
        base.mkdir(parents=True)
        whole = Round(base, "local", 2)
        whole.start()
        if whole.command.wait() != 0:
            console.print(f"the undisturbed run failed: {(base / 'err.txt').read_text()}", markup=False)
            return 1
    chosen = [
        (fault, runner)
        for fault in FAULTS
        if not options.faults or any(part in fault.name for part in options.faults.split(","))
        for runner in fault.runners
    ]
    tried: dict[tuple[str, str], list[tuple[str, float]]] = {}
    deadline, number = time.monotonic() + 60 * options.minutes, 0
    while time.monotonic() < deadline:
        draw.shuffle(chosen)
        for fault, runner in chosen:
            if time.monotonic() >= deadline:
                break
            number += 1
            home = options.folder.resolve() / f"round-{number:03d}"
            problem, seconds = round_of(fault, runner, base, home, draw)
            console.print(f"{number} {fault.name}, {runner}: {problem or 'survived'} {seconds:.1f} s", markup=False)
            if problem != "-":
                tried.setdefault((fault.name, runner), []).append((problem, seconds))
            if problem in ("", "-"):
                shutil.rmtree(home)
    table = Table("fault", "runner", "tried", "survived, numbers equal", "slowest answer, s")
    for (name, runner), rounds in sorted(tried.items()):
        good = [seconds for problem, seconds in rounds if not problem]
        table.add_row(name, runner, str(len(rounds)), str(len(good)), f"{max(s for _, s in rounds):.0f}")
    console.print(table)
    return int(any(problem for rounds in tried.values() for problem, _ in rounds))


if __name__ == "__main__":
    sys.exit(main())
