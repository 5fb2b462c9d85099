"""Training speeds of nets on this machine, measured in about ten seconds and cached for the day; from them the time of
trials. And the smallest effect that the seeds of a study show.

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
import math
import os
import platform
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from statistics import median

import numpy as np

from ablations.noise import noise_of
from ablations.study import Study, TrialRef
from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import Damaged
from gonn_core.files.json_files import read_record, tell, write_json
from gonn_core.files.whole import locked
from gonn_core.training.compiling import Compile
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import RunSettings
from orchestration.console import Bar, Display
from orchestration.runners.gpus import device_title, places
from reports.results.decisions import KnownNoise, planned_effect
from reports.results.nets import net_cost
from reports.stats.model import RunNoise, smallest_effect
from reports.tables.formats import about
from reports.workspace import Workspace

FORMAT = 1
TURNS, MOST_TURNS = 5, 60
"""Turns of each net, and of all together: the many arms of a screen have fewer each."""
MOST_SECONDS = 10.0
"""Of all turns of all nets, without warming up, where `LEAST_SECONDS` allows it."""
TURN_SECONDS, LEAST_SECONDS = 0.5, 0.1
"""Longest and shortest turn of a net."""
MOST_SHARE = 0.02
"""Of the time in which a trial trains: the longest turn where trials are short."""
_TRAINING = ("samples", "init_seed", "data_seed", "schedule", "start_from")
"""Settings of training that do not change the time of a step."""
MOST_NETS = 6
"""Nets that are measured for an estimate; the speeds of others follow from their operations."""
EVALUATION_SHARE = 0.3
"""Time of evaluating a position over that of training on one: the median of 31 bases on a CPU (0.15 to 0.44)."""
SYMMETRIES = 8

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
    """Net -> entry, measured now in turns: other load on the machine then affects all nets alike. device: its name. On
    a GPU a child process measures, which frees the GPU's memory when it ends."""
    import torch

    count = len(configs)
    turns = max(1, min(TURNS, MOST_TURNS // count))
    time = "about ten seconds" if turns == TURNS else "a second or two each"
    say(f"measuring how fast {count} net{'s' * (count > 1)} train{'s' * (count == 1)} here, {time}; cached for today")
    longest = max(LEAST_SECONDS, min(TURN_SECONDS, MOST_SECONDS / (turns * count)))
    rates: dict[str, list[tuple[float, float]]] = {key: [] for key in configs}

    def bars() -> list[Bar]:
        done, total = sum(map(len, rates.values())), turns * count
        return [Bar("measuring speeds", done, total, f"{done} of {total}")]

    pool = ProcessPoolExecutor(1, get_context("spawn")) if device != "cpu" else None
    with Display(bars, transient=True) as display, pool or nullcontext():
        for _ in range(turns):
            for key, config in configs.items():
                training = config.training.samples / rates[key][-1][0] if rates[key] else 0.0
                seconds = min(longest, max(LEAST_SECONDS, MOST_SHARE * training))
                if pool is None:
                    rates[key].append(one_speed(config, "cpu", seconds, compile))
                else:
                    rates[key].append(pool.submit(one_speed, config, "cuda", seconds, compile).result())
                display.refresh()
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
        of_turns = [cpu if device == "cpu" else wall for wall, cpu in pairs]
        of_cpu_time = median(cpu for _, cpu in pairs)
        speeds = {"samples_per_s": median(of_turns), "samples_per_cpu_s": of_cpu_time, "turns": of_turns}
        entries[key] = {**speeds, "net": key, **common}
    return entries


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
    return tree["nets"] if tree else {}


@dataclass(frozen=True)
class TimeEstimate:
    """Seconds that trials take on `slots` slots. uncompiled: the nets will be compiled, but were measured without."""

    seconds: float
    slots: int
    uncompiled: bool = False

    @property
    def minutes(self) -> str:
        """`about 12 min`, `less than a minute`."""
        minutes = self.seconds / 60
        if minutes < 1:
            return "less than a minute"
        return f"about {minutes:.1f} min" if minutes < 10 else f"about {minutes:,.0f} min"

    @property
    def source(self) -> str:
        """What the estimate is based on."""
        return "by speeds measured here" + ("; by nets that are not compiled" if self.uncompiled else "")


def estimate(
    study: Study, left: Sequence[TrialRef], settings: RunSettings, workspace: Workspace, say: Say
) -> TimeEstimate:
    """Time of the trials of a study that are left, measuring the speeds of some of their arms, not compiled, if they
    are not known today. settings: how the trials are evaluated. Raises SettingError (DEVICE), InputError."""
    arms = {trial.arm: study.arm(trial.arm).config for trial in left}
    operations = {arm: net_cost(config)[1] for arm, config in arms.items()}
    distinct = sorted({net_key(config): arm for arm, config in arms.items()}.values(), key=operations.__getitem__)
    places_of = np.linspace(0, len(distinct) - 1, min(len(distinct), MOST_NETS)).round().astype(int)
    chosen = {distinct[place]: arms[distinct[place]] for place in places_of}
    speeds = speeds_of(workspace, chosen, settings.device, say)
    rates = {net_key(arms[arm]): (entry["samples_per_s"], operations[arm]) for arm, entry in speeds.items()}

    def seconds(arm: str) -> float:
        """Of one trial: training, the points of its curve, and its evaluations, of which those of one view share most
        positions. A net that was not measured has the rate of the one with the nearest number of operations, scaled."""
        config, own = arms[arm], operations[arm]
        nearest = min(rates.values(), key=lambda rate: abs(math.log(rate[1] / own)))
        rate, measured = rates.get(net_key(config), nearest)
        averages = config.evaluation.symmetry_averaging
        asked = settings.evaluations
        views = {(each.view, each.symmetry_averaging or averages): each.minimum_positions for each in asked}
        passes = sum(count * (SYMMETRIES if averaged else 1) for (_, averaged), count in views.items())
        passes += settings.looks * settings.progress_positions
        return (config.training.samples + EVALUATION_SHARE * passes) / (rate * measured / own)

    slots = places(left, None, settings.device).slots
    return TimeEstimate(sum(map(seconds, (trial.arm for trial in left))) / slots, slots, settings.compile != "none")


def smallest_line(study: Study, known: KnownNoise | None) -> str:
    """The smallest effect that the study's seeds show: by the noise measured here, else by `ablations.noise`."""
    power = f"{100 * study.thresholds.power:.0f} % power"
    shown = f"smallest effect that {len(study.seeds)} seeds show with {power}"
    effect = planned_effect(study, known)
    if known is not None and effect is not None:
        return f"{shown}, from the seed noise so far: {effect:.4f} nats ({effect / known.run.run:.1f} σ of a run)"
    samples = study.arms[0].config.training.samples
    row = noise_of(study.base, study.budget_label, samples)
    as_declared = row is not None or study.precision is None
    row = row if as_declared else noise_of(study.base, study.budget, samples)
    if row is None or len(study.seeds) < 2:
        return "smallest effect: unknown, no seed noise measured yet on this base, budget and data"
    noise, exact = row  # of a difference of two runs
    games = noise.evaluation_variance * noise.games / study.evaluations[0].games
    run = RunNoise(math.sqrt(noise.seed_variance / 2), noise.df)
    effect = smallest_effect(run, games, len(study.seeds), study.thresholds)
    of = f"{noise.base} at {about(noise.samples)} samples on {noise.data}"
    of += "" if as_declared else f", not in {study.precision}"
    kind = "an estimate" if exact and as_declared else "a rough estimate"
    of_runs = f"{effect / run.run:.1f} σ of a run"
    return f"{shown}: about {effect:.2g} nats ({of_runs}), {kind} from the noise that ships ({of})"


def unfinished(study: Study, states: Mapping[str, str]) -> list[TrialRef]:
    """Trials that are not done, by the state of each."""
    return [trial for trial in study.trials if states[trial.trial] != "done"]


def states_of(trials: Iterable[TrialRef], workspace: Workspace) -> dict[str, str]:
    """Trial id -> state."""
    return {trial.trial: TrialDirectory(workspace.runs / trial.trial).state() for trial in trials}
