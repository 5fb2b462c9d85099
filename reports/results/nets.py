"""The nets behind a set of studies, each once: an arm that several studies share is one net, with all its seeds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from ablations.study import Study
from gonn_core.config import NetConfig, TrialConfig, trial_id
from gonn_core.metrics import METRICS
from gonn_core.training.compiling import device_label
from reports.cache import cached, code, digest
from reports.results.study_results import StudyResults, SummedEvaluation, TrialResult, arm_result
from reports.stats.estimates import Effect, mean_effect
from reports.tables import formats
from reports.tables.cells import Cell


@dataclass(frozen=True)
class MeasuredNet:
    """One configuration with its trials, by seed. `study`: of those that have it, the first with most evaluations;
    `base`: it is the study's base as it is."""

    study: Study
    label: str
    base: bool
    config: TrialConfig
    trials: tuple[TrialResult, ...]
    cache: Path | None = None
    """As of its study's results."""

    @property
    def name(self) -> str:
        """`gonn-b5` or `gonn-b5 without ladder_input`."""
        return self.study.base if self.base else f"{self.study.base} {self.label}"

    @property
    def title(self) -> str:
        """`gonn-b5 (cpu, kgs, 100k, 4 seeds)`: a base trained on other samples, or again in a screen, is another."""
        n = len(self.trials)
        samples = formats.samples(self.config.training.samples)
        is_own = self.base and self.study.lr is not None
        rate = f", rate {self.config.training.optimiser.learning_rate:g}" if is_own else ""
        return f"{self.name} ({self.study.budget_label}, {self.study.data}, {samples}{rate}, {n} seed{'s' * (n != 1)})"

    def evaluation(self, history: str) -> int | None:
        """Number of the test evaluation with that history, None where the studies have none."""
        kinds: list[tuple[str, str]] = [(each.split, each.history) for each in self.study.evaluations]
        return kinds.index(("test", history)) if ("test", history) in kinds else None

    def evaluated(self, number: int | None) -> tuple[TrialResult, ...]:
        """Trials that have the evaluation of that number; none for None."""
        return tuple(trial for trial in self.trials if number is not None and trial.evaluations[number] is not None)

    def evaluations(self, number: int | None) -> list[SummedEvaluation]:
        """Those evaluations."""
        evaluations = [trial.evaluations[number] for trial in self.trials if number is not None]
        return [evaluation for evaluation in evaluations if evaluation is not None]


_key = cache(trial_id)


def measured_nets(studies: Sequence[StudyResults]) -> list[MeasuredNet]:
    """Of these studies all arms with a finished trial, by base, budget and data; the base first, then by name."""
    nets: dict[tuple, MeasuredNet] = {}
    for results in sorted(studies, key=lambda results: -len(results.study.evaluations)):
        study = results.study
        for arm in study.arms:
            trials = tuple(trial for trial in results.of_arm(arm.id) if trial.result is not None)
            key = (_key(arm.config), study.budget_label, study.evaluations[:1])
            known = nets.get(key)
            if known is not None:
                seeds = {trial.seed for trial in known.trials}
                more = (_with(known.study, trial, study) for trial in trials if trial.seed not in seeds)
                trials = (*known.trials, *more)
                nets[key] = replace(known, trials=tuple(sorted(trials, key=lambda trial: trial.seed)))
            elif trials:
                nets[key] = MeasuredNet(study, arm.label, not arm.values, arm.config, trials, results.cache)
    return sorted(
        nets.values(), key=lambda net: (net.study.base, net.study.budget_label, net.study.data, not net.base, net.label)
    )


def _with(study: Study, trial: TrialResult, own: Study) -> TrialResult:
    """A trial of its own study with the evaluations of another one."""
    found = dict(zip(own.evaluations, trial.evaluations, strict=True))
    return replace(trial, evaluations=tuple(found.get(each) for each in study.evaluations))


def level(net: MeasuredNet, number: int, metric: str) -> Effect | None:
    """A metric of the evaluation of that number, by its seeds and games; None while no trial has it."""
    result = arm_result(tuple(trial.seed for trial in net.evaluated(number)), net.evaluations(number), metric)
    return None if result is None else mean_effect(metric, result)


def level_cell(net: MeasuredNet, number: int | None, metric: str) -> Cell:
    """`36.81 % [36.02, 37.60]`, or a dash."""
    measured = None if number is None else level(net, number, metric)
    if measured is None:
        return Cell(formats.NONE)
    unit, value = METRICS[metric].unit, measured.with_ends
    text = formats.level(measured.delta, unit)
    if len(value) > 1:
        low, high = (formats.minus(f"{100 * end:.2f}" if unit == "share" else f"{end:.4f}") for end in value[1:])
        text += f" [{low}, {high}]"
    return Cell(text, value, tuple(trial.id for trial in net.evaluated(number)), number)


def structure(net: NetConfig) -> str:
    """Family and size in the words of the published tables: `ResNet 3 blocks of 32`."""
    if net.family == "gonn":
        return f"ResNet {net.trunk.blocks} blocks of {net.trunk.width}"
    if net.family == "residual":
        kind = "CNN" if net.residual.block in ("plain", "darkforest") else "ResNet"
        return f"{kind} {net.residual.blocks} blocks of {net.residual.width}"
    if net.family == "encoder":
        return f"encoder {net.encoder.layers} layers of {net.encoder.width}"
    layers, full = net.conv.layers, len(net.conv.head_hidden) + 1
    if not layers:
        return f"full layers, {full}"
    if net.conv.head == "conv":
        return f"CNN {len(layers) + full} layers of {max(width for _, width in layers)}"
    return f"CNN {len(layers)} layers of {max(width for _, width in layers)} and {full} full"


FLOPS_COUNTED = (
    "FLOPs per sample: of training; three times the multiplications and additions of convolutions and matrices, the "
    "padded rim included, of everything that is trained, auxiliary heads too, and the optimiser's; without norms, "
    "activations and pooling."
)


@dataclass(frozen=True)
class Cost:
    """Of an arm, or the mean over several: trainable parameters, FLOPs of training by a sample, samples/s alone (None:
    not measured)."""

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
    """Parameters of a configuration's net and FLOPs of its training by a sample. `cache`: folder in which they are
    kept, for counting builds the net."""
    counted = config.net, config.features, config.training.model_copy(update={"init_seed": 0, "data_seed": 0})

    def count() -> bytes:
        from gonn_core.features.sets import plane_names  # with torch and numba: only when a table is made
        from gonn_core.nets.cost import count_parameters
        from gonn_core.training.cost import training_flops

        return b"%d %d" % (count_parameters(config.net, len(plane_names(config.features))), training_flops(config))

    place = cache / f"{digest(counted)}.cost" if cache else None
    parameters, flops = cached(place, (code("gonn_core") if cache else "", counted), count).split()
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
