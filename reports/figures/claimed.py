"""Claims in a figure: where they stand, whether they were tested as they were made, what the legend says."""

import math

from matplotlib.lines import Line2D

from reports.claims.findings import ClaimFinding
from reports.tables import formats


def same_conditions(finding: ClaimFinding) -> bool:
    """Whether the claim was tested as it was made."""
    return finding.tested and finding.verdict.is_judged


def claim_ends(finding: ClaimFinding) -> tuple[float, float]:
    """Both ends of a claim; an open one stands at the other."""
    assert finding.claim.bounds is not None  # of the others nothing is drawn
    low, high = finding.claim.bounds
    return (high if math.isinf(low) else low), (low if math.isinf(high) else high)


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
