"""Training speeds of nets on this machine: measured in about ten seconds, and cached for the day.

`$GONN_HOME/speeds/2026-03-01-0a1b2c3d.json` holds the speeds of a machine and device measured on a day:
{"format": 1, "machine": "…", "device": "cpu", "nets": {"<net>": entry, …}}. A study's speed.json holds an entry for
each arm:

samples_per_s      of the net alone: on a CPU of this process's CPU time, in which other programs do not count; on a GPU
                   of wall time
samples_per_cpu_s  of CPU time, on either
turns              samples_per_s of each turn; nets of one session took turns
net, session       the net that was measured, and the session
compile            what was compiled; absent for nothing
device, torch, load (the machine's load average just after), measured (when)
"""

import hashlib
import json
import os
import platform
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, date, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median

from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import Damaged, InputError
from gonn_core.files.json_files import read_record, tell, write_json
from gonn_core.files.whole import locked
from gonn_core.training.compiling import Compile
from orchestration.progress import Bar, display
from orchestration.runners.gpus import device_title
from reports.workspace import Workspace

FORMAT = 1
TURNS = 5
MOST_SECONDS = 10.0
"""Of all turns of all nets, without warming up, where `LEAST_SECONDS` allows it."""
TURN_SECONDS, LEAST_SECONDS = 0.5, 0.1
"""Longest and shortest turn of a net."""
MOST_SHARE = 0.02
"""Of the time in which a trial trains: the longest turn where trials are short."""
_TRAINING = ("samples", "init_seed", "data_seed", "schedule", "start_from")
"""Settings of training that do not change the time of a step."""

Say = Callable[[str], object]


def speeds_of(
    workspace: Workspace, configs: Mapping[str, TrialConfig], device: str, say: Say, compile: Compile = "none"
) -> dict[str, dict]:
    """Name -> entry of the nets of these configurations on a device. When one of them was not measured today, all of
    them are measured now, so that their ratios hold. Raises SettingError (DEVICE), InputError."""
    name = device_title(device)
    path = today_file(workspace, name)
    keys = {arm: net_key(config, compile) for arm, config in configs.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent / ".lock"):  # two commands that measure at once would disturb each other
        nets = cached_speeds(path)
        if not nets.keys() >= set(keys.values()):
            nets |= measure({keys[arm]: config for arm, config in configs.items()}, name, say, compile)
            write_json(path, {"format": FORMAT, "machine": machine(), "device": name, "nets": nets})
    return {arm: nets[key] for arm, key in keys.items()}


def measure(configs: Mapping[str, TrialConfig], device: str, say: Say, compile: Compile = "none") -> dict[str, dict]:
    """Net -> entry, measured now in turns: other load on the machine then affects all nets alike. device: its name."""
    import torch

    seconds = max(LEAST_SECONDS, min(TURN_SECONDS, MOST_SECONDS / (TURNS * len(configs))))
    say(
        f"measuring how fast {len(configs)} net{'s' * (len(configs) > 1)} train{'s' * (len(configs) == 1)} here, "
        "about ten seconds; cached for today"
    )
    shown, rates = _Measuring(len(configs)), {key: [] for key in configs}  # type: tuple[_Measuring, dict[str, list]]
    with display(shown, transient=True) as bars, _measuring_on(device) as speed_of:
        for _ in range(TURNS):
            for key, config in configs.items():
                training = config.training.samples / rates[key][-1][0] if rates[key] else 0.0
                turn = min(seconds, max(LEAST_SECONDS, MOST_SHARE * training))
                rates[key].append(speed_of(config, turn, compile))
                shown.done += 1
                bars.refresh()
    common = {
        "session": uuid.uuid4().hex[:12],
        **({} if compile == "none" else {"compile": compile}),
        "device": device,
        "torch": torch.__version__,
        "load": os.getloadavg()[0],
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    entries = {}
    for key, pairs in rates.items():
        turns = [cpu if device == "cpu" else wall for wall, cpu in pairs]
        of_cpu_time = median(cpu for _, cpu in pairs)
        speeds = {"samples_per_s": median(turns), "samples_per_cpu_s": of_cpu_time, "turns": turns}
        entries[key] = {**speeds, "net": key, **common}
    return entries


@contextmanager
def _measuring_on(device: str) -> Iterator[Callable[[TrialConfig, float, Compile], tuple[float, float]]]:
    """`one_speed` on a device: on a GPU in a child process, which frees the GPU's memory when it ends."""
    if device == "cpu":
        yield lambda config, seconds, compile: one_speed(config, "cpu", seconds, compile)
        return
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield lambda config, seconds, compile: pool.submit(one_speed, config, "cuda", seconds, compile).result()


def one_speed(config: TrialConfig, kind: str, seconds: float, compile: Compile = "none") -> tuple[float, float]:
    """Samples per second of wall time and of CPU time, of one net alone on a device: `cpu` or `cuda`."""
    from gonn_core.training.environment import choose_device
    from gonn_core.training.speed import measure_speed

    return measure_speed(config, choose_device(kind), seconds, compile)


@cache
def net_key(config: TrialConfig, compile: Compile = "none") -> str:
    """Sixteen digits of a hash of what decides how long a training step takes: net, planes, batch, losses, kind of
    optimiser, precision, what is compiled; not the games, seeds, rate or schedule."""
    tree = effective(config).model_dump(mode="json", include={"net", "features", "training"})
    training = {name: value for name, value in tree["training"].items() if name not in _TRAINING}
    training["optimiser"].pop("learning_rate")
    compiled = [] if compile == "none" else [compile]
    decided = json.dumps([tree["net"], tree["features"], training, *compiled], sort_keys=True)
    return hashlib.sha256(decided.encode()).hexdigest()[:16]


@cache
def machine() -> str:
    """This machine in words: its name, processor and cores."""
    from gonn_core.training.environment import describe_processor

    return f"{platform.node()}, {describe_processor()}, {os.cpu_count()} cores"


def today_file(workspace: Workspace, device: str) -> Path:
    """The file of today's speeds of this machine's `device` (its name)."""
    place = hashlib.sha256(f"{machine()}, {device}".encode()).hexdigest()[:8]
    return workspace.root / "speeds" / f"{date.today()}-{place}.json"


def cached_speeds(path: Path) -> dict[str, dict]:
    """Net -> entry; empty when nothing was measured, or the file is damaged, which is logged. Raises InputError for a
    file of another kind."""
    try:
        tree = read_record(path, FORMAT, ("nets",))
    except Damaged as damage:
        tell(damage, "speeds are measured again")
        return {}
    nets = tree["nets"] if tree else {}
    if not isinstance(nets, dict) or not all(_is_entry(entry) for entry in nets.values()):
        raise InputError(path, "no speeds of nets; remove the file to measure again")
    return nets


def _is_entry(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    rates = [entry.get("samples_per_s"), *(entry.get("turns") or [None])]
    return all(isinstance(rate, int | float) and 0 < rate < float("inf") for rate in rates)


class _Measuring:
    """What a display shows of a measurement."""

    def __init__(self, nets: int):
        self._total, self.done = TURNS * nets, 0

    def line(self) -> str:
        """See `Work`."""
        return f"measuring speeds: {self.done} of {self._total}"

    def bars(self) -> list[Bar]:
        """See `Work`."""
        return [Bar("measuring speeds", self.done, self._total, f"{self.done} of {self._total}")]
