"""The panels of a study's figure: curves over samples, paired differences, a forest of effects."""

import math

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, MaxNLocator

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.style import COLOURS, DASHES
from reports.results.compare import MAIN, StudyAnalysis, paired_curve
from reports.results.study_results import StudyResults
from reports.stats.estimates import quantile
from reports.tables import formats

MARKERS = ("D", "s", "^", "v", "P", "X")


def _style(index: int) -> dict:
    return {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index // len(COLOURS) % len(DASHES)]}


def draw_curves(axes, results: StudyResults) -> None:
    """A thin line per seed, a thick one for the mean of the seeds that got that far. Of a screen's many arms the base
    alone has a name."""
    shown, many = [], results.study.design == "screen"
    for index, arm in enumerate(results.study.arms):
        style = {"color": "0.75", "linewidth": 0.6} if many and index else _style(index) | {"linewidth": 2.0}
        lines = [
            [(line["samples"], line["nats"]) for line in trial.curve if "nats" in line]
            for trial in results.of_arm(arm.id)
        ]
        by_samples: dict[int, list[float]] = {}
        for points in lines:
            if points and not many:
                axes.plot(*zip(*points, strict=True), linewidth=0.6, alpha=0.45, **_style(index))
            for count, value in points:
                by_samples.setdefault(count, []).append(value)
        full = max(map(len, by_samples.values()), default=0)
        mean = [(count, float(np.mean(values))) for count, values in sorted(by_samples.items()) if len(values) == full]
        planned = results.due_seeds(arm.id)
        label = printable(arm.label, 40) + ("" if full == planned else f" ({full} of {planned} seeds)")
        if many and index:
            label = "the screen's other arms" if index == 1 else ""
        place = {"zorder": 3} if not (many and index) else {}
        axes.plot(*(zip(*mean, strict=True) if mean else ((), ())), label=label or None, **style, **place)
        shown += [value for count, value in mean if count >= total_samples(results) / 3]
    axes.set(ylabel="validation nats", xlabel="samples")
    _fit(axes, shown, below=0.1, above=0.6)
    if len(results.study.arms) > 4 and not many:  # too many to find room beside the curves
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.02, 1.0), ncols=2, columnspacing=1.2, fontsize=8, borderaxespad=0.2
        )
    else:
        axes.legend(loc="upper right")


