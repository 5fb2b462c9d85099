"""What is measured, section by section. One that fails is named with its reason, and the rest goes on."""

import os
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch

from benchmarks.gpu.bases import configuration, smallest
from benchmarks.gpu.beside import beside
from benchmarks.gpu.evaluating import from_games, of_the_net
from benchmarks.gpu.games import Games, find_games
from benchmarks.gpu.loading import loaded
from benchmarks.gpu.machine import peaks
from benchmarks.gpu.steps import measured_steps, repeated_bits
from gonn_core.config import with_values
from gonn_core.training.compiling import Compile

SECTIONS = ("steps", "loader", "evaluation", "repeats", "beside")
BESIDE = {"gpu": (1, 2, 4, 8), "small": (1, 2)}
"""How many trials side by side."""
EVALUATED = {"gpu": 20_000, "small": 256}
"""Positions of an evaluation from games."""


@dataclass
class Plan:
    """What was asked for. threads: of one operation on a CPU; loaders: threads that make batches, at most."""

    device: torch.device
    size: str
    bases: tuple[str, ...]
    seconds: float
    stores: Path
    store: Path | None = None
    games: Path | None = None
    loaders: int = 1
    threads: int = 1
    only: tuple[str, ...] = SECTIONS


@dataclass
class Found:
    """results: section -> base or word -> what was found, or {"failed": why}. skipped: section -> why it was not
    asked for or makes no sense here."""

    results: dict[str, dict] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    traces: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[str]:
        """Section, base and reason of everything that failed."""
        return [
            f"{section}, {name}: {value['failed']}"
            for section, rows in self.results.items()
            for name, value in rows.items()
            if isinstance(value, Mapping) and "failed" in value
        ]


Say = Callable[[str], object]


def measure(plan: Plan, say: Say, found: Found) -> None:
    """Measure everything into `found`, which is worth writing after each section."""
    peak = _peaks(plan, say, found)
    configs = {}
    for base in plan.bases:
        configs[base] = configuration(base, plan.size)
    if "steps" in plan.only:
        for base, config in configs.items():
            _steps(plan, base, config, peak, say, found)
    games = _games(plan, say, found)
    for base, config in configs.items():
        if games is not None and "loader" in plan.only:
            for threads in sorted({1, plan.loaders}):
                name = f"{base}, {threads} thread{'s' * (threads > 1)}"
                _into(
                    found,
                    "loader",
                    name,
                    say,
                    lambda c=config, t=threads: loaded(c, plan.device, games, plan.seconds, t),
                )
        if "evaluation" in plan.only:
            _into(found, "evaluation", base, say, lambda c=config: _evaluation(plan, c, games))
        if "repeats" in plan.only:
            _into(found, "repeats", base, say, lambda c=config: _repeats(plan, c))
    if "beside" in plan.only:
        _beside(plan, say, found)


def _peaks(plan: Plan, say: Say, found: Found) -> dict[str, float]:
    """Always measured: shares are of them. Raises what stops it, for nothing else would work either."""
    say("matrix products and copies")
    found.results["peaks"] = peaks(plan.device, plan.size, plan.seconds)
    return found.results["peaks"]


def _steps(plan: Plan, base: str, config, peak, say: Say, found: Found) -> None:
    """As a trial makes them; at the full size also in fp32, with a compiled body, and on a GPU as CUDA graphs."""
    ways: list[tuple[str, dict, Compile]] = [(base, {}, "none")]
    if plan.size == "gpu":
        ways += [(f"{base}, fp32", {"training.precision": "fp32"}, "none"), (f"{base}, compiled", {}, "body")]
        ways += [(f"{base}, graphs", {}, "graphs")] if plan.device.type == "cuda" else []
    for name, changed, compile in ways:
        varied = with_values(config, changed) if changed else config

        def work(varied=varied, compile=compile) -> dict:
            return measured_steps(varied, plan.device, plan.seconds, plan.threads, peak, compile)

        _into(found, "steps", name, say, work)


def _games(plan: Plan, say: Say, found: Found) -> Games | None:
    if not {"loader", "evaluation"} & set(plan.only):
        return None
    say("the store of positions")
    try:
        return find_games(plan.stores, plan.store, plan.games)
    except Exception as error:
        found.results["loader"] = {"games": _failed(found, error)}
        return None


def _evaluation(plan: Plan, config, games: Games | None) -> dict:
    rates = of_the_net(config, plan.device, plan.seconds, plan.threads, plan.size)
    if games is not None:
        rates["from_games"] = from_games(config, plan.device, games, EVALUATED[plan.size], plan.loaders)
    return rates


def _repeats(plan: Plan, config) -> dict:
    bits = repeated_bits(config, plan.device, plan.threads)
    differing = {way: names for way in ("twice", "resumed") if (names := bits[way])}
    if differing:
        told = "; ".join(f"{way}: {len(names)} tensors, {names[0]} first" for way, names in differing.items())
        return {**bits, "failed": f"other bits ({told})"}
    return bits


def _beside(plan: Plan, say: Say, found: Found) -> None:
    """Of the small net, which leaves most of a GPU idle."""
    config = smallest() if plan.size == "gpu" else configuration("gonn-b5", plan.size)
    for trials in BESIDE[plan.size]:
        if trials <= max(2, os.cpu_count() or 1):
            name = f"{trials} at a time"
            _into(found, "beside", name, say, lambda n=trials: beside(config, str(plan.device), n, plan.seconds))


def _into(found: Found, section: str, name: str, say: Say, work: Callable[[], dict]) -> None:
    """Do it, and note what came of it; what a failure held on the GPU is given back."""
    say(f"{section}: {name}")
    try:
        result = work()
    except Exception as error:
        result = _failed(found, error)
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
    found.results.setdefault(section, {})[name] = result


def _failed(found: Found, error: Exception) -> dict:
    found.traces.append(traceback.format_exc())
    return {
        "failed": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]
    }
