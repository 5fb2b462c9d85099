"""The worth of a study's effects, and its values in tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ablations.study import Arm, Contrast, Study
from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from reports.cache import digest
from reports.results.compare import StudyAnalysis
from reports.results.group import MAIN, of_any_length
from reports.results.nets import mean_cost
from reports.results.study_results import StudyResults
from reports.tables import formats
from reports.tables.cells import Cell
from reports.worth.curve import FEWEST_POINTS, ControlCurve, CurvePoint, Ratio, worth_in_samples

SIZES = ("blocks", "layers", "width", "heads", "ffn")
"""Settings of a net's body that make it larger or smaller."""
WORTH = ("worth", "worth_operations", "worth_time")
"""Keys of the columns of an effect's worth."""
EXPLAINED = (
    "Worth: by what factor more samples, operations or time, the net without the enhancement would have to be trained "
    "to be as good as the one with it, read off the control's loss over samples; operations are that divided by the "
    "ratio of FLOPs by a sample, time is that times the ratio of samples/s. "
    "The interval holds the noise of the effect and of the curve. Beyond the fewest and the most samples the curve is "
    "followed along its outer segment, though curves flatten: a worth from below is rather too large, one from above "
    "rather too small. Of effects that are shown or lean."
)


@dataclass(frozen=True)
class Worth:
    """An effect's worth in samples, in operations of training, and in time where the arms' speeds were measured.
    trials: behind the curve."""

    samples: Ratio
    operations: Ratio
    time: Ratio | None
    trials: tuple[str, ...] = ()


def study_worths(results: StudyResults, nats: StudyAnalysis, curve: ControlCurve | None) -> dict[str, Worth]:
    """Card -> worth of its effect on the loss, of those that are shown or lean and whose control has a curve."""
    worths: dict[str, Worth] = {}
    if curve is None or not curve.ready:
        return worths
    study = results.study
    for contrast in study.contrasts:
        effect, verdict = nats.effect(contrast.card), nats.verdicts.get(contrast.card)
        if effect is None or verdict is None or not (verdict.is_shown or verdict.leans):
            continue
        ratio = worth_in_samples(curve, effect, samples_of(study.arms[0]), control_has_it(study, contrast))
        if ratio is not None:
            on, off = (mean_cost(results, side) for side in (contrast.with_it, contrast.without))
            slower = on.time_to(off)
            time = None if slower is None else ratio.scaled(1 / slower)
            trials = tuple(trial for point in curve.points for trial in point.trials)
            worths[contrast.card] = Worth(ratio, ratio.scaled(off.flops / on.flops), time, trials)
    return worths


def control_has_it(study: Study, contrast: Contrast) -> bool:
    """Whether the control has a card. Where a screen varies one in a part of the arms without the control, those
    changed from the base have settings in common that the others lack."""
    control = study.arms[0].id
    if control in (*contrast.with_it, *contrast.without):
        return control in contrast.with_it
    with_it, without = (
        set.intersection(*(set(study.arm(arm).values) for arm in side)) for side in (contrast.with_it, contrast.without)
    )
    return bool(without - with_it)


def worth_values(worth: Worth | None) -> dict[str, Cell | None]:
    """Values of the columns of WORTH; a bound has text and no number."""
    ratios = (None,) * len(WORTH) if worth is None else (worth.samples, worth.operations, worth.time)
    return {
        key: None if ratio is None or worth is None else Cell(ratio.text, list(ratio.numbers), worth.trials)
        for key, ratio in zip(WORTH, ratios, strict=True)
    }


