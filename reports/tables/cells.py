"""Tables as plain data: cells with their text, their number and the trials behind them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Cell:
    """One cell. `text` is not escaped; `value` is what stands in the JSON file (a number, a list of them, text or
    None).

    trials: ids of the trials that the cell was computed from; evaluation: number of the study's evaluation that it
    comes from.
    escape: the text holds names from files, to be escaped wherever it is shown. short: the text in a terminal, where it
    differs.
    """

    text: str
    value: Any = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None
    escape: bool = False
    short: str | None = None


@dataclass(frozen=True)
class Column:
    """One column. `brief`: it has a place in the narrow tables of a terminal too; `escape`: the title holds names from
    files.

    under: key of the column in whose cells it stands on a line of its own where a table is printed in markdown, to keep
    it narrow.
    exact: its numbers are settings, not measurements: CSV has all their digits.
    parts: names of the CSV columns of lists in its cells. Of three, a single number is the first and two are the last
    (a value and the ends of its interval).
    printed: whether it stands on pages; else in CSV alone.
    """

    key: str
    title: str
    align: Literal["left", "right"] = "right"
    brief: bool = True
    escape: bool = False
    under: str | None = None
    exact: bool = False
    parts: tuple[str, ...] = ()
    printed: bool = True


@dataclass(frozen=True)
class Row:
    """Cells by the key of their column."""

    key: str
    cells: Mapping[str, Cell]


@dataclass(frozen=True)
class Table:
    """A table: `name` is that of its CSV file, `notes` are sentences below it."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = field(default=())

    def body(self, brief: bool = False) -> list[list[Cell]]:
        """All cells, row by row; `brief`: of the columns of a terminal."""
        return [[row.cells[column.key] for column in self.shown(brief)] for row in self.rows]

    def shown(self, brief: bool = False) -> list[Column]:
        """The columns of a page in order; `brief`: those of a terminal."""
        return [column for column in self.columns if column.printed and (column.brief or not brief)]


def interval95(prefix: str = "") -> tuple[str, str]:
    """Names of the CSV columns of a 95 % interval, of the value that `prefix` names."""
    name = f"{prefix}_interval95" if prefix else "interval95"
    return f"{name}_low", f"{name}_high"


def text_cell(text: str, trials: Iterable[str] = ()) -> Cell:
    """A cell whose value is its text, with names from files in it."""
    return Cell(text, text, tuple(trials), escape=True)
