"""The figure of a study: the arms' loss over samples, and below it the paired difference, or a forest of effects when
there are many."""

import textwrap
from collections.abc import Sequence

from matplotlib.artist import Artist
from matplotlib.figure import Figure

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.axes import nats_axis, samples_axis, total_samples
from reports.figures.forest import draw_forest
from reports.figures.marks import legend
from reports.figures.panels import draw_curves, draw_differences
from reports.figures.style import WIDTH, figure_bytes
from reports.results.compare import StudyAnalysis
from reports.results.study_results import StudyResults
from reports.tables.formats import in_short

CURVES_AT_MOST = 3
"""With more contrasts than this, the lower half is a forest plot."""


def draw(results: StudyResults, nats: StudyAnalysis, findings: Sequence[ClaimFinding]) -> dict[str, bytes] | None:
    """`figure.png` and `figure.svg` as bytes; None while no trial has a progress point and no effect is known. Of a
    study that compares nothing the curves alone."""
    curves = any("nats" in line for trial in results.trials for line in trial.curve)
    if not curves and not nats.effects:
        return None
    claims = [finding for finding in findings if _drawable(finding)]
    size = (WIDTH, 3.5 + _lower_height(results) + _legend_height(results, claims))
    return figure_bytes("figure", size, lambda figure: _paint(figure, results, nats, claims), salt=results.study.id)


def _drawable(finding: ClaimFinding) -> bool:
    claim = finding.claim
    return claim.metric == "nats" and claim.quantity == "difference" and claim.bounds is not None


def _is_forest(results: StudyResults) -> bool:
    return len(results.study.contrasts) > CURVES_AT_MOST


def _lower_height(results: StudyResults) -> float:
    if not results.study.contrasts:
        return 0.0
    return 0.9 + 0.34 * len(results.study.contrasts) if _is_forest(results) else 2.9


def _legend_height(results: StudyResults, claims: Sequence[ClaimFinding]) -> float:
    differences = 0 if _is_forest(results) else len(results.study.contrasts) + len(claims)
    arms = 2 if results.study.design == "screen" else len(results.study.arms)
    return 0.1 * arms + 0.1 * differences


def _paint(figure: Figure, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> None:
    lower = _lower_height(results)
    panels = figure.subplots(2, 1, height_ratios=(3.0, lower)) if lower else [figure.subplots()]
    upper_axes, lower_axes = panels[0], panels[-1]
    figure.suptitle(_title(results), fontsize=10.5, x=0.01, ha="left")
    draw_curves(upper_axes, results)
    for axes in panels:
        nats_axis(axes.yaxis)
    samples_axis(upper_axes, results)
    upper_axes.set_xlim(0, total_samples(results) * 1.02)
    if not lower:
        return
    if _is_forest(results):
        handles: list[Artist] = [*draw_forest(lower_axes, results, nats, claims)]
    else:
        handles = draw_differences(lower_axes, results, nats, claims)
        samples_axis(lower_axes, results)
        upper_axes.set_xlim(lower_axes.get_xlim())
    if handles:
        legend(figure, handles)


def _title(results: StudyResults) -> str:
    study = results.study
    state = "" if not results.unfinished else f" – unfinished: {results.finished} of {len(results.trials)} trials"
    lines = [
        printable(study.title, 160),
        printable(f"{study.base}, {study.budget_label} budget, {in_short(study.coverage)}{state}", 200),
    ]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, 88))
