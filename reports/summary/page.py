"""One page over several studies: every enhancement with its effect, the smallest effect that could have been shown, and
its claim."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ablations.registry import Registry
from gonn_core.errors import markdown_escape
from reports.claims.findings import ClaimFinding, claimed_text
from reports.files import write_files
from reports.results.compare import study_thresholds, used_trials
from reports.results.group import MAIN
from reports.study.report import Report
from reports.study.tables import cost_cells, effect_cells
from reports.summary.box import NO_RESULT, page_warnings, summary_box
from reports.summary.figure import forest
from reports.summary.lines import SYSTEMS, SummaryLine, summary_lines
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.coverage import in_short
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text
from reports.tables.verdicts import BOUND
from reports.worth.effects import EXPLAINED, WORTH_COLUMNS, worth_cells

_WORTH = tuple(replace(column, brief=False) for column in WORTH_COLUMNS)
_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("system", "system", "left", brief=False, under="card"),
    Column("study", "study", "left", printed=False),
    Column("delta", "Δ test nats", parts=("delta_test_nats",)),
    Column("interval", "95 % interval", under="delta", parts=interval95()),
    Column("at_base", "at the base", under="delta", parts=("at_base", *interval95("at_base"))),
    Column("q", "q"),
    Column("shown", "could show", under="q"),
    Column("verdict", "verdict", "left"),
    BOUND,
    Column("runs", "runs: with and without", "left", brief=False, under="verdict", parts=("runs_with", "runs_without")),
    Column("own", "of the study", brief=False, under="verdict"),
    *_WORTH,
    Column("top1", "Δ test top-1 (points)", brief=False, parts=("delta_test_top1",)),
    Column("cost", "FLOPs", brief=False, under="top1"),
    Column("claimed", "the document", "left", brief=False),
    Column("judged", "on that claim", "left", brief=False, under="claimed"),
)


def summary_table(lines: Sequence[SummaryLine]) -> Table:
    """The page's table; Δ is with minus without. What effects are worth is a column where the worth of any is known."""
    means = any(line.page is not None and line.page.at_base for line in lines)
    worths = any(line.report.worths for line in lines)
    left_out = {"at_base"} if not means else set()
    left_out |= set() if worths else {column.key for column in _WORTH}
    columns = tuple(column for column in _COLUMNS if column.key not in left_out)
    notes = (*_notes(lines), EXPLAINED) if worths else _notes(lines)
    return Table("summary", "Effects on the loss", columns, tuple(_row(line) for line in lines), notes)


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
    report, card, page = line.report, line.card, line.page
    finding = leading_finding(report, card)
    cells = dict.fromkeys((column.key for column in _COLUMNS), Cell(formats.NONE))
    cells |= {
        "system": text_cell(SYSTEMS.get(line.system, line.system)),
        "card": text_cell(card),
        "base": text_cell(report.study.base),
        "study": text_cell(report.study.id),
        "verdict": text_cell(NO_RESULT),
        "cost": cost_cells(report.results, line.contrast)["flops"],
        "claimed": text_cell(claimed_text(finding.claim) if finding else formats.NONE),
        "judged": text_cell(finding.verdict if finding else formats.NONE),
        **worth_cells(report.worths.get(card)),
    }
    if page is not None:
        trials = used_trials(report.results, line.contrast, MAIN)
        accuracy = report.analyses[MAIN, "top1"].effect(card)
        could = page.could_show
        cells |= effect_cells(page.effect, page.at_base, page.verdict, trials, MAIN)
        cells["shown"] = Cell(formats.NONE if could is None else f"{could:.4f}", could, trials, MAIN)
        if accuracy is not None:
            cells["top1"] = Cell(formats.signed(accuracy.delta, "share"), accuracy.delta, trials, MAIN)
    return Row(f"{report.study.id}:{card}", cells)


def _notes(lines: Sequence[SummaryLine]) -> tuple[str, ...]:
    reports = list({line.report.study.id: line.report for line in lines}.values())
    coverage = sorted({report.study.coverage for report in reports})
    budgets = sorted({report.study.budget_label for report in reports})
    thresholds = study_thresholds(reports[0].study)
    means = sorted({_group(line.report) for line in lines if line.page is not None and line.page.at_base})
    notes = [
        f"{len(lines)} effects; budget {', '.join(budgets)}; data {'; '.join(map(in_short, coverage))}. Each "
        "enhancement has a row for each group of runs: all that the workspace has of a base under the same conditions.",
        f"Of the effects that this page calls helps or hurts, at most {100 * thresholds.alpha:g} % are expected to be "
        "null or of the other sign: q is over all effects of this page, of all bases. An interval is that of one "
        "effect by itself. Bases and their nets differ between systems, so compare rows of one base with each other.",
        f"“Could show”: the smallest |Δ| that would have been shown with a probability of {100 * thresholds.power:g} "
        "%, given the noise that was found, beside all other effects of this page.",
    ]
    if means:
        notes.append(
            f"Of {'; '.join(means)} Δ is the mean effect over the others on and off; “at the base”, with all others as "
            "there, has no verdict of its own. All other rows are at the base."
        )
    return (*page_warnings(reports), *notes)


def _group(report: Report) -> str:
    study, (runs, _) = report.study, report.nats.runs
    return f"{study.base} ({study.budget_label}, {study.data}, {runs} runs)"


def write_summary(reports: Sequence[Report], registry: Registry, folder: Path, cache: Path | None = None) -> Path:
    """`summary.md`, `.csv`, `.json`, the forest as `.png` and `.svg`, in `folder`. Returns the markdown's path.

    `cache`: as of `reports.book.book.write_book`. Raises InputError.
    """
    lines = summary_lines(reports, registry)
    table = summary_table(lines)
    picture = forest(lines, "summary", table.title)
    pictures = {} if picture is None else picture.files(cache)
    box = "\n".join(f"- {markdown_escape(sentence)}" for sentence in summary_box(reports, lines, registry))
    games, studies = sorted({report.study.coverage for report in reports}), [report.study.id for report in reports]
    parts = ["# Enhancements compared", box, f"Games: {markdown_escape('; '.join(games))}.", markdown_table(table)]
    parts += ["![Effects with their intervals](summary.png)"] if pictures else []
    parts += ["\n".join(f"- {markdown_escape(note)}" for note in table.notes)]
    parts += ["## Studies", "\n".join(f"- `{study}`" for study in studies)]
    tree = {"format": 1, "rows": [{key: cell.value for key, cell in row.cells.items()} for row in table.rows]}
    tree["trials"] = [{key: list(cell.trials) for key, cell in row.cells.items() if cell.trials} for row in table.rows]
    tree["studies"] = studies
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
