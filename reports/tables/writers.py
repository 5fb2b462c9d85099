"""Tables as markdown, as LaTeX and on a terminal. What is too wide continues in further tables that repeat the first
column."""

import csv
import io
import json
import math
import re
import textwrap
from collections.abc import Sequence

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table as RichTable
from rich.text import Text

from gonn_core.errors import markdown_escape, printable
from reports.tables.cells import Cell, Column, Table
from reports.tables.formats import NONE

WIDEST = 90
"""Characters of a line in markdown once every cell is broken at its spaces."""
LINE = 110
"""Characters of a line in LaTeX, in the size of footnotes."""
LONG = 30
"""Characters of a text in LaTeX from which its column is set in paragraphs."""
SHORT, NAME = 20, 26
"""On a terminal: characters of texts that stay on one line; of words from which they may be broken."""
PACKAGES = r"% needs \usepackage{array,booktabs,longtable}"
_STYLES = {"good": "green", "bad": "red", "good-lean": "dim green", "bad-lean": "dim red", "open": "yellow"}
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    **{"<": "$<$", ">": "$>$", "|": "$|$", "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "≥": r"$\ge$", "≤": r"$\le$"},
    **{"→": r"$\to$", "≈": r"$\approx$", "Δ": r"$\Delta$", "–": "--", "…": r"\dots{}", "“": "``", "”": "''"},
    **{"†": r"\dag{}", "‡": r"\ddag{}", "✓": r"$\surd$", "✗": r"$\times$", "\u00a0": "~"},
}


def stacks(columns: Sequence[Column]) -> list[list[Column]]:
    """Columns that share a cell, a line each: those that stand `under` another column that is shown."""
    keys = {column.key for column in columns}
    heads = [column for column in columns if column.under not in keys]
    return [[head, *(column for column in columns if column.under == head.key)] for head in heads]


def fitting(widths: Sequence[int], room: int) -> list[list[int]]:
    """Numbers of the columns of each part of a table that has room for so many characters; the first column is in
    all."""
    parts, left = [[0]], room - widths[0]
    for index, width in enumerate(widths[1:], 1):
        if width > left and len(parts[-1]) > 1:
            parts.append([0])
            left = room - widths[0]
        parts[-1].append(index)
        left -= width
    return parts


def markdown_table(table: Table) -> str:
    """A table in markdown, numbers to the right."""
    shared = stacks(table.shown())
    names = {column.key: markdown_escape(column.title) if column.escape else column.title for column in table.columns}
    titles = ["<br>".join(names[column.key] for column in stack) for stack in shared]
    body = [["<br>".join(_markdown(row.cells[each.key]) for each in stack) for stack in shared] for row in table.rows]
    rules = ["---:" if stack[0].align == "right" else ":---" for stack in shared]
    widths = [
        3 + max(len(word) for text in texts for word in re.split("<br>| ", text.replace("\\", "")))
        for texts in zip(titles, *body, strict=True)
    ]
    return "\n\n".join(
        "\n".join(f"| {' | '.join(cells[index] for index in part)} |" for cells in (titles, rules, *body))
        for part in fitting(widths, WIDEST)
    )


def _markdown(cell: Cell) -> str:
    text = markdown_escape(cell.text) if cell.escape else cell.text
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return f"[{text}]({cell.link})" if cell.link else text


def latex_text(text: str) -> str:
    """Printable text in which LaTeX finds no command; other letters beyond ASCII stay as they are (UTF-8 is its
    default)."""
    return "".join(_LATEX.get(sign, sign) for sign in printable(text, 4000))


def latex_table(table: Table) -> str:
    """A `longtable` of the narrow columns: its title as caption, its notes below it in print. Columns of long texts are
    paragraphs that share what the others leave of a line; there a name may be broken at its signs."""
    columns = table.shown(brief=True)
    texts = [[column.title for column in columns], *([cell.text for cell in row] for row in table.body(brief=True))]
    longest = [max(map(len, column)) for column in zip(*texts, strict=True)]
    wide = [size > LONG for size in longest]
    share = (LINE - sum(min(size, LONG) + 3 for size in longest if size <= LONG)) / max(1, sum(wide)) - 3
    paragraph = rf"p{{{max(share, 12) / LINE:.2f}\linewidth}}"
    kinds = [
        rf">{{\ragged{'right' if column.align == 'left' else 'left'}\arraybackslash}}{paragraph}"
        if long
        else column.align[0]
        for column, long in zip(columns, wide, strict=True)
    ]
    lines = []
    for row in texts:
        cells = [latex_text(text) for text in row]
        broken = [re.sub(r"(\\_|[+=/])", r"\1\\allowbreak{}", text) for text in cells]
        lines.append(" & ".join(b if long else c for c, b, long in zip(cells, broken, wide, strict=True)) + r" \\")
    begin = [PACKAGES, r"\begingroup\footnotesize", rf"\begin{{longtable}}{{{''.join(kinds)}}}"]
    caption = rf"\caption{{{latex_text(table.title)}}}\label{{tab:{table.name}}} \\"
    head = [caption, r"\toprule", lines[0], r"\midrule", r"\endhead"]
    notes = "\\par\n".join(map(latex_text, table.notes))
    end = [r"\bottomrule", r"\end{longtable}", *([notes] if notes else []), r"\endgroup"]
    return "\n".join([*begin, *head, *lines[1:], *end]) + "\n"


