"""One page over several studies: every enhancement with its effect, the smallest effect that could have been shown, and
its claim."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from scipy.special import nctdtrinc

from ablations.registry import Registry
from reports.claims.findings import ClaimFinding, claimed_text
from reports.stats.estimates import Effect, quantile
from reports.stats.verdicts import Thresholds
from reports.study.compare import MAIN, study_thresholds
from reports.study.report import Report
from reports.study.tables import used_trials
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.serial import csv_text

SYSTEMS = {
    "gonn": "GoNN",
    "go_nn": "go-NN",
    "clark_storkey": "Clark & Storkey",
    "lczero": "lczero fork",
    "cazenave": "Cazenave",
}
"""Systems in the order of the page, as they are called there."""

_COLUMNS = (
    Column("system", "system", "left", brief=False),
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("delta", "Δ nats"),
    Column("interval", "95 % interval", under="delta"),
    Column("shown", "could show"),
    Column("verdict", "verdict", "left"),
    Column("top1", "Δ top-1 (points)", brief=False),
    Column("cost", "FLOPs", brief=False, under="top1"),
    Column("seeds", "seeds", brief=False, under="verdict"),
    Column("claimed", "the document", "left", brief=False),
    Column("judged", "on that claim", "left", brief=False, under="claimed"),
)


@dataclass(frozen=True)
class SummaryLine:
    """One enhancement of one study; `effect` is None when it has no results yet."""

    report: Report
    card: str
    system: str
    effect: Effect | None
    shown: float | None


def smallest_shown(effect: Effect, thresholds: Thresholds, toggles: int) -> float | None:
    """The |effect| that this comparison would have shown with `thresholds.power`, given the standard error that it
    ended with.

    Level alpha/toggles: Holm's first step. None where no standard error is known or too few seeds to be judged.
    """
    if effect.se is None or effect.n < thresholds.min_seeds:
        return None
    critical = quantile(1 - thresholds.alpha / toggles / 2, effect.df)
    return float(nctdtrinc(effect.df, 1 - thresholds.power, critical)) * effect.se


def summary_lines(reports: Sequence[Report], registry: Registry) -> list[SummaryLine]:
    """Every enhancement of every study, by system, then study, in the study's order."""
    lines = []
    for report in reports:
        thresholds = study_thresholds(report.study)
        for contrast in report.study.contrasts:
            system = registry.cards[contrast.card].system if contrast.card in registry.cards else "unknown"
            effect = report.analyses[MAIN, "nats"].effect(contrast.card)
            shown = None if effect is None else smallest_shown(effect, thresholds, len(report.study.contrasts))
            lines.append(SummaryLine(report, contrast.card, system, effect, shown))
    order = list(SYSTEMS)
    return sorted(
        lines,
        key=lambda line: (order.index(line.system) if line.system in order else len(order), line.report.study.base),
    )


def summary_table(lines: Sequence[SummaryLine]) -> Table:
    """The page's table; Δ is with minus without."""
    return Table("summary", "Effects on the loss", _COLUMNS, tuple(_row(line) for line in lines), _notes(lines))


def leading_finding(report: Report, card: str) -> ClaimFinding | None:
    """The claim to set beside the effect: on the loss if there is one, else on the accuracy, else the first; not a
    count of parameters."""
    findings = [finding for finding in report.findings if finding.card == card and finding.claim.metric != "parameters"]
    for metric in ("nats", "top1"):
        for finding in findings:
            if finding.claim.metric == metric and finding.claim.quantity == "difference":
                return finding
    return findings[0] if findings else None


