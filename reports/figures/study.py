"""The figure of a study: the arms' loss over samples, and below it the paired difference, or a forest of effects when
there are many."""

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from gonn_core.errors import printable
from gonn_core.metrics import UNIFORM_NATS
from reports.claims.findings import ClaimFinding, claim_ends, same_conditions
from reports.figures.marks import Mark, claim_label, draw_forest, draw_range, legend, marker_handle, nats_axis
from reports.figures.style import COLOURS, DASHES, WIDTH, figure_bytes
from reports.page import ForestRow
from reports.results.compare import StudyAnalysis, arm_curve, paired_curve
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.stats.estimates import half_width
from reports.tables import formats

CURVES_AT_MOST = 3
"""With more contrasts than this, the lower half is a forest plot."""
CLAIM_SHAPES = ("D", "s", "^", "v", "P", "X")


def draw(
    results: StudyResults, nats: StudyAnalysis, findings: Sequence[ClaimFinding], rows: Sequence[ForestRow]
) -> dict[str, bytes] | None:
    """`figure.png` and `figure.svg` as bytes; None while no trial has a progress point and no effect is known. Of a
    study that compares nothing the curves alone. rows: its forest."""
    curves = any("nats" in line for trial in results.trials for line in trial.curve)
    if not curves and not nats.effects:
        return None
    study, is_forest = results.study, len(results.study.contrasts) > CURVES_AT_MOST
    claims = [
        finding
        for finding in findings
        if (finding.claim.metric, finding.claim.quantity) == ("nats", "difference") and finding.claim.bounds is not None
    ]
    lower = 0.9 + 0.34 * len(rows) if is_forest else 2.9 if study.contrasts else 0.0
    entries = (2 if study.design == "screen" else len(study.arms)) + (
        0 if is_forest else len(study.contrasts) + len(claims)
    )

    def paint(figure: Figure) -> None:
        panels = figure.subplots(2, 1, height_ratios=(3.0, lower)) if lower else [figure.subplots()]
        upper_axes, lower_axes = panels[0], panels[-1]
        figure.suptitle(_title(results), fontsize=10.5, x=0.01, ha="left")
        _draw_curves(upper_axes, results)
        for axes in panels:
            nats_axis(axes.yaxis)
        _samples_axis(upper_axes, results)
        upper_axes.set_xlim(0, _total_samples(results) * 1.02)
        handles: Sequence[Artist] = ()
        if is_forest:
            handles = draw_forest(lower_axes, rows, study.evaluations[MAIN].split)
        elif lower:
            handles = _draw_differences(lower_axes, results, nats, claims)
            _samples_axis(lower_axes, results)
            upper_axes.set_xlim(lower_axes.get_xlim())
        if handles:
            legend(figure, handles)

    return figure_bytes("figure", (WIDTH, 3.5 + lower + 0.1 * entries), paint, salt=study.id)


def _title(results: StudyResults) -> str:
    study = results.study
    state = "" if not results.unfinished else f" – unfinished: {results.finished} of {len(results.trials)} trials"
    lines = [
        printable(study.title, 160),
        printable(f"{study.base}, {study.budget_label} budget, {formats.in_short(study.coverage)}{state}", 200),
    ]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, 88))


def _total_samples(results: StudyResults) -> int:
    """Samples of the longest arm."""
    return max(arm.config.training.samples for arm in results.study.arms)


def _samples_axis(axes, results: StudyResults) -> None:
    """Round sample counts below an axis, to the last sample."""
    total = _total_samples(results)
    ticks = [tick for tick in MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, total) if 0 <= tick <= total]
    axes.set_xticks(ticks, [formats.samples(round(tick)) for tick in ticks])


def _style(index: int) -> dict:
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index // len(COLOURS) % len(DASHES)]}


def _fit_axis(axes, values: list[float], below: float, above: float) -> None:
    """Limits of the vertical axis around `values`, with shares of their range as room; what lies outside is cut off.

    The values are those of late training: its first steps, with losses many times the last one, would press all else
    into one line.
    """
    if values:
        room = max(values) - min(values) or 0.1
        axes.set_ylim(min(values) - below * room, max(values) + above * room)


def _draw_curves(axes, results: StudyResults) -> None:
    """A thin line per seed, a thick one for the mean of the seeds that got that far. Of a screen's many arms the base
    alone has a name."""
    shown, many = [], results.study.design == "screen"
    for index, arm in enumerate(results.study.arms):
        label, seeds, mean = arm_curve(results, arm, 40)
        style = _style(index) | {"linewidth": 2.0, "zorder": 3}
        if many and index:
            label = "the screen's other arms" if index == 1 else ""
            style = {"color": "0.75", "linewidth": 0.6}
        for points in [] if many else seeds:
            if points:
                axes.plot([*points], [*points.values()], linewidth=0.6, alpha=0.45, **_style(index))
        axes.plot([*mean], [*mean.values()], label=label or None, **style)
        shown += [value for count, value in mean.items() if count >= _total_samples(results) / 3]
    axes.set(ylabel="validation nats", xlabel="samples")
    _fit_axis(axes, shown, below=0.1, above=0.6)
    cut = cut_at_uniform(axes, shown)
    if len(results.study.arms) > 4 and not many:  # too many for a place among the curves
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.02, 1.0), ncols=2, columnspacing=1.2, fontsize=8, borderaxespad=0.2
        )
    else:
        axes.legend(loc="lower left" if cut else "upper right")  # curves from far above come down late


