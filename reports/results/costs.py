"""What each arm costs: parameters, operations per sample, samples per second alone."""

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import gonn_core
from gonn_core.config import TrialConfig
from gonn_core.files.whole import write_whole
from reports.results.study_results import StudyResults

FLOPS_COUNTED = (
    "FLOPs per sample: one forward pass; multiplications and additions of convolutions and matrices, the padded rim included, "
    "without norms, activations and pooling. Training takes about three times as many."
)


@dataclass(frozen=True)
class Cost:
    """Of an arm, or the mean over several: trainable parameters, FLOPs of a forward pass, samples/s alone (None: not
    measured)."""

    parameters: float
    flops: float
    samples_per_s: float | None


def arm_cost(results: StudyResults, arm: str) -> Cost:
    """Counted from the arm's configuration; the speed is the measured one."""
    speed = results.speeds.get(arm)
    return Cost(*net_cost(results.study.arm(arm).config, results.kept), speed.samples_per_s if speed else None)


def mean_cost(results: StudyResults, arms: Sequence[str]) -> Cost:
    """Mean over arms."""
    costs = [arm_cost(results, arm) for arm in arms]
    speeds = [cost.samples_per_s for cost in costs]
    speed = None if None in speeds else sum(speeds) / len(speeds)
    return Cost(
        sum(cost.parameters for cost in costs) / len(costs), sum(cost.flops for cost in costs) / len(costs), speed
    )


@cache
def net_cost(config: TrialConfig, kept: Path | None = None) -> tuple[int, int]:
    """Parameters and FLOPs of a forward pass of a configuration's net. `kept`: folder in which they are kept, for
    counting builds the net."""
    if kept is None:
        return _counted(config)
    note = kept / f"{hashlib.sha256(_code() + repr((config.net, config.features)).encode()).hexdigest()[:32]}.cost"
    with suppress(OSError, ValueError):
        parameters, flops = map(int, note.read_text().split())
        return parameters, flops
    found = _counted(config)
    with suppress(OSError):
        kept.mkdir(parents=True, exist_ok=True)
        write_whole(note, b"%d %d" % found, flush=False)
    return found


def _counted(config: TrialConfig) -> tuple[int, int]:
    from gonn_core.features.sets import plane_names  # with torch and numba: only when a table is made
    from gonn_core.nets.cost import count_parameters, flops_per_sample

    planes = len(plane_names(config.features))
    return count_parameters(config.net, planes), flops_per_sample(config.net, planes)


@cache
def _code() -> bytes:
    """Digest of the code that makes nets and counts: what was kept is of no use once it changes."""
    core = Path(gonn_core.__file__).parent
    sources = sorted(path for folder in ("nets", "features", "settings") for path in (core / folder).rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in [*sources, core / "config.py"])).digest()


def speed_note(results: StudyResults) -> str:
    """How the speeds were measured."""
    missing = [arm.id for arm in results.study.arms if arm.id not in results.speeds]
    if len(missing) == len(results.study.arms):
        return "Samples/s alone: not measured."
    devices = sorted({speed.device for speed in results.speeds.values()})
    text = f"Samples/s alone: training steps of one arm at a time, median of several windows, measured on {', '.join(devices)}"
    loads = [speed.load for speed in results.speeds.values() if speed.load is not None]
    text += f" (load average {max(loads):.1f} at most)." if loads else "."
    return text + (f" Not measured: {', '.join(missing)}." if missing else "")
