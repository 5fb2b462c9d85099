"""A study's report on the terminal: what reads well at 100 columns, without colours when piped."""

from collections.abc import Iterator

from rich.console import Console, RenderableType
from rich.text import Text

from gonn_core.errors import printable
from reports.study.footnotes import unfinished_notes
from reports.study.report import Report
from reports.study.report_tables import main_table
from reports.tables.terminal import rich_table

WIDTH = 100
SHOWN = ("arms", "effects", "rates", "play", "claims")


def terminal_tables(report: Report) -> Iterator[RenderableType]:
    """The main tables with their narrow columns, what is unfinished, then what each effect says in one sentence."""
    for name in SHOWN:
        table = None if name == "arms" and report.study.design == "screen" else main_table(report, name)
        if table is not None and table.rows:
            yield Text(printable(table.title, 300), style="bold")
            yield rich_table(table)
            if name == "effects":
                yield from (Text(printable(note, 400)) for note in table.notes)
            yield Text()
    for note in unfinished_notes(report.results):
        yield Text(printable(note, 400), style="yellow")
    for sentence in report.sentences:
        yield Text(printable(sentence, 400))
    for said in report.said:
        yield Text(printable(said.text + (":" if said.command else ""), 1000))
        if said.command:
            yield Text(f"  {printable(said.command, 4000)}", no_wrap=True)  # a command is copied in one piece


def print_report(report: Report, console: Console | None = None) -> None:
    """Print a report; on a console of the terminal's width, or of 100 columns when that is no terminal."""
    if console is None:
        plain = Console()
        console = plain if plain.is_terminal else Console(width=WIDTH)
    for part in terminal_tables(report):
        console.print(part, soft_wrap=isinstance(part, Text) and bool(part.no_wrap))
