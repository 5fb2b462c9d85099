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
from reports.study.tables import cost_cells
from reports.summary.box import page_warnings, summary_box
from reports.summary.figure import forest
from reports.summary.lines import SYSTEMS, SummaryLine, summary_lines
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.coverage import in_short
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text
from reports.tables.verdicts import BOUND, leaves_out_zero, unshown, verdict_bound, verdict_text
from reports.worth.effects import EXPLAINED, WORTH_COLUMNS, worth_cells

_WORTH = tuple(replace(column, brief=False) for column in WORTH_COLUMNS)
_COLUMNS = (
    Column("system", "system", "left", brief=False),
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("delta", "Δ test nats", parts=("delta_test_nats",)),
    Column("interval", "95 % interval", under="delta", parts=interval95()),
    Column("p", "p (study)"),
    Column("p_page", "p (page)", under="p"),
    Column("shown", "could show"),
    Column("verdict", "verdict", "left"),
    BOUND,
    Column("verdict_study", "verdict in the study", "left", printed=False),
    *_WORTH,
    Column("top1", "Δ test top-1 (points)", brief=False, parts=("delta_test_top1",)),
    Column("cost", "FLOPs", brief=False, under="top1"),
    Column("seeds", "seeds", brief=False, under="verdict"),
    Column("claimed", "the document", "left", brief=False),
    Column("judged", "on that claim", "left", brief=False, under="claimed"),
)


def summary_table(lines: Sequence[SummaryLine]) -> Table:
    """The page's table; Δ is with minus without. What effects are worth is a column where the worth of any is known."""
    worths = any(line.report.worths for line in lines)
    columns = tuple(column for column in _COLUMNS if worths or column not in _WORTH)
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
    report, card = line.report, line.card
    study = report.study
    contrast = next(contrast for contrast in study.contrasts if contrast.card == card)
    finding = leading_finding(report, card)
    cells = {
        "system": text_cell(SYSTEMS.get(line.system, line.system)),
        "card": text_cell(card),
        "base": text_cell(study.base),
        "cost": cost_cells(report.results, contrast)["flops"],
        "claimed": text_cell(claimed_text(finding.claim) if finding else formats.NONE),
        "judged": text_cell(finding.verdict if finding else formats.NONE),
        **worth_cells(report.worths.get(card)),
    }
    if line.effect is None or line.page is None:
        lacking = ("delta", "interval", "p", "p_page", "shown", "bound", "verdict_study", "top1", "seeds")
        empty = dict.fromkeys(lacking, Cell(formats.NONE))
        return Row(f"{study.id}:{card}", {**cells, **empty, "verdict": text_cell("no result yet")})
    effect, page, own = line.effect, line.page, report.verdicts[card]
    trials = used_trials(report.results, contrast, effect, MAIN)
    accuracy = report.analyses[MAIN, "top1"].effect(card)
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else None
    cells |= {
        "delta": Cell(formats.signed(effect.delta), effect.delta, trials, MAIN),
        "interval": Cell(formats.interval(effect.interval95), ends, trials, MAIN),
        "shown": Cell(formats.NONE if line.shown is None else f"{line.shown:.4f}", line.shown, trials, MAIN),
        "p": Cell(formats.p_value(effect.p_adjusted), effect.p_adjusted, trials, MAIN),
        "p_page": Cell(formats.p_value(page.p), page.p, trials, MAIN),
        "verdict": Cell(_verdict(line), str(page.verdict), trials, escape=True),
        "bound": Cell("", verdict_bound(page.verdict, effect), trials, MAIN),
        "verdict_study": Cell(str(own), str(own), trials, MAIN),
        "top1": Cell(
            formats.NONE if accuracy is None else formats.signed(accuracy.delta, "share"),
            accuracy and accuracy.delta,
            trials,
            MAIN,
        ),
        "seeds": Cell(str(effect.n), effect.n, trials, MAIN),
    }
    return Row(f"{study.id}:{card}", cells)


def _verdict(line: SummaryLine) -> str:
    """The page's, and the study's own where it is another one."""
    assert line.effect is not None and line.page is not None
    level = study_thresholds(line.report.study).equivalence_level
    text, own = verdict_text(line.page.verdict, line.effect, level=level), line.report.verdicts[line.card]
    return text if own == line.page.verdict else f"{text}; {own} in its study"


def _notes(lines: Sequence[SummaryLine]) -> tuple[str, ...]:
    studies = list({line.report.study.id: line.report for line in lines}.values())
    coverage = sorted({report.study.coverage for report in studies})
    budgets = sorted({report.study.budget_label for report in studies})
    percents = sorted({f"{100 * study_thresholds(report.study).power:g} %" for report in studies})
    notes = [
        f"{len(lines)} enhancements in {len(studies)} studies; budget {', '.join(budgets)}; data "
        f"{'; '.join(map(in_short, coverage))}.",
        "“Could show”: the smallest |Δ| that the comparison would have called with a probability of "
        f"{', '.join(percents)}, given the noise that was found, beside all other effects of this page.",
        "p (study) is adjusted over the effects of the study alone, p (page) over all effects of this page, of all "
        "bases, whatever commands made them; an effect of the same arms in "
        "two studies counts once. The verdict is that of p (page); an interval is that of one effect by itself. Bases "
        "and their nets differ between systems, so compare rows of one base with each other.",
        "Each interval is that of its study's own report, which names the seed noise that it is drawn towards; that is "
        "kept from the study's first complete report on. A page made from other studies, or with a study complete at "
        "another time, may give the same effect another interval.",
        *_because_of_others(lines),
    ]
    return (*page_warnings(studies), *notes)


def _because_of_others(lines: Sequence[SummaryLine]) -> list[str]:
    """Which verdicts and which intervals that leave 0 out are to be read with the number of effects on the page."""
    judged = [
        (
            line,
            line.effect,
            line.page,
            f"{line.card} (p {formats.p_value(line.effect.p_adjusted)} in its study, "
            f"{formats.p_value(line.page.p)} here)",
        )
        for line in lines
        if line.effect is not None and line.page is not None
    ]
    other = [name for line, _, page, name in judged if page.verdict != line.report.verdicts[line.card]]
    apart = [name for _, effect, page, name in judged if unshown(page.verdict) and leaves_out_zero(effect)]
    notes = (
        [f"Another verdict than in its study, beside all effects of this page: {', '.join(other)}."] if other else []
    )
    if more := [name for name in apart if name not in other]:
        notes.append(f"Not shown among so many, though its own interval leaves 0 out: {', '.join(more)}.")
    return notes


def write_summary(reports: Sequence[Report], registry: Registry, folder: Path, cache: Path | None = None) -> Path:
    """`summary.md`, `.csv`, `.json`, the forest as `.png` and `.svg`, in `folder`. Returns the markdown's path.

    `cache`: as of `reports.book.book.write_book`. Raises InputError.
    """
    lines = summary_lines(reports, registry)
    table = summary_table(lines)
    picture = forest(lines, "summary", table.title)
    pictures = {} if picture is None else picture.files(cache)
    box = "\n".join(f"- {markdown_escape(sentence)}" for sentence in summary_box(reports, lines, registry))
    games = sorted({line.report.study.coverage for line in lines})
    parts = ["# Enhancements compared", box, f"Games: {markdown_escape('; '.join(games))}.", markdown_table(table)]
    parts += ["![Effects with their intervals](summary.png)"] if pictures else []
    parts += ["\n".join(f"- {markdown_escape(note)}" for note in table.notes)]
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
