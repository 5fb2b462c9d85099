"""The forest of a summary: one row an enhancement, the bases one below the other, on each the effects by size."""

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from gonn_core.errors import printable
from reports.claims.findings import ClaimFinding
from reports.figures.axes import nats_axis
from reports.figures.claimed import claim_ends, same_conditions
from reports.figures.marks import CLAIM, MARKS, draw_effect, handles, legend, reach
from reports.figures.picture import Picture
from reports.figures.style import WIDTH, figure_bytes
from reports.results.compare import study_thresholds
from reports.summary.lines import SYSTEMS, SummaryLine


def forest(lines: Sequence[SummaryLine], name: str, title: str) -> Picture | None:
    """The picture of these lines; None while no effect is known."""
    if not any(line.effect is not None for line in lines):
        return None
    shown = [(line.card, line.system, line.page, line.report.study.base, _claims(line)) for line in lines]
    return Picture(name, title, lambda: draw_summary(lines, name), shown)


def draw_summary(lines: Sequence[SummaryLine], name: str = "summary") -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg`; nothing while no effect is known. Diamonds: what the documents claim. The axis is
    linear; effects that are far beyond all others are written at its edge."""
    rows = rows_of([line for line in lines if line.effect is not None])
    if not rows:
        return {}
    return figure_bytes(name, (WIDTH, 1.5 + 0.25 * len(rows)), lambda figure: _paint(figure, rows))


def rows_of(lines: Sequence[SummaryLine]) -> list[SummaryLine | str]:
    """Rows from top to bottom: the name of a base (bases in the order of their lines), then its effects, the one that
    helps most first. Without names where there is one base alone."""
    bases: dict[tuple[str, str, str], list[SummaryLine]] = {}
    for line in lines:
        study = line.report.study
        bases.setdefault((line.system, study.base, study.budget_label), []).append(line)
    rows: list[SummaryLine | str] = []
    for (system, base, budget), chosen in bases.items():
        rows += [f"{base}, {budget} ({SYSTEMS.get(system, system)})"] if len(bases) > 1 else []
        chosen.sort(key=lambda line: line.effect.delta if line.effect else 0.0)
        rows += chosen
    return rows


def name_rows(axes, rows: Sequence[SummaryLine | str]) -> None:
    """Names of rows left of an axis; those of bases in bold."""
    names = [printable(row, 60) if isinstance(row, str) else printable(row.card, 40) for row in rows]
    axes.set_yticks(range(len(rows)), names)
    for label, row in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_fontweight("bold" if isinstance(row, str) else "normal")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def _paint(figure: Figure, rows: Sequence[SummaryLine | str]) -> None:
    axes = figure.subplots()
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    lines = [(place, line, line.effect) for place, line in enumerate(rows) if not isinstance(line, str)]
    ends = [end for _, line, _ in lines for finding in _claims(line) for end in claim_ends(finding)]
    within = reach([(effect.delta, effect.interval95) for _, _, effect in lines if effect is not None], ends)
    axes.set_xlim(within.low, within.high)
    axes.xaxis.set_major_locator(MaxNLocator(8))
    nats_axis(axes.xaxis)
    off, claimed, verdicts = False, set(), []
    for place, line, effect in lines:
        assert effect is not None and line.page is not None  # of the others nothing is drawn
        if (shown := line.page.could_show) is not None:
            axes.barh(place, 2 * shown, left=-shown, height=0.72, color="0.93", zorder=0)
        verdicts.append(line.page.verdict)
        off |= draw_effect(axes, place, effect.delta, effect.interval95, MARKS[line.page.verdict], within)
        for finding in _claims(line):
            (low, high), filled = claim_ends(finding), same_conditions(finding)
            axes.plot([low, high], [place + 0.27] * 2, color=CLAIM, linewidth=1.2)
            axes.plot([(low + high) / 2], [place + 0.27], **_diamond(filled))
            claimed.add(filled)
    name_rows(axes, rows)
    axes.set_xlabel("Δ test nats, with − without (left of 0: helps)")
    powers = sorted({f"{100 * study_thresholds(line.report.study).power:g} %" for _, line, _ in lines})
    band = f"an effect within it is shown in fewer than {' or '.join(powers)} of such studies"
    keys = [*handles(verdicts, off), Line2D([], [], color="0.88", linewidth=8, label=band)]
    labels = {True: "claimed, under these conditions", False: "claimed, under other conditions"}
    keys += [Line2D([], [], linestyle="none", **_diamond(filled), label=labels[filled]) for filled in sorted(claimed)]
    legend(figure, keys)


def _claims(line: SummaryLine) -> list[ClaimFinding]:
    """Those on the loss that tell a number."""
    findings = [
        finding
        for finding in line.report.findings
        if (finding.card, finding.claim.metric, finding.claim.quantity) == (line.card, "nats", "difference")
    ]
    return [finding for finding in findings if finding.claim.bounds is not None]


def _diamond(filled: bool) -> dict:
    return {"marker": "D", "markersize": 4.5, "color": CLAIM, "markerfacecolor": CLAIM if filled else "white"}
