"""Speeds of nets on this machine: those known today, and the others measured now.

A pair of nets has one factor all day: what is measured later is measured in turns with a net that is known, and told as
what it would have been when that was measured.
"""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing import get_context
from statistics import median

from gonn_core.compiling.body import Compile
from gonn_core.config import TrialConfig
from gonn_core.files.locks import locked
from orchestration.progress import Bar, display
from orchestration.runners.gpus import device_title
from orchestration.speeds.kept import keep_speeds, kept_speeds, latest_speeds, net_key, today_file
from reports.workspace import Workspace

TURNS = 5
TURN_SECONDS, LEAST_SECONDS = 0.5, 0.1
"""Of one net in a turn; the least where there are many, or trials are short."""
MOST_SHARE = 0.02
"""Of the time in which a trial trains, that a turn takes, where the least allows it."""
MOST_SECONDS = 40.0
"""Of all nets and turns together, warming up not counted, where the least allows it."""

Say = Callable[[str], object]


def speeds_of(
    workspace: Workspace,
    configs: Mapping[str, TrialConfig],
    device: str,
    say: Say,
    any_day: bool = False,
    compile: Compile = "none",
) -> dict[str, dict]:
    """Name -> entry (see `orchestration.speeds.kept`) of the nets of these configurations on a device.

    What is not known today is measured, nets in turns, with a bar. any_day: what was measured on another day will do,
    for nothing is to be trained. Raises SettingError (DEVICE), InputError.
    """
    name = device_title(device)
    path = today_file(workspace, name)
    keys = {arm: net_key(config, compile) for arm, config in configs.items()}
    nets = {key: configs[arm] for arm, key in keys.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent / ".lock"):  # another command that measures waits, for neither would measure alone
        known = kept_speeds(path)
        usable = {**(latest_speeds(workspace, name) if any_day else {}), **known}
        if missing := [key for key in nets if key not in usable]:
            anchor = next((key for key in nets if key in known), None)
            measured = measure([key for key in (anchor, *missing) if key], nets, name, say, compile)
            known |= anchored(measured, anchor, known)
            keep_speeds(path, name, known)
            usable |= known
    return {arm: usable[key] for arm, key in keys.items()}


def measure(
    keys: Sequence[str], nets: Mapping[str, TrialConfig], name: str, say: Say, compile: Compile = "none"
) -> dict[str, dict]:
    """Entries of nets measured now, in turns: what else the machine does then falls on all of them, and their ratios
    stay true. name: of the device, as `device_title` says."""
    import torch

    shown, seconds = _Measuring(len(keys)), _most_seconds(len(keys))
    nets_word = "a net" if len(keys) == 1 else f"{len(keys)} nets"
    say(f"measuring how fast {nets_word} train{'s' * (len(keys) == 1)} here, each alone; kept for today")
    rates: dict[str, list[tuple[float, float]]] = {key: [] for key in keys}
    with display(shown, transient=True) as bars, _measuring_on(name) as speed_of:
        for _ in range(TURNS):
            for key in keys:
                rates[key].append(speed_of(nets[key], _turn_seconds(nets[key], rates[key], seconds), compile))
                shown.done += 1
                bars.refresh()
    common = {
        "session": uuid.uuid4().hex[:12],
        "anchor": None,
        **({} if compile == "none" else {"compile": compile}),
        "device": name,
        "torch": torch.__version__,
        "load": os.getloadavg()[0],
        "measured": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return {key: _entry(key, rates[key], name == "cpu", common) for key in keys}


def measuring_seconds(nets: Sequence[tuple[TrialConfig, float]]) -> float:
    """How long `measure` takes for nets that train so many samples/s, warming up included."""
    from gonn_core.training.speed import WARM_UP_STEPS

    most = _most_seconds(len(nets))
    return TURNS * sum(
        _turn_seconds(config, [(rate, rate)], most) + WARM_UP_STEPS * config.training.batch_size / rate
        for config, rate in nets
    )


def _most_seconds(nets: int) -> float:
    return max(LEAST_SECONDS, min(TURN_SECONDS, MOST_SECONDS / (TURNS * max(1, nets))))


def _turn_seconds(config: TrialConfig, rates: Sequence[tuple[float, float]], most: float) -> float:
    """How long the next turn of a net takes; rates: of its turns so far."""
    training = config.training.samples / rates[-1][0] if rates else 0.0
    return min(most, max(LEAST_SECONDS, MOST_SHARE * training))


def _entry(key: str, rates: Sequence[tuple[float, float]], of_cpu_time: bool, common: Mapping) -> dict:
    turns = [cpu if of_cpu_time else wall for wall, cpu in rates]
    return {
        "samples_per_s": median(turns),
        "samples_per_cpu_s": median(cpu for _, cpu in rates),
        "turns": turns,
        "net": key,
        **common,
    }


@contextmanager
def _measuring_on(name: str) -> Iterator[Callable[[TrialConfig, float, Compile], tuple[float, float]]]:
    """`one_speed` on a device of this name: on a GPU in a process of its own, which gives back all it took of the GPU's
    memory when it ends."""
    if name == "cpu":
        yield lambda config, seconds, compile: one_speed(config, "cpu", seconds, compile)
        return
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield lambda config, seconds, compile: pool.submit(one_speed, config, "cuda", seconds, compile).result()


def one_speed(config: TrialConfig, kind: str, seconds: float, compile: Compile = "none") -> tuple[float, float]:
    """Samples per second of wall time and of CPU time, of one net alone on a device: `cpu` or `cuda`."""
    from gonn_core.training.environment import choose_device
    from gonn_core.training.speed import measure_speed

    speed = measure_speed(config, choose_device(kind), seconds, windows=2, compile=compile)
    return speed.samples_per_s, speed.samples_per_cpu_s


def anchored(measured: Mapping[str, dict], anchor: str | None, known: Mapping[str, dict]) -> dict[str, dict]:
    """What was measured beside a net that is known, by the speed that it is known to have: a faster or slower hour of
    the machine changes no factor. The known net is left out."""
    if anchor is None:
        return dict(measured)
    before, now = known[anchor]["samples_per_s"], measured[anchor]["turns"]
    found = {}
    for key, entry in measured.items():
        if key != anchor:
            turns = [before * rate / beside for rate, beside in zip(entry["turns"], now, strict=True)]
            changed = {"samples_per_s": median(turns), "turns": turns, "anchor": anchor}
            found[key] = {**entry, **changed}
    return found


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
