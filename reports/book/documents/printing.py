"""How published numbers stand in tables: as printed, with a mark where the document as stored does not state them."""

from collections.abc import Iterable

from reports.tables import formats
from reports.tables.cells import Cell

HERE = "here"
"""What the system of a row of ours begins with."""
NOT_HERE = "not measured here"
_MARKS = {
    "stated": ("", ""),
    "derived": (" §", "worked out or concluded from what the document says"),
    "read_from_picture": (" ¶", "read off one of its pictures"),
    "read_from_code": (" †", "from its code or another version of it, not in the document as stored"),
    "unverified_memory": (" ‡", "from memory, not verified"),
}
_PRINTED = (("~", "about"), ("?", "the document's own doubt"))


def mark(evidence: str) -> str:
    """` ‡`; empty for what a document states."""
    return _MARKS[evidence][0]


def legend(evidences: Iterable[str], texts: Iterable[str] = ()) -> str:
    """What the marks of a table mean: of these kinds of evidence, and the signs in its `texts` that are as printed."""
    kinds, printed = set(evidences), list(texts)
    parts = [f"{sign.strip()} {meaning}" for kind, (sign, meaning) in _MARKS.items() if kind in kinds and sign]
    parts += [f"{sign} {meaning}, as printed" for sign, meaning in _PRINTED if any(sign in text for text in printed)]
    return f"{'; '.join(parts)}." if parts else ""


def count(value: int | None, printed: str | None = None) -> Cell:
    """`3,597,792`, or as printed; a dash for none."""
    return Cell(printed or (formats.NONE if value is None else formats.count(value)), value)


def share(value: float | None, evidence: str = "stated", digits: int = 1) -> Cell:
    """`52.5 %`, with the mark of its evidence; a dash for none."""
    return Cell(formats.NONE if value is None else f"{100 * value:.{digits}f} %{mark(evidence)}", value)


def number(value: float | None, digits: int, evidence: str = "stated") -> Cell:
    """`1.609`, with the mark of its evidence; a dash for none."""
    return Cell(formats.NONE if value is None else f"{value:.{digits}f}{mark(evidence)}", value)
