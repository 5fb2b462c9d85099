"""`$GONN_HOME/speeds/`: how fast each net trains on a machine, one file a machine, device and day.

speeds/2026-03-01-0a1b2c3d.json    {"format": 1, "machine": "…", "device": "cpu", "nets": {"<net>": entry, …}}

An entry is also what a study's speed.json holds for each arm:
samples_per_s      alone: on a CPU of the process's own CPU time, in which other work on the machine does not count;
                   on a GPU of wall time
samples_per_cpu_s  of CPU time, on either
turns              samples_per_s of each turn; nets of one session took turns
net, session       what was measured, and in which session
anchor             a net that was known before, measured again in every turn of this session: the turns are given as
                   they would have been when it was measured first. null: none
compile            of these nets; none where it is missing
device, torch, load (the machine's load average just after), measured (when)
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping
from datetime import date
from functools import cache
from pathlib import Path

from gonn_core.compiling.body import Compile
from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import Damaged, InputError
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.told import tell
from reports.workspace import Workspace

FORMAT = 1
_TRAINING = ("samples", "init_seed", "data_seed", "schedule", "start_from")
"""Settings of training that a step takes no longer for."""


@cache
def net_key(config: TrialConfig, compile: Compile = "none") -> str:
    """Sixteen digits over what decides how long a training step takes: net, planes, batch, losses, kind of optimiser,
    precision, what is compiled; not the games, seeds, rate or schedule."""
    tree = effective(config).model_dump(mode="json", include={"net", "features", "training"})
    training = {name: value for name, value in tree["training"].items() if name not in _TRAINING}
    training["optimiser"].pop("learning_rate")
    compiled = [] if compile == "none" else [compile]
    decided = json.dumps([tree["net"], tree["features"], training, *compiled], sort_keys=True)
    return hashlib.sha256(decided.encode()).hexdigest()[:16]


@cache
def machine() -> str:
    """This machine in words: its name, processor and cores."""
    return f"{platform.node()}, {_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def today_file(workspace: Workspace, device: str, day: date | None = None) -> Path:
    """Where speeds of this machine's `device` (its name) are kept, of today or another day."""
    return _folder(workspace) / f"{day or date.today()}-{place(device)}.json"


def kept_speeds(path: Path) -> dict[str, dict]:
    """Net -> entry; empty where nothing was measured, and where the file is damaged, which is told. Raises InputError
    for a file that is none of ours."""
    try:
        tree = read_record(path, FORMAT, ("nets",))
    except Damaged as damage:
        tell(damage, "speeds are measured again")
        return {}
    nets = tree["nets"] if tree else {}
    if not isinstance(nets, dict) or not all(_is_entry(entry) for entry in nets.values()):
        raise InputError(path, "no speeds of nets; remove the file to measure again")
    return nets


def latest_speeds(workspace: Workspace, device: str) -> dict[str, dict]:
    """Net -> its latest entry on this machine's `device`, of whatever day."""
    latest: dict[str, dict] = {}
    for path in sorted(_folder(workspace).glob(f"*-{place(device)}.json")):
        latest |= kept_speeds(path)
    return latest


def keep_speeds(path: Path, device: str, nets: Mapping[str, dict]) -> None:
    """Write a day's file. Raises InputError when the disk does not take it."""
    write_json(path, {"format": FORMAT, "machine": machine(), "device": device, "nets": dict(nets)})


def _folder(workspace: Workspace) -> Path:
    return workspace.root / "speeds"


def place(device: str) -> str:
    """What stands for this machine's `device` (its name) in names of files."""
    return hashlib.sha256(f"{machine()}, {device}".encode()).hexdigest()[:8]


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    rates = [entry.get("samples_per_s"), *(entry.get("turns") or [None])]
    return all(isinstance(rate, int | float) and 0 < rate < float("inf") for rate in rates)
