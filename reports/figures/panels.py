"""The panels of a study's figure: curves over samples, and paired differences."""

import numpy as np
from matplotlib.artist import Artist
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding, claim_ends, same_conditions
from reports.figures.axes import below_uniform, cut_at_uniform, fit_axis, total_samples
from reports.figures.forest import claim_label, marker_handle
from reports.figures.style import COLOURS, DASHES
from reports.results.compare import StudyAnalysis, paired_curve
from reports.results.curves import half_width
from reports.results.group import MAIN
from reports.results.study_results import StudyResults

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
    fit_axis(axes, shown, below=0.1, above=0.6)
    cut = cut_at_uniform(axes, shown)
    if len(results.study.arms) > 4 and not many:  # too many to find room beside the curves
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.02, 1.0), ncols=2, columnspacing=1.2, fontsize=8, borderaxespad=0.2
        )
    else:
        axes.legend(loc="lower left" if cut else "upper right")  # curves from far above come down late


def draw_differences(axes, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> list[Artist]:
    """Mean paired difference with its 95 % band over seeds; right of the last sample the effects on the test games,
    then the claims."""
    axes.axhline(0.0, color="0.35", linewidth=0.9)
    study = results.study
    keys: list[Artist] = []
    shown = [0.0, *(end for finding in claims for end in claim_ends(finding))]
    places, settled = _Margin(total_samples(results)), below_uniform(results)
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
            late = np.array(counts) >= max(places.total / 2, settled)
            seeds = np.array([len(deltas) for deltas in curve.values()])
            banded = late & (seeds > 2)  # two seeds: a band so wide that it would hide all else
            shown += [*means[late], *(means - halves)[banded], *(means + halves)[banded]]
            keys.append(Line2D([], [], linewidth=1.8, label=f"{printable(contrast.card, 40)}: with − without", **style))
        effect = nats.effect(contrast.card)
        if effect is not None:
            _draw_point(axes, places.next(), effect, style["color"])
            shown += [effect.delta, *((effect.interval95.low, effect.interval95.high) if effect.interval95 else ())]
    if axes.collections:
        keys.append(Patch(color="0.85", label="band: 95 % over seeds, validation games"))
    if nats.effects:
        split = study.evaluations[MAIN].split
        keys.append(marker_handle("o", "0.25", True, f"{split} games, as in the tables: 95 % over runs and games"))
    keys += _draw_claims(axes, results, claims, places)
    fit_axis(axes, shown, below=0.1, above=0.1)
    axes.axvline(places.total, color="0.8", linewidth=0.8, zorder=0)
    axes.set(ylabel="Δ nats (below 0: helps)", xlabel="samples (curves: validation games)")
    return keys


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


def _draw_point(axes, x: float, effect, colour: str) -> None:
    axes.plot([x], [effect.delta], marker="o", markersize=5, color=colour)
    if effect.interval95:
        axes.plot([x, x], [effect.interval95.low, effect.interval95.high], color=colour, linewidth=1.6)


def _draw_claims(axes, results: StudyResults, claims: list[ClaimFinding], places: _Margin) -> list[Line2D]:
    """Marks at the claimed samples, in the margin when those are not reached or not told; hollow when the conditions
    differ."""
    keys = []
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
        keys.append(marker_handle(marker, colour, filled, whose + claim_label(finding)))
    axes.set_xlim(0, places.end)
    return keys