def cut_at_uniform(axes, late: list[float]) -> bool:
    """An axis that would reach beyond the loss of a guess among all points ends a little above it where a later mean is
    below that, else near the best: a net starts far above. The line shows where the guess is. Returns whether the axis
    reaches that far."""
    low, high = axes.get_ylim()
    if high <= UNIFORM_NATS:
        return False
    best = min(late, default=high)
    room = abs(UNIFORM_NATS - best)
    high = min(high, UNIFORM_NATS + 0.15 * room if best < UNIFORM_NATS else 2 * best)
    axes.set_ylim(max(low, min(best, UNIFORM_NATS) - 0.3 * room), high)
    axes.axhline(
        UNIFORM_NATS, color="0.55", linewidth=0.9, linestyle=(0, (1, 2)), label=f"all points alike: {UNIFORM_NATS:.2f}"
    )
    return True


def _below_uniform(results: StudyResults) -> int:
    """Samples from which on the mean of every arm is below UNIFORM_NATS; those of the last point where it never is."""
    means = [arm_curve(results, arm)[2] for arm in results.study.arms]
    above = max((count for mean in means for count, nats in mean.items() if nats >= UNIFORM_NATS), default=-1)
    counts = sorted({count for mean in means for count in mean})
    return next((count for count in counts if count > above), max(counts, default=0))


def _draw_differences(axes, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> list[Artist]:
    """Mean paired difference with its 95 % band over seeds; right of the last sample the effects on the test games,
    then the claims: marks at the claimed samples, in the margin when those are not reached or not known, hollow under
    other conditions."""
    axes.axhline(0.0, color="0.35", linewidth=0.9)
    study, total = results.study, _total_samples(results)
    cards = [contrast.card for contrast in study.contrasts]
    keys: list[Artist] = []
    shown = [0.0, *(end for finding in claims for end in claim_ends(finding))]
    margin, settled = 0, _below_uniform(results)
    for index, contrast in enumerate(study.contrasts):
        style = _style(index + 1)
        curve = paired_curve(results, contrast) if study.pairing == "by_position" else {}
        # while a net is worse than a guess, differences say nothing, and swing over the whole panel
        curve = {count: deltas for count, deltas in curve.items() if count >= settled}
        if curve:
            counts = list(curve)
            means = np.array([deltas.mean() for deltas in curve.values()])
            axes.plot(counts, means, linewidth=1.8, **style)
            halves = np.array([half_width(deltas) for deltas in curve.values()])
            axes.fill_between(counts, means - halves, means + halves, color=style["color"], alpha=0.18, linewidth=0)
            late = np.array(counts) >= max(total / 2, settled)
            seeds = np.array([len(deltas) for deltas in curve.values()])
            banded = late & (seeds > 2)  # two seeds: a band so wide that it would hide all else
            shown += [*means[late], *(means - halves)[banded], *(means + halves)[banded]]
            keys.append(Line2D([], [], linewidth=1.8, label=f"{printable(contrast.card, 40)}: with − without", **style))
        effect = nats.effect(contrast.card)
        if effect is not None:
            margin += 1
            ends = (effect.interval95.low, effect.interval95.high) if effect.interval95 else (effect.delta,) * 2
            mark = Mark(style["color"], "o", True)
            draw_range(axes, mark, effect.delta, *ends, at=total * (1 + 0.03 * margin), upright=True)
            shown += [effect.delta, *ends]
    if axes.collections:
        keys.append(Patch(color="0.85", label="band: 95 % over seeds, validation games"))
    if nats.effects:
        games = f"{study.evaluations[MAIN].split} games, as in the tables: 95 % over runs and games"
        keys.append(marker_handle(Mark("0.25", "o", True), games))
    for index, finding in enumerate(claims):
        colour, samples = _style(cards.index(finding.card) + 1)["color"], finding.claim.samples
        reached = samples if samples is not None and samples <= total else None
        margin += reached is None
        low, high = claim_ends(finding)
        mark = Mark(colour, CLAIM_SHAPES[index % len(CLAIM_SHAPES)], same_conditions(finding))
        at = total * (1 + 0.03 * margin) if reached is None else reached
        draw_range(axes, mark, (low + high) / 2, low, high, at, upright=True, size=7)
        card = f"{printable(finding.card, 40)} " if len(cards) > 1 else ""
        keys.append(marker_handle(mark, card + claim_label(finding)))
    axes.set_xlim(0, total * (1.02 + 0.03 * margin))
    _fit_axis(axes, shown, below=0.1, above=0.1)
    axes.axvline(total, color="0.8", linewidth=0.8, zorder=0)
    axes.set(ylabel="Δ nats (below 0: helps)", xlabel="samples (curves: validation games)")
    return keys