class TerminalTable:
    """A table on a terminal, laid out when its width is known. Text from files is never markup; numbers and short words
    stay on one line."""

    def __init__(self, table: Table):
        self._columns, self._body = table.shown(brief=True), table.body(brief=True)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        texts = [[_terminal(row[index]) for row in self._body] for index in range(len(self._columns))]
        whole = [
            column.align == "right" or (index > 0 and max(map(len, own), default=0) <= SHORT)
            for index, (column, own) in enumerate(zip(self._columns, texts, strict=True))
        ]
        least = [
            max([len(word) for word in column.title.split()] + [_least(text, fixed) for text in own])
            for column, own, fixed in zip(self._columns, texts, whole, strict=True)
        ]
        for number, part in enumerate(fitting([width + 2 for width in least], options.max_width + 1)):
            shown = RichTable(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold")
            room = options.max_width + 1 - sum(least[index] + 2 for index in part)
            for place, index in enumerate(part):
                column, width = self._columns[index], least[index]
                wish = max(map(len, texts[index]), default=0) - width  # what words that wrap would rather have
                more = 0 if whole[index] else max(0, min(wish, room // sum(not whole[each] for each in part[place:])))
                room -= more
                title = "\n".join(textwrap.wrap(column.title, width)) if whole[index] else column.title
                shown.add_column(
                    Text(title), justify=column.align, no_wrap=whole[index], width=width + more, overflow="fold"
                )
            for row in self._body:
                shown.add_row(*(Text(_terminal(row[index]), _STYLES.get(row[index].tone, "")) for index in part))
            if number:
                yield Text()
            yield shown


def _least(text: str, whole: bool) -> int:
    return len(text) if whole else min(NAME, max(map(len, text.split()), default=0))


def _terminal(cell: Cell) -> str:
    return printable(cell.text if cell.short is None else cell.short)


def print_table(table: Table, console: Console) -> None:
    """One table with its title and its notes."""
    console.print(Text(printable(table.title, 300), style="bold"))
    console.print(TerminalTable(table))
    for note in table.notes:
        console.print(Text(printable(note, 2000)))
    console.print()


DIGITS = 6
"""Significant digits of a measured number in CSV, more than any table prints. Seeds differ in the third; the order in
which a processor sums moves those from about the 12th on."""


def csv_text(table: Table) -> str:
    """A table as CSV, a column for each part of a cell. Measured numbers have DIGITS, counts and settings are exact;
    what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([safe_text(name) for column in table.columns for name in column.names])
    for row in table.rows:
        writer.writerow([text for column in table.columns for text in _csv_cells(row.cells[column.key], column)])
    return buffer.getvalue()


def _csv_cells(cell: Cell, column: Column) -> list[str]:
    if len(column.names) > 1 or column.parts:
        return [_cell_text(value, column.exact) for value in _by_part(cell.value, column)]
    if not isinstance(cell.value, list):
        return [_cell_text(cell.value, column.exact)]
    if any(isinstance(each, float) or each is None for each in cell.value):
        raise ValueError(f"column {column.key}: its cells hold lists of numbers, which need names (parts)")
    lists = any(isinstance(each, list) for each in cell.value)
    return [safe_text(cell.text) if lists else " ".join(map(str, cell.value))]


def _by_part(value, column: Column) -> list:
    """A value for every part of the column, None where the cell has none."""
    values = value if isinstance(value, list) else [value]
    if (missing := len(column.names) - len(values)) < 0:
        raise ValueError(f"column {column.key}: {len(values)} values for {', '.join(column.names)}")
    return [None, *values] if (len(values), missing) == (2, 1) else values + [None] * missing


def _cell_text(value, exact: bool) -> str:
    if value is None or value == NONE:
        return ""
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, float):
        return repr(float(value)) if exact else number_text(value)
    return str(value)


def safe_text(text: str) -> str:
    """Text on one line that a spreadsheet does not take for a formula."""
    text = printable(text, 2000)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def number_text(value: float) -> str:
    """A number of DIGITS significant digits without zeros at its end, and never fewer digits than stand before its
    point."""
    value = float(value) + 0.0  # no negative zero
    return f"{value:.0f}" if 10 ** (DIGITS - 1) <= abs(value) < math.inf else f"{value:.{DIGITS}g}"


def json_bytes(tree) -> bytes:
    """A tree as JSON text, its keys in the order given."""
    return (json.dumps(_plain(tree), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(tree):
    """Built-in types only; an open end of a range (infinite) is null."""
    if isinstance(tree, dict):
        return {str(key): _plain(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_plain(value) for value in tree]
    if isinstance(tree, np.generic):
        return _plain(tree.item())
    return None if isinstance(tree, float) and math.isinf(tree) else tree
