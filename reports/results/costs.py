"""What each arm costs: parameters, operations per sample, samples per second alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gonn_core.config import TrialConfig
from gonn_core.training.compiling import device_label
from reports.cache import cached, code, digest
from reports.results.study_results import StudyResults

FLOPS_COUNTED = (
    "FLOPs per sample: one forward pass; multiplications and additions of convolutions and matrices, the padded rim "
    "included, "
    "without norms, activations and pooling. Training takes about three times as many."
)


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
    return Cost(
        sum(cost.parameters for cost in costs) / len(costs),
        sum(cost.flops for cost in costs) / len(costs),
        sum(speeds) / len(speeds) if len(speeds) == len(costs) else None,
    )


@cache
def net_cost(config: TrialConfig, cache: Path | None = None) -> tuple[int, int]:
    """Parameters and FLOPs of a forward pass of a configuration's net. `cache`: folder in which they are kept, for
    counting builds the net."""
    net = config.net, config.features

    def count() -> bytes:
        from gonn_core.features.sets import plane_names  # with torch and numba: only when a table is made
        from gonn_core.nets.cost import count_parameters, flops_per_sample

        planes = len(plane_names(config.features))
        return b"%d %d" % (count_parameters(config.net, planes), flops_per_sample(config.net, planes))

    place = cache / f"{digest(net)}.cost" if cache else None
    parameters, flops = cached(place, (code("gonn_core") if cache else "", net), count).split()
    return int(parameters), int(flops)


def speed_note(results: StudyResults) -> str:
    """How the speeds were measured."""
    speeds, arms = results.speeds.values(), [arm.id for arm in results.study.arms]
    if not speeds:
        return "Samples/s alone: not measured."
    devices = sorted({device_label(speed.device, speed.compile) for speed in speeds})
    units = "turns, in processor time of one core" if all(speed.of_cpu_time for speed in speeds) else "windows"
    loads = [speed.load for speed in speeds if speed.load is not None]
    load = f" (load average {max(loads):.1f} at most)" if loads else ""
    missing = [arm for arm in arms if arm not in results.speeds]
    return (
        "Samples/s alone: training steps of one arm at a time, median of several "
        f"{units}, measured on {', '.join(devices)}{load}." + (f" Not measured: {', '.join(missing)}." * bool(missing))
    )
