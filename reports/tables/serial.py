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
from reports.tables.cells import Table

DIGITS = 6
"""Significant digits of a measured number in CSV, more than any table prints. Seeds differ in the third; the order in
which a processor sums moves those from about the 12th on."""


def csv_text(table: Table) -> str:
    """A table as CSV; intervals and pairs take a column for each end. Measured numbers have DIGITS, counts and settings
    are exact."""
    exact = {column.key for column in table.columns if column.exact}
    widths = {column.key: _width(table, column.key) for column in table.columns}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(
        [
            safe_text(name)
            for key, width in widths.items()
            for name in ([key] if width == 1 else [f"{key}_{i + 1}" for i in range(width)])
        ]
    )
    for row in table.rows:
        writer.writerow(
            [text for key, width in widths.items() for text in _csv_cells(row.cells[key].value, width, key in exact)]
        )
    return buffer.getvalue()


def _is_numbers(value) -> bool:
    return isinstance(value, list) and all(isinstance(each, float) or each is None for each in value)


def _width(table: Table, key: str) -> int:
    values = [row.cells[key].value for row in table.rows]
    return max((len(value) for value in values if _is_numbers(value)), default=1) or 1


def _csv_cells(value, width: int, exact: bool) -> list[str]:
    parts = value if _is_numbers(value) else [value]
    texts = [
        " ".join(map(str, part)) if isinstance(part, list) else "" if part is None else _cell_text(part, exact)
        for part in parts
    ]
    return texts + [""] * (width - len(texts))


def _cell_text(value, exact: bool) -> str:
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
