"""Whether a committed page is the one made now: the same text, the same numbers, the same pictures, on whatever
processor.

Sums, exponentials and linear algebra differ in the last bits between processors. So no float that comes out of them is
compared by its bytes, in a file or as a digest, with one that another machine wrote.
"""

import csv
import io
import math
import re
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.image import imread

from reports.tables.writers import DIGITS

_NUMBER = re.compile(r"[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")
_INSIDE = re.compile(rb"data:image/[a-z+]+;base64,[A-Za-z0-9+/=]+")
_PINNED = re.compile(r"^matplotlib==(\S+)", re.MULTILINE)
_ROUNDING = 1 + 1e-6
"""Of the comparison itself: 0.3 - 0.2 is not quite 0.1."""
_NOISE = 1e-12
"""A difference of numbers near 1 that is 0 on one machine may be some 1e-16 on another."""


def same_file(name: str, made: bytes, kept: bytes) -> bool:
    """Whether two files of this name are the same as their kind is compared: pictures, tables, any other text."""
    if name.endswith(".png"):
        return same_picture(made, kept)
    if name.endswith(".html"):  # pictures inside it lie beside it too, where they are compared
        made, kept = (_INSIDE.sub(b"", page) for page in (made, kept))
    return (same_csv if name.endswith(".csv") else same_text)(made.decode(), kept.decode())


def same_text(one: str, other: str) -> bool:
    """Whether two texts differ in nothing but numbers, and these by at most one unit of the last place printed.

    Whole numbers (counts, and digits in names) are equal.
    """
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return all(map(_near, _NUMBER.findall(one), _NUMBER.findall(other)))


def same_csv(one: str, other: str) -> bool:
    """As `same_text`, of tables; a number may differ by one unit of the last digit that a table has, zeros at its end
    included."""
    rows, others = (list(csv.reader(io.StringIO(text))) for text in (one, other))
    if [len(row) for row in rows] != [len(row) for row in others]:
        return False
    return all(
        _same_cell(a, b) for row, against in zip(rows, others, strict=True) for a, b in zip(row, against, strict=False)
    )


def same_picture(made: bytes, kept: bytes) -> bool:
    """Whether two PNG files show the same: as many pixels each way, of which one in a thousand may differ to the eye
    (edges between two shades).

    Committed pictures are drawn by the pinned version of matplotlib. Another sets letters differently: then sizes alone
    are compared, roughly.
    """
    one, other = (imread(io.BytesIO(data), format="png") for data in (made, kept))
    if matplotlib.__version__ != _pinned():
        return np.allclose(one.shape, other.shape, rtol=0.1)
    return one.shape == other.shape and (np.abs(one - other).max(-1) > 0.03).mean() < 1e-3


def _pinned() -> str:
    return _PINNED.search((Path(__file__).resolve().parents[2] / "constraints.txt").read_text())[1]


def _near(one: str, other: str) -> bool:
    if one == other:
        return True
    if "." not in one and "." not in other:
        return False
    return abs(_value(one) - _value(other)) <= _ROUNDING * min(_unit(one), _unit(other))


def _value(number: str) -> float:
    return float(number.replace(",", "").replace("−", "-"))


def _unit(number: str) -> float:
    """Of the last place printed."""
    mantissa, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


def _same_cell(one: str, other: str) -> bool:
    if one == other:
        return True
    a, b = _csv_number(one), _csv_number(other)
    if a is None or b is None:
        return same_text(one, other)
    if _is_whole(one) and _is_whole(other):
        return False
    if a == b:
        return True
    largest = max(abs(a), abs(b))
    return abs(a - b) <= _NOISE + _ROUNDING * 10.0 ** (math.floor(math.log10(largest)) + 1 - DIGITS)


def _is_whole(cell: str) -> bool:
    return cell.lstrip("-").isdecimal()


def _csv_number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
