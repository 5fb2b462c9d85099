"""Tables on the terminal."""

import textwrap

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from gonn_core.errors import printable
from reports.tables.cells import Cell, Table

VERDICT_STYLES = {
    "helps": "green",
    "replicated": "green",
    "consistent with the claim": "green",
    "hurts": "red",
    "contradicted": "red",
    "underpowered": "yellow",
    "not shown": "yellow",
}

SHORT = 20
"""Characters of texts that stay on one line, whatever else is narrow."""


def rich_table(table: Table) -> RichTable:
    """One table; text from files is shown as text, never as markup. Numbers stay on one line, words may wrap."""
    shown = RichTable(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    body = table.body(brief=True)
    for index, column in enumerate(table.shown(brief=True)):
        numbers = column.align == "right"
        texts = [_shown(row[index]) for row in body]
        longest_word = max(map(len, column.title.split()))
        title = "\n".join(textwrap.wrap(column.title, max(longest_word, *map(len, texts)))) if numbers else column.title
        longest = max(len(word) for text in texts for word in text.split() or [""])
        whole = max([0, *map(len, texts)])
        # Names stay whole, and so do columns of short texts such as verdicts; other words wrap where they must.
        least = min(longest, 26) if index == 0 else whole if not numbers and whole <= SHORT else None
        shown.add_column(Text(title), justify=column.align, no_wrap=numbers, min_width=least, overflow="fold")
    for row in body:
        shown.add_row(*(Text(_shown(cell), style=VERDICT_STYLES.get(cell.text.partition(":")[0], "")) for cell in row))
    return shown


def _shown(cell: Cell) -> str:
    return printable(cell.text if cell.short is None else cell.short)


def print_table(table: Table, console: Console) -> None:
    """One table with its title and its notes."""
    console.print(Text(printable(table.title, 300), style="bold"))
    console.print(rich_table(table))
    for note in table.notes:
        console.print(Text(printable(note, 2000)))
    console.print()
