"""Tables on the terminal."""

import textwrap
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from gonn_core.errors import printable
from reports.tables.cells import Cell, Table

_STYLES = {"good": "green", "bad": "red", "good-lean": "dim green", "bad-lean": "dim red", "open": "yellow"}

SHORT = 20
"""Characters of texts that stay on one line, whatever else is narrow."""
NAME = 26
"""Characters of a word from which it may be broken."""


def rich_table(table: Table) -> "FittedTable":
    """One table; text from files is shown as text, never as markup. Numbers stay on one line, words may wrap.

    Where it is too narrow for all columns the last ones stand in a second block below, beside the first column again:
    none is lost.
    """
    return FittedTable(table)


class FittedTable:
    """A table that is laid out when the width of the terminal is known."""

    def __init__(self, table: Table):
        self._columns, self._body = table.shown(brief=True), table.body(brief=True)
        self._texts = [[_shown(row[index]) for row in self._body] for index in range(len(self._columns))]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for number, block in enumerate(self.blocks(options.max_width)):
            if number:
                yield Text()
            yield self._block(block, options.max_width)

    def blocks(self, width: int) -> list[list[int]]:
        """Numbers of the columns of each block, the first column in all of them."""
        blocks = [[0]]
        for index in range(1, len(self._columns)):
            if len(blocks[-1]) > 1 and self._width([*blocks[-1], index]) > width:
                blocks.append([0])
            blocks[-1].append(index)
        return blocks

    def _width(self, block: Sequence[int]) -> int:
        """Characters that columns take side by side, with what separates them."""
        return sum(self._least(index) + 2 for index in block) - 1

    def _least(self, index: int) -> int:
        """Characters below which a column would be cut, or its words broken."""
        column, texts = self._columns[index], self._texts[index]
        title = max(map(len, column.title.split()))
        whole = max([0, *map(len, texts)])
        if column.align == "right" or (index and whole <= SHORT):
            # Numbers stay on one line, and so do columns of short texts such as verdicts.
            return max(title, whole)
        # Other words wrap where they must, and names are broken where they are very long.
        return max(title, min(NAME, max(len(word) for text in texts for word in text.split() or [""]) if texts else 0))

    def _widths(self, block: Sequence[int], width: int) -> dict[int, int]:
        """Characters of each column of a block: what is left over goes to those whose words wrap."""
        widths = {index: self._least(index) for index in block}
        room = max(0, width - self._width(block))
        wishes = {index: max([0, *map(len, self._texts[index])]) - least for index, least in widths.items()}
        for left, index in enumerate(sorted(wishes, key=lambda each: wishes[each])):
            more = max(0, min(wishes[index], room // (len(wishes) - left)))
            widths[index] += more
            room -= more
        return widths

    def _block(self, block: Sequence[int], width: int) -> RichTable:
        shown = RichTable(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
        for index, wide in self._widths(block, width).items():
            column = self._columns[index]
            numbers = column.align == "right"
            title = "\n".join(textwrap.wrap(column.title, wide)) if numbers else column.title
            shown.add_column(Text(title), justify=column.align, no_wrap=numbers, width=wide, overflow="fold")
        for row in self._body:
            shown.add_row(*(Text(_shown(cell), _STYLES.get(cell.tone, "")) for cell in (row[index] for index in block)))
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
