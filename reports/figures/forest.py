"""The forest panel of a study, and how claims look in figures."""

import math

from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding, claim_ends, same_conditions
from reports.figures.axes import nats_axis
from reports.figures.marks import CLAIM, MARKS, draw_effect, handles
from reports.figures.reach import reach
from reports.results.compare import StudyAnalysis
from reports.results.group import MAIN
from reports.results.study_results import StudyResults
from reports.tables import formats


def claim_label(finding: ClaimFinding) -> str:
    """`claimed at 5M samples: −0.04`."""
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    ends = [formats.minus(f"{end:+g}") for end in (low, high) if math.isfinite(end)]
    if len(ends) == 1:
        text = f"{'at most' if math.isinf(low) else 'at least'} {ends[0]}"
    else:
        text = ends[0] if low == high else f"{ends[0]} to {ends[1]}"
    at = f" at {formats.samples(finding.claim.samples)} samples" if finding.claim.samples else ""
    return f"claimed{at}: {text}"


def marker_handle(marker: str, colour: str, filled: bool, label: str) -> Line2D:
    """Of a legend: a marker alone."""
    face = colour if filled else "white"
    return Line2D(
        [], [], linestyle="none", marker=marker, color=colour, markerfacecolor=face, markersize=6, label=label
    )


def draw_forest(axes, results: StudyResults, nats: StudyAnalysis, claims: list[ClaimFinding]) -> list[Line2D]:
    """One row per contrast, the one that helps most first: effect on the test games with its interval, as its verdict
    is drawn, and what was claimed."""
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    found = {contrast.card: nats.effect(contrast.card) for contrast in results.study.contrasts}
    known = {card: effect for card, effect in found.items() if effect is not None}
    cards = [*sorted(known, key=lambda card: known[card].delta), *(card for card in found if card not in known)]
    within = reach(
        [(effect.delta, effect.interval95) for effect in known.values()],
        [end for finding in claims for end in claim_ends(finding)],
    )
    axes.set_xlim(within.low, within.high)
    off, verdicts = False, []
    for row, card in enumerate(cards):
        verdict = nats.verdict(card)
        if card not in known or verdict is None:
            beside = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
            axes.annotate("no results yet", (0, row), color="0.4", fontsize=8, **beside)
            continue
        verdicts.append(verdict)
        off |= draw_effect(axes, row, known[card].delta, known[card].interval95, MARKS[verdict], within)
    kinds: dict[bool, str] = {}
    for finding in claims:
        place, (low, high), filled = cards.index(finding.card) + 0.28, claim_ends(finding), same_conditions(finding)
        axes.plot([low, high], [place, place], color=CLAIM, linewidth=1.2)
        face = CLAIM if filled else "white"
        axes.plot([(low + high) / 2], [place], marker="D", markersize=5, color=CLAIM, markerfacecolor=face)
        kinds[filled] = "claimed, under these conditions" if filled else "claimed, under other conditions"
    axes.set_yticks(range(len(cards)), [printable(card, 40) for card in cards])
    axes.set_ylim(len(cards) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"Δ {results.study.evaluations[MAIN].split} nats, with − without (left of 0: helps)")
    axes.xaxis.set_major_locator(MaxNLocator(7))
    nats_axis(axes.xaxis)
    return handles(verdicts, off) + [marker_handle("D", CLAIM, filled, text) for filled, text in sorted(kinds.items())]