def draw_differences(axes, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> list[Line2D]:
    """Mean paired difference with its 95 % band over seeds; right of the last sample the effects on the test games,
    then the claims."""
    axes.axhline(0.0, color="0.35", linewidth=0.9)
    study, handles = results.study, []
    shown = [0.0, *(end for finding in claims for end in claim_ends(finding))]
    places = _Margin(total_samples(results))
    for index, contrast in enumerate(study.contrasts):
        style = _style(index + 1)
        curve = paired_curve(results, contrast) if study.pairing == "by_position" else {}
        if curve:
            counts = list(curve)
            means = np.array([deltas.mean() for deltas in curve.values()])
            axes.plot(counts, means, linewidth=1.8, **style)
            halves = np.array([_half_width(deltas) for deltas in curve.values()])
            axes.fill_between(counts, means - halves, means + halves, color=style["color"], alpha=0.18, linewidth=0)
            late = np.array(counts) >= places.total / 2
            seeds = np.array([len(deltas) for deltas in curve.values()])
            banded = late & (seeds > 2)  # two seeds: a band so wide that it would hide all else
            shown += [*means[late], *(means - halves)[banded], *(means + halves)[banded]]
            handles.append(
                Line2D([], [], linewidth=1.8, label=f"{printable(contrast.card, 40)}: with − without", **style)
            )
        effect = nats.effect(contrast.card)
        if effect is not None:
            _draw_effect(axes, places.next(), effect, style["color"])
            shown += [effect.delta, *((effect.interval95.low, effect.interval95.high) if effect.interval95 else ())]
    if nats.table is not None:
        handles.append(_marker("o", "0.25", True, f"{study.evaluations[MAIN].split} games, 95 % interval"))
    handles += _draw_claims(axes, results, claims, places)
    _fit(axes, shown, below=0.1, above=0.1)
    axes.axvline(places.total, color="0.8", linewidth=0.8, zorder=0)
    axes.set(ylabel="Δ nats (below 0: helps)", xlabel="samples (band: 95 % over seeds, validation games)")
    return handles


class _Margin:
    """Places right of the last sample, one after the other."""

    def __init__(self, total: int):
        self.total, self._taken = total, 0

    def next(self) -> float:
        self._taken += 1
        return self.total * (1 + 0.03 * self._taken)

    @property
    def end(self) -> float:
        """Where the axis ends."""
        return self.total * (1.02 + 0.03 * self._taken)


def _fit(axes, values: list[float], below: float, above: float) -> None:
    """Limits of the vertical axis around `values`, with shares of their range as room; what lies outside is cut off.

    The values are those of late training: its first steps, with losses many times the last one, would press all else
    into one line.
    """
    if values:
        room = max(values) - min(values) or 0.1
        axes.set_ylim(min(values) - below * room, max(values) + above * room)


def _draw_effect(axes, x: float, effect, colour: str) -> None:
    axes.plot([x], [effect.delta], marker="o", markersize=5, color=colour)
    if effect.interval95:
        axes.plot([x, x], [effect.interval95.low, effect.interval95.high], color=colour, linewidth=1.6)


def _draw_claims(axes, results: StudyResults, claims: list[ClaimFinding], places: _Margin) -> list[Line2D]:
    """Marks at the claimed samples, in the margin when those are not reached or not told; hollow when the conditions
    differ."""
    handles = []
    cards = [contrast.card for contrast in results.study.contrasts]
    for index, finding in enumerate(claims):
        colour = _style(cards.index(finding.card) + 1)["color"]
        samples = finding.claim.samples
        x = samples if samples is not None and samples <= places.total else places.next()
        low, high = claim_ends(finding)
        filled, marker = same_conditions(finding), MARKERS[index % len(MARKERS)]
        axes.plot([x, x], [low, high], color=colour, linewidth=1.2)
        axes.plot(
            [x],
            [(low + high) / 2],
            marker=marker,
            markersize=7,
            color=colour,
            markerfacecolor=colour if filled else "white",
        )
        whose = f"{printable(finding.card, 40)} " if len(cards) > 1 else ""
        handles.append(_marker(marker, colour, filled, whose + _claim_label(finding)))
    axes.set_xlim(0, places.end)
    return handles


def draw_forest(axes, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> list[Line2D]:
    """One row per contrast: effect on the test games with its interval, and what was claimed."""
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    cards = [contrast.card for contrast in results.study.contrasts]
    for row, card in enumerate(cards):
        effect = nats.effect(card)
        if effect is None:
            axes.annotate(
                "no results yet",
                (0, row),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                color="0.4",
                fontsize=8,
            )
            continue
        axes.plot([effect.delta], [row], marker="o", markersize=5, color=COLOURS[0])
        if effect.interval95:
            axes.plot([effect.interval95.low, effect.interval95.high], [row, row], color=COLOURS[0], linewidth=1.8)
    kinds = {}
    for finding in claims:
        place, (low, high), filled = cards.index(finding.card) + 0.28, claim_ends(finding), same_conditions(finding)
        axes.plot([low, high], [place, place], color=COLOURS[1], linewidth=1.2)
        axes.plot(
            [(low + high) / 2],
            [place],
            marker="D",
            markersize=5,
            color=COLOURS[1],
            markerfacecolor=COLOURS[1] if filled else "white",
        )
        kinds[filled] = "claimed, under these conditions" if filled else "claimed, under other conditions"
    axes.set_yticks(range(len(cards)), [printable(card, 40) for card in cards])
    axes.set_ylim(len(cards) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"Δ {results.study.evaluations[MAIN].split} nats, with − without (left of 0: helps)")
    axes.xaxis.set_major_locator(MaxNLocator(7))
    nats_axis(axes.xaxis)
    handles = [_marker("o", COLOURS[0], True, "effect with 95 % interval")]
    return handles + [_marker("D", COLOURS[1], filled, text) for filled, text in sorted(kinds.items())]


def _half_width(deltas: np.ndarray) -> float:
    """Half of the 95 % t interval of a mean over seeds; not a number, so not drawn, for a single seed."""
    n = len(deltas)
    return float(quantile(0.975, n - 1) * deltas.std(ddof=1) / math.sqrt(n)) if n > 1 else math.nan


def same_conditions(finding: ClaimFinding) -> bool:
    """Whether the claim was tested as it was made."""
    return finding.tested and finding.measured.verdict not in ("not tested here", "compared only")


def claim_ends(finding: ClaimFinding) -> tuple[float, float]:
    """Both ends of a claim; an open one stands at the other."""
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    return (high if math.isinf(low) else low), (low if math.isinf(high) else high)


def _claim_label(finding: ClaimFinding) -> str:
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    ends = [formats.minus(f"{end:+g}") for end in (low, high) if math.isfinite(end)]
    if len(ends) == 1:
        text = f"{'at most' if math.isinf(low) else 'at least'} {ends[0]}"
    else:
        text = ends[0] if low == high else f"{ends[0]} to {ends[1]}"
    at = f" at {formats.samples(finding.claim.samples)} samples" if finding.claim.samples else ""
    return f"claimed{at}: {text}"


def _marker(marker: str, colour: str, filled: bool, label: str) -> Line2D:
    face = colour if filled else "white"
    return Line2D(
        [], [], linestyle="none", marker=marker, color=colour, markerfacecolor=face, markersize=6, label=label
    )


def total_samples(results: StudyResults) -> int:
    """Samples of the longest arm."""
    return max(arm.config.training.samples for arm in results.study.arms)


def samples_axis(axes, results: StudyResults) -> None:
    """Round sample counts below an axis, to the last sample."""
    total = total_samples(results)
    ticks = [tick for tick in MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(0, total) if 0 <= tick <= total]
    axes.set_xticks(ticks, [formats.samples(round(tick)) for tick in ticks])


def nats_axis(axis) -> None:
    """A proper minus on an axis of nats."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: formats.minus(f"{value:.4g}")))
