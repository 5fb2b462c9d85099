"""The forest of a summary: one row an enhancement, grouped by system."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.panels import claim_ends, nats_axis, same_conditions
from reports.figures.picture import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.summary.lines import SYSTEMS, SummaryLine

TICKS = (0, 0.02, -0.02, 0.05, -0.05, 0.8, -0.8, 0.2, -0.2, 3, -3)
"""Of an axis that is linear to 0.05 nats and logarithmic beyond, the most telling first."""


def forest(lines: Sequence[SummaryLine], name: str, title: str) -> Picture | None:
    """The picture of these lines; None while no effect is known."""
    if not any(line.effect is not None for line in lines):
        return None
    shown = [(line.card, line.system, line.effect, line.shown, line.report.study.base, _claims(line)) for line in lines]
    return Picture(name, title, lambda: draw_summary(lines, name), shown)


def draw_summary(lines: Sequence[SummaryLine], name: str = "summary") -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg`; nothing while no effect is known. Diamonds: what the documents claim. The axis is
    linear near 0 and logarithmic beyond 0.05 nats."""
    drawn = [line for line in lines if line.effect is not None]
    if not drawn:
        return {}
    size = (WIDTH, 1.3 + 0.27 * len(drawn))
    return figure_bytes(name, size, lambda figure: _paint(figure, drawn))


def _paint(figure: Figure, lines: Sequence[SummaryLine]) -> None:
    axes = figure.subplots()
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    claimed: set[bool] = set()
    for row, line in enumerate(lines):
        effect, colour = line.effect, COLOURS[0]
        assert effect is not None  # of the others nothing is drawn
        if line.shown is not None:  # a band: what would have stayed unseen
            axes.barh(row, 2 * line.shown, left=-line.shown, height=0.72, color="0.92", zorder=0)
        if effect.interval95:
            axes.plot([effect.interval95.low, effect.interval95.high], [row, row], color=colour, linewidth=1.8)
        axes.plot([effect.delta], [row], marker="o", markersize=4.5, color=colour)
        claimed |= _draw_claims(axes, row + 0.26, line)
        if row and lines[row - 1].report.study.base != line.report.study.base:
            axes.axhline(row - 0.5, color="0.8", linewidth=0.7)
    names = [f"{printable(line.card, 40)}  ({SYSTEMS.get(line.system, line.system)})" for line in lines]
    axes.set_yticks(range(len(lines)), names)
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xscale("symlog", linthresh=0.05, linscale=1.5)
    axes.margins(x=0.06)
    axes.set_xlabel("Δ test nats, with − without (left of 0: helps)")
    axes.set_xticks(spaced_ticks(axes))
    axes.minorticks_off()
    nats_axis(axes.xaxis)
    handles = [
        Line2D([], [], color=COLOURS[0], marker="o", markersize=4.5, linewidth=1.8, label="effect with 95 % interval"),
        Line2D([], [], color="0.88", linewidth=8, label="effects too small to be shown here"),
    ]
    labels = {True: "claimed, under these conditions", False: "claimed, under other conditions"}
    handles += [
        Line2D([], [], linestyle="none", **_diamond(filled), label=labels[filled])
        for filled in sorted(claimed, reverse=True)
    ]
    figure.legend(handles=handles, loc="outside lower left", ncols=2, alignment="left")


def spaced_ticks(axes) -> list[float]:
    """Those of TICKS within the horizontal axis whose labels do not touch one of a more telling tick."""
    low, high = axes.get_xlim()
    places: dict[float, float] = {}
    for tick in TICKS:
        place = axes.transAxes.inverted().transform(axes.transData.transform((tick, 0.0)))[0]
        if low <= tick <= high and all(abs(place - other) > _LABEL for other in places.values()):
            places[tick] = place
    return sorted(places)


_LABEL = 0.085  # of the axis' width


def _draw_claims(axes, y: float, line: SummaryLine) -> set[bool]:
    """The line's claims; whether they were tested as they were made."""
    kinds = set()
    for finding in _claims(line):
        (low, high), filled = claim_ends(finding), same_conditions(finding)
        axes.plot([low, high], [y, y], color=COLOURS[1], linewidth=1.2)
        axes.plot([(low + high) / 2], [y], **_diamond(filled))
        kinds.add(filled)
    return kinds


def _claims(line: SummaryLine) -> list[ClaimFinding]:
    """Those on the loss that tell a number."""
    findings = [
        finding
        for finding in line.report.findings
        if (finding.card, finding.claim.metric, finding.claim.quantity) == (line.card, "nats", "difference")
    ]
    return [finding for finding in findings if finding.claim.bounds is not None]


def _diamond(filled: bool) -> dict:
    return {"marker": "D", "markersize": 4.5, "color": COLOURS[1], "markerfacecolor": COLOURS[1] if filled else "white"}