def _row(line: SummaryLine) -> Row:
    report, card = line.report, line.card
    study = report.study
    contrast = next(contrast for contrast in study.contrasts if contrast.card == card)
    cost = next(row for row in report.effects.rows if row.key == card).cells["flops"]
    finding = leading_finding(report, card)
    cells = {
        "system": text_cell(SYSTEMS.get(line.system, line.system)),
        "card": text_cell(card),
        "base": text_cell(study.base),
        "cost": cost,
        "claimed": text_cell(claimed_text(finding.claim) if finding else formats.NONE),
        "judged": text_cell(finding.verdict if finding else formats.NONE),
    }
    if line.effect is None:
        empty = dict.fromkeys(("delta", "interval", "shown", "top1", "seeds"), Cell(formats.NONE))
        return Row(f"{study.id}:{card}", {**cells, **empty, "verdict": text_cell("no result yet")})
    effect = line.effect
    trials = used_trials(report.results, contrast, effect, MAIN)
    accuracy = report.analyses[MAIN, "top1"].effect(card)
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else None
    cells |= {
        "delta": Cell(formats.signed(effect.delta), effect.delta, trials, MAIN),
        "interval": Cell(formats.interval(effect.interval95), ends, trials, MAIN),
        "shown": Cell(formats.NONE if line.shown is None else f"{line.shown:.4f}", line.shown, trials, MAIN),
        "verdict": text_cell(report.analyses[MAIN, "nats"].verdict(card), trials),
        "top1": Cell(
            formats.NONE if accuracy is None else formats.signed(accuracy.delta, "share"),
            accuracy and accuracy.delta,
            trials,
            MAIN,
        ),
        "seeds": Cell(str(effect.n), effect.n, trials, MAIN),
    }
    return Row(f"{study.id}:{card}", cells)


def _notes(lines: Sequence[SummaryLine]) -> tuple[str, ...]:
    studies = list({line.report.study.id: line.report for line in lines}.values())
    coverage = sorted({report.study.coverage for report in studies})
    budgets = sorted({report.study.budget for report in studies})
    percents = sorted({f"{100 * study_thresholds(report.study).power:g} %" for report in studies})
    notes = [
        f"{len(lines)} enhancements in {len(studies)} studies; budget {', '.join(budgets)}; data {'; '.join(coverage)}.",
        f"“Could show”: the smallest |Δ| that the comparison would have called with a probability of {', '.join(percents)}, given the noise that was found.",
        "Effects of one study share a control and are judged together (Holm within each study); bases and their nets differ between systems,"
        " so compare rows of one base with each other.",
    ]
    unfinished = [report.study.id for report in studies if report.results.unfinished]
    return (*notes, f"Not finished: {', '.join(unfinished)}.") if unfinished else tuple(notes)


def write_summary(reports: Sequence[Report], registry: Registry, folder: Path, keys: Path | None = None) -> Path:
    """`summary.md`, `.csv`, `.json`, the forest as `.png` and `.svg`, in `folder`. Returns the markdown's path. `keys`:
    as of `reports.book.book.write_book`. Raises InputError."""
    from reports.figures.cache import kept_picture
    from reports.study.render import markdown_table, markdown_text, write_files
    from reports.summary.figure import forest

    lines = summary_lines(reports, registry)
    table = summary_table(lines)
    picture = forest(lines, "summary", table.title)
    pictures = {} if picture is None else picture.files if keys is None else kept_picture(folder, keys, picture)
    parts = (
        ["# Enhancements compared", markdown_table(table), "![Effects with their intervals](summary.png)"]
        if pictures
        else ["# Enhancements compared", markdown_table(table)]
    )
    parts += ["\n".join(f"- {markdown_text(note)}" for note in table.notes)]
    parts += ["## Studies", "\n".join(f"- `{line}`" for line in dict.fromkeys(line.report.study.id for line in lines))]
    tree = {"format": 1, "rows": [{key: cell.value for key, cell in row.cells.items()} for row in table.rows]}
    tree["trials"] = [{key: list(cell.trials) for key, cell in row.cells.items() if cell.trials} for row in table.rows]
    tree["studies"] = list(dict.fromkeys(line.report.study.id for line in lines))
    write_files(
        folder,
        {
            "summary.md": ("\n\n".join(parts) + "\n").encode(),
            "summary.csv": csv_text(table).encode(),
            "summary.json": (json.dumps(_finite(tree), indent=1, ensure_ascii=False) + "\n").encode(),
            **pictures,
        },
    )
    return folder / "summary.md"


def _finite(value):
    """JSON knows no infinities."""
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
