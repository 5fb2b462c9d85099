"""The figure of a study: the arms' loss over samples, and below it the paired difference, or a forest of effects when
there are many.

The same results give the same bytes: no dates, no user settings of matplotlib, a fixed salt for the identifiers of the
SVG.
"""

import io
import textwrap
from collections.abc import Callable, Sequence

import matplotlib
from matplotlib.figure import Figure

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.panels import draw_curves, draw_differences, draw_forest, nats_axis, samples_axis, total_samples
from reports.study.compare import StudyAnalysis
from reports.study.results import StudyResults

CURVES_AT_MOST = 3
"""With more contrasts than this, the lower half is a forest plot."""
WIDTH = 7.0  # inches: at 100 pixels an inch the 700 pixels of a page
DPI = 200
_STYLE = {
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.labelsize": 9.5,
    "legend.fontsize": 8.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "text.parse_math": False,  # a $ in a name is a $
    "legend.frameon": False,
}


def draw(results: StudyResults, nats: StudyAnalysis, findings: Sequence[ClaimFinding]) -> dict[str, bytes] | None:
    """`figure.png` and `figure.svg` as bytes; None while no trial has a progress point and no effect is known."""
    curves = any("nats" in line for trial in results.trials for line in trial.curve)
    if not curves and nats.table is None:
        return None
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE | {"svg.hashsalt": results.study.id})
        figure = _figure(results, nats, [finding for finding in findings if _drawable(finding)])
        return figure_files(figure, "figure")


def figure_style() -> dict:
    """Settings of matplotlib for every figure."""
    return dict(_STYLE)


def figure_bytes(
    name: str, size: tuple[float, float], paint: Callable[[Figure], None], dpi: int = DPI
) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg` of a figure of `size` inches that `paint` fills, whatever the user's settings of
    matplotlib are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE | {"svg.hashsalt": name})
        figure = Figure(figsize=size, layout="constrained")
        paint(figure)
        return figure_files(figure, name, dpi)


def figure_files(figure: Figure, name: str, dpi: int = DPI) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg`, without dates."""
    return {
        f"{name}.png": _bytes(figure, "png", dpi, {"Software": None}),
        f"{name}.svg": _bytes(figure, "svg", dpi, {"Date": None, "Creator": None}),
    }


def _bytes(figure: Figure, kind: str, dpi: int, metadata: dict) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format=kind, dpi=dpi, metadata=metadata)
    return buffer.getvalue()


def _drawable(finding: ClaimFinding) -> bool:
    claim = finding.claim
    return claim.metric == "nats" and claim.quantity == "difference" and claim.bounds is not None


def _figure(results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> Figure:
    contrasts = results.study.contrasts
    forest = len(contrasts) > CURVES_AT_MOST
    lower = 0.9 + 0.34 * len(contrasts) if forest else 2.9
    extra = 0.1 * len(results.study.arms) + (0.0 if forest else 0.1 * (len(contrasts) + len(claims)))  # legends
    figure = Figure(figsize=(WIDTH, 3.5 + lower + extra), layout="constrained")
    upper_axes, lower_axes = figure.subplots(2, 1, height_ratios=(3.0, lower))
    figure.suptitle(_title(results), fontsize=10.5, x=0.01, ha="left")
    draw_curves(upper_axes, results)
    for axes in (upper_axes, lower_axes):
        nats_axis(axes.yaxis)
    samples_axis(upper_axes, results)
    upper_axes.set_xlim(0, total_samples(results) * 1.02)
    if forest:
        handles = draw_forest(lower_axes, results, nats, claims)
    else:
        handles = draw_differences(lower_axes, results, nats, claims)
        samples_axis(lower_axes, results)
        upper_axes.set_xlim(lower_axes.get_xlim())
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=2, alignment="left")
    return figure


def _title(results: StudyResults) -> str:
    study = results.study
    finished = len(results.trials) - len(results.unfinished)
    state = "" if not results.unfinished else f" – unfinished: {finished} of {len(results.trials)} trials"
    lines = [
        printable(study.title, 160),
        printable(f"{study.base}, {study.budget} budget, {study.coverage}{state}", 200),
    ]
    return "\n".join(part for line in lines for part in textwrap.wrap(line, 88))