def worth_note(results: StudyResults, curve: ControlCurve | None, worths: Mapping[str, Worth]) -> str:
    """Explains the worth, or says what is missing for it; empty for a study that compares nothing."""
    study = results.study
    if not study.contrasts or curve is None or (curve.ready and not worths):
        return ""
    if worths:
        numbers = ", ".join(formats.about(point.samples) for point in curve.points)
        return f"{EXPLAINED} The curve of {curve.label} has {numbers} samples."
    budget = study.budget if study.precision is None else f"{study.budget} PRECISION={study.precision}"
    command = f"make scale BASE={study.base} DATA={study.data} BUDGET={budget} SAMPLES=…"
    return (
        f"Worth in samples is unknown: it needs the control at {FEWEST_POINTS} numbers of samples, and it was trained "
        f"on {max(1, len(curve.points))}; {command} trains it on more."
    )


Key = tuple[str, str, str]
"""Digest of a configuration without its samples, test games, history mode."""


@cache
def net_key(config: TrialConfig, of_any_size: bool = False) -> str:
    """Digest of a configuration without its number of samples, and the number and width of its layers."""
    tree = of_any_length(config).model_dump(mode="json")
    for part in ("trunk", "residual", "encoder") if of_any_size else ():
        tree["net"][part] = {name: value for name, value in tree["net"][part].items() if name not in SIZES}
    return digest(tree)


def samples_of(arm: Arm) -> int:
    """Samples of each of its trials."""
    return arm.config.training.samples


class Controls:
    """Curves of the controls of some studies; every arm of every study that is the same net adds points to them."""

    def __init__(self, studies: Sequence[Study], load: Callable[[Study], StudyResults]):
        """`load`: the results of a study. First looks are left out: they are judged on fewer games."""
        self._studies, self._load = studies, load
        self._curves: dict[Key, ControlCurve] = {}

    @cached_property
    def _arms(self) -> dict[Key, list[tuple[Study, Arm]]]:
        arms: dict[Key, list[tuple[Study, Arm]]] = {}
        for study in self._studies:
            if study.evaluations and not study.first_look:
                for arm in study.arms:
                    arms.setdefault(_key(study, arm), []).append((study, arm))
        return arms

    def of(self, study: Study) -> ControlCurve:
        """The curve of the study's control, with a point for each number of samples of which a trial is done."""
        control = study.arms[0]
        key = _key(study, control)
        if key not in self._curves:
            name = f"{study.base} {control.label}" if control.values else study.base
            label = f"{name} ({study.budget_label}, {study.data})"
            self._curves[key] = ControlCurve(label, self._points(self._arms.get(key, [])))
        return self._curves[key]

    def _points(self, arms: Sequence[tuple[Study, Arm]]) -> tuple[CurvePoint, ...]:
        if len({samples_of(arm) for _, arm in arms}) < 2:
            return ()  # a single number: its trials need not be read
        by_samples: dict[int, dict[int, tuple[str, float, float]]] = {}
        for study, arm in arms:
            try:
                seeds = _measured(self._load(study), arm)
            except UserError:
                continue  # the study's own report says what is wrong with its files
            if seeds:
                by_samples.setdefault(samples_of(arm), {}).update(seeds)
        points = []
        for samples, values in sorted(by_samples.items()):
            seeds = dict(sorted(values.items()))
            nats = {seed: loss for seed, (_, loss, _) in seeds.items()}
            top1 = {seed: share for seed, (_, _, share) in seeds.items()}
            points.append(CurvePoint(samples, nats, tuple(trial for trial, *_ in seeds.values()), top1))
        return tuple(points)


def _key(study: Study, arm: Arm) -> Key:
    return net_key(arm.config), study.evaluations[MAIN].subset, study.evaluations[MAIN].history


def _measured(results: StudyResults, arm: Arm) -> dict[int, tuple[str, float, float]]:
    """Seed -> trial, nats, top-1 on the main evaluation."""
    nats, top1 = (results.arm_result(arm.id, MAIN, metric) for metric in ("nats", "top1"))
    if nats is None or top1 is None:
        return {}
    trials = results.evaluated(arm.id, MAIN)
    values = zip(nats.seeds, nats.means.tolist(), top1.means.tolist(), strict=True)
    return {seed: (trials[seed].id, loss, share) for seed, loss, share in values}
