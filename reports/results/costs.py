"""What each arm costs: parameters, operations per sample, samples per second alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gonn_core.config import TrialConfig
from gonn_core.training.compiling import device_label
from reports.cache import cached, code, digest
from reports.results.speed_and_looks import speed_range
from reports.results.study_results import StudyResults

FLOPS_COUNTED = (
    "FLOPs per sample: one forward pass; multiplications and additions of convolutions and matrices, the padded rim "
    "included, "
    "without norms, activations and pooling. Training takes about three times as many."
)


BUSY = 2.0
"""Load average, of the measurement itself 1 at most, from which a speed is said to be of a busy machine."""


@dataclass(frozen=True)
class Cost:
    """Of an arm, or the mean over several: trainable parameters, FLOPs of a forward pass, samples/s alone (None: not
    measured)."""

    parameters: float
    flops: float
    samples_per_s: float | None

    def time_to(self, other: "Cost") -> float | None:
        """Time per sample of this one over that of the other, None where a speed was not measured."""
        if self.samples_per_s is None or other.samples_per_s is None:
            return None
        return other.samples_per_s / self.samples_per_s


def arm_cost(results: StudyResults, arm: str) -> Cost:
    """Counted from the arm's configuration; the speed is the measured one."""
    speed = results.speeds.get(arm)
    return Cost(*net_cost(results.study.arm(arm).config, results.cache), speed.samples_per_s if speed else None)


def mean_cost(results: StudyResults, arms: Sequence[str]) -> Cost:
    """Mean over arms."""
    costs = [arm_cost(results, arm) for arm in arms]
    speeds = [cost.samples_per_s for cost in costs if cost.samples_per_s is not None]
    speed = sum(speeds) / len(speeds) if len(speeds) == len(costs) else None
    return Cost(
        sum(cost.parameters for cost in costs) / len(costs), sum(cost.flops for cost in costs) / len(costs), speed
    )


def speed_factor_range(results: StudyResults, on: Sequence[str], off: Sequence[str]) -> tuple[float, float] | None:
    """Lowest and highest of the factor between the speeds of two arms, over the turns in which they were measured; None
    where turns were not kept, and for means over several arms."""
    if len(on) != 1 or len(off) != 1 or not {*on, *off} <= results.speeds.keys():
        return None
    return speed_range(results.speeds[on[0]], results.speeds[off[0]])


def busy_note(results: StudyResults) -> str:
    """What is to be said of speeds that were measured while the machine did other things; empty where it did not."""
    loads = [speed.load for speed in results.speeds.values() if speed.load is not None]
    if not loads or max(loads) < BUSY:
        return ""
    own = all(speed.of_cpu_time for speed in results.speeds.values())
    counted = "rates are of its own processor time, which other work slows a little" if own else "take them with care"
    return f"Speeds were measured on a busy machine (load average {max(loads):.1f}): {counted}."


@cache
def net_cost(config: TrialConfig, cache: Path | None = None) -> tuple[int, int]:
    """Parameters and FLOPs of a forward pass of a configuration's net. `cache`: folder in which they are kept, for
    counting builds the net."""
    net = config.net, config.features
    place = cache / f"{digest(net)}.cost" if cache else None
    parameters, flops = cached(
        place, (code("gonn_core") if cache else "", net), lambda: b"%d %d" % _counted(config)
    ).split()
    return int(parameters), int(flops)


def _counted(config: TrialConfig) -> tuple[int, int]:
    from gonn_core.features.sets import plane_names  # with torch and numba: only when a table is made
    from gonn_core.nets.cost import count_parameters, flops_per_sample

    planes = len(plane_names(config.features))
    return count_parameters(config.net, planes), flops_per_sample(config.net, planes)


def speed_note(results: StudyResults) -> str:
    """How the speeds were measured."""
    missing = [arm.id for arm in results.study.arms if arm.id not in results.speeds]
    if len(missing) == len(results.study.arms):
        return "Samples/s alone: not measured."
    devices = sorted({device_label(speed.device, speed.compile) for speed in results.speeds.values()})
    of_cpu_time = all(speed.of_cpu_time for speed in results.speeds.values())
    text = (
        "Samples/s alone: training steps of one arm at a time, median of several "
        f"{'turns, in processor time of one core' if of_cpu_time else 'windows'}, measured on {', '.join(devices)}"
    )
    loads = [speed.load for speed in results.speeds.values() if speed.load is not None]
    text += f" (load average {max(loads):.1f} at most)." if loads else "."
    return text + (f" Not measured: {', '.join(missing)}." if missing else "")
