"""The worth of a study's effects, and its values in tables."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.study import Contrast, Study
from reports.results.compare import StudyAnalysis
from reports.results.costs import mean_cost
from reports.results.study_results import StudyResults
from reports.tables import formats
from reports.tables.cells import Cell
from reports.worth.controls import samples_of
from reports.worth.curve import FEWEST_POINTS, ControlCurve, Ratio, worth_in_samples

WORTH = ("worth", "worth_time")
"""Keys of the columns of an effect's worth."""
EXPLAINED = (
    "Worth: by what factor more samples, or time, the net without the enhancement would have to be trained to be as "
    "good as the one with it, read off the control's loss over samples; time is that times the ratio of samples/s. "
    "The interval holds the noise of the effect and of the curve. Beyond the fewest and the most samples the curve is "
    "followed along its outer segment, though curves flatten: a worth from below is rather too large, one from above "
    "rather too small. Of effects that are shown or lean."
)


@dataclass(frozen=True)
class Worth:
    """An effect's worth in samples, and in time where the arms' speeds were measured. trials: behind the curve."""

    samples: Ratio
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
            worths[contrast.card] = Worth(ratio, time, tuple(t for point in curve.points for t in point.trials))
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
    ratios = (None, None) if worth is None else (worth.samples, worth.time)
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
