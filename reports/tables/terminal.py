"""A report on the terminal: rich tables that read well at 100 columns, without colours when piped."""

import textwrap
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from gonn_core.errors import printable
from reports.study.footnotes import unfinished_notes
from reports.study.report import Report
from reports.tables.cells import Cell, Table

WIDTH = 100
SHOWN = ("arms", "effects", "rates", "play", "claims")
VERDICT_STYLES = {
    "helps": "green",
    "replicated": "green",
    "hurts": "red",
    "contradicted": "red",
    "underpowered": "yellow",
    "inconclusive": "yellow",
}


def terminal_tables(report: Report) -> Iterator[RenderableType]:
    """The main tables with their narrow columns, what is unfinished, then what each effect says in one sentence."""
    tables = {table.name: table for table in report.all_tables}
    for table in (tables[name] for name in SHOWN if name in tables):  # no games, no table of play
        if table.rows:
            yield Text(printable(table.title, 300), style="bold")
            yield rich_table(table)
            yield Text()
    for note in unfinished_notes(report.results):
        yield Text(printable(note, 400), style="yellow")
    for sentence in report.sentences:
        yield Text(printable(sentence, 400))


def rich_table(table: Table) -> RichTable:
    """One table; text from files is shown as text, never as markup. Numbers stay on one line, words may wrap."""
    made = RichTable(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    body = table.body(brief=True)
    for index, column in enumerate(table.shown(brief=True)):
        numbers = column.align == "right"
        texts = [_shown(row[index]) for row in body]
        longest_word = max(map(len, column.title.split()))
        title = "\n".join(textwrap.wrap(column.title, max(longest_word, *map(len, texts)))) if numbers else column.title
        longest = max(len(word) for text in texts for word in text.split() or [""])
        least = (
            min(longest, 30) if index == 0 else None
        )  # names in the first column stay whole; other words wrap where they must
        made.add_column(Text(title), justify=column.align, no_wrap=numbers, min_width=least, overflow="fold")
    for row in body:
        made.add_row(*(Text(_shown(cell), style=VERDICT_STYLES.get(cell.text, "")) for cell in row))
    return made


def _shown(cell: Cell) -> str:
    return printable(cell.text if cell.short is None else cell.short)


def print_table(table: Table, console: Console) -> None:
    """One table with its title and its notes."""
    console.print(Text(printable(table.title, 300), style="bold"))
    console.print(rich_table(table))
    for note in table.notes:
        console.print(Text(printable(note, 2000)))
    console.print()


def print_report(report: Report, console: Console | None = None) -> None:
    """Print a report; on a console of the terminal's width, or of 100 columns when that is no terminal."""
    if console is None:
        plain = Console()
        console = plain if plain.is_terminal else Console(width=WIDTH)
    for part in terminal_tables(report):
        console.print(part)
