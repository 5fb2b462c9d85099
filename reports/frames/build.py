"""A frame from rows, with the dtypes of its declared columns, and as CSV."""

from collections.abc import Iterable, Mapping

import pandas as pd

from reports.frames.columns import COLUMNS
from reports.tables.serial import number_text, safe_text


def make_frame(name: str, rows: Iterable[Mapping]) -> pd.DataFrame:
    """The frame of that name. Every row has all of its columns and no other; None is what is missing."""
    fields = COLUMNS[name]
    rows = list(rows)
    names = [field.name for field in fields]
    if wrong := next((row for row in rows if set(row) != set(names)), None):
        raise ValueError(f"{name}: columns {sorted(set(wrong) ^ set(names))} are declared or given, not both")
    return pd.DataFrame(
        {field.name: pd.Series([row[field.name] for row in rows], dtype=field.dtype) for field in fields}
    )


def describe(name: str) -> pd.DataFrame:
    """The columns of a frame, one a row: column, dtype, unit, meaning."""
    if name not in COLUMNS:
        raise ValueError(f"frame {name!r}: valid are {', '.join(COLUMNS)}")
    rows = [(field.name, field.dtype, field.unit, field.meaning) for field in COLUMNS[name]]
    return pd.DataFrame(rows, columns=["column", "dtype", "unit", "meaning"])


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """A frame as CSV by the rules of reports.tables.serial: measured numbers have DIGITS, no text is taken for a
    formula."""
    texts: pd.DataFrame = frame.select_dtypes("str")
    safe = frame.assign(**{name: texts[name].map(safe_text, na_action="ignore") for name in texts})
    return safe.to_csv(index=False, lineterminator="\n", float_format=number_text).encode()
