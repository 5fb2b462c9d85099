"""Tables as CSV, and trees of numbers as JSON.

CSV is read by people, in spreadsheets and in differences between two versions: measured numbers have DIGITS there. JSON
is computed with: every number keeps all its digits, of which the last hang on the processor, so what compares two such
files does it with a tolerance.
"""

import csv
import io
import json
import math

import numpy as np

from gonn_core.errors import printable
from reports.tables.cells import Cell, Column, Table
from reports.tables.formats import NONE

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
