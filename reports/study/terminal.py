"""A study's report on the terminal: what reads well at 100 columns, without colours when piped."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, RenderableType
from rich.text import Text

from gonn_core.errors import printable
from reports.claims.verdicts import ClaimVerdict
from reports.results.costs import busy_note
from reports.study.footnotes import unfinished_notes
from reports.study.report import Report
from reports.study.report_tables import main_table
from reports.tables.cells import Table
from reports.tables.terminal import rich_table

UNANSWERED = (ClaimVerdict.NOT_TESTED, ClaimVerdict.NOT_MEASURED)
"""Verdicts on claims that this study says nothing about."""
SHOWN = ("arms", "effects", "rates", "play", "claims")


def terminal_tables(report: Report) -> Iterator[RenderableType]:
    """The main tables with their narrow columns, what is unfinished, then what each effect says in one sentence."""
    for name in SHOWN:
        table = None if name == "arms" and report.study.design == "screen" else main_table(report, name)
        if name == "claims" and table is not None:
            table = answered_claims(table)
        if table is not None and (table.rows or table.notes):
            yield Text(printable(table.title, 300), style="bold")
            if table.rows:
                yield rich_table(table)
            if name in ("effects", "claims"):
                yield from (Text(printable(note, 400)) for note in table.notes)
            if name == "rates" and (note := busy_note(report.results)):
                yield Text(note, style="yellow")
            yield Text()
    for note in unfinished_notes(report.results):
        yield Text(printable(note, 400), style="yellow")
    for sentence in report.sentences:
        yield Text(printable(sentence, 400))
    for said in report.said:
        yield Text(printable(said.text + (":" if said.command else ""), 1000))
        if said.command:
            yield Text(f"  {printable(said.command, 4000)}", no_wrap=True)  # a command is copied in one piece


def answered_claims(table: Table) -> Table:
    """The claims that something can be said of here; the others are counted in a line."""
    verdicts = Counter(row.cells["verdict"].value for row in table.rows)
    rows = tuple(row for row in table.rows if row.cells["verdict"].value not in UNANSWERED)
    notes = list(table.notes if rows else ())
    if any(verdict.startswith("count") for verdict in verdicts):
        notes.append(
            "Counts of parameters are of the documents' nets in full size; the other tables' of the nets trained."
        )
    left_out = [f"{verdicts[verdict]} {verdict}" for verdict in UNANSWERED if verdicts[verdict]]
    if left_out:
        notes.append(f"{'Further claims' if rows else 'Claims'}: {', '.join(left_out)}; report.md has each, with why.")
    return replace(table, rows=rows, notes=tuple(notes))


def print_report(report: Report, console: Console) -> None:
    """Print a report."""
    for part in terminal_tables(report):
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
