"""Tables as plain data. A column is declared once, with name, title, unit, meaning and digits; pages, CSV, LaTeX, the
terminal and data frames are writers of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from reports.stats.verdicts import Verdict
from reports.tables.formats import NONE

DType = Literal["str", "int64", "Int64", "float64", "bool"]
"""Int64 is pandas' integer with missing values. A missing float64 or str is NaN."""


@dataclass(frozen=True)
class Field:
    """One value of a column: its name in CSV and data frames, dtype, unit (empty without one), meaning."""

    name: str
    dtype: DType
    unit: str
    meaning: str


@dataclass(frozen=True)
class Cell:
    """One cell. `text` is not escaped; `value` is a number, a list of them, text, a verdict or None.

    trials: ids of the trials behind the cell; evaluation: number of the study's evaluation behind it.
    escape: the text holds names from files, to be escaped wherever it is shown. short: the text in a terminal, where it
    differs. link: address of another page, relative to the table's.
    """

    text: str
    value: Any = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None
    escape: bool = False
    short: str | None = None
    link: str = ""

    @property
    def tone(self) -> str:
        """The colour of a verdict; `plain` for everything else."""
        return self.value.tone if isinstance(self.value, Verdict) else "plain"


@dataclass(frozen=True)
class Column:
    """One column.

    show: text of a value; values that are missing are shown as a dash. fields: the values in CSV and data frames, more
    than one for a list (a number and the ends of its interval).
    brief: also in the narrow tables of a terminal and of LaTeX. escape: the title holds names from files.
    under: key of the column in whose cells this one takes a further line in markdown, to keep the table narrow.
    exact: its numbers are settings, not measurements: CSV has all their digits.
    parts: names in CSV, where `fields` are not declared. Of three, a single number is the first and two are the last (a
    value and the ends of its interval).
    printed: on pages; otherwise in CSV only. facet: the browser's page can filter by its values. command: its text is
    one, with a button that copies it.
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
    facet: bool = False
    command: bool = False
    show: Callable[[Any], str] = str
    fields: tuple[Field, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in CSV."""
        return self.parts or tuple(each.name for each in self.fields) or (self.key,)

    def cell(self, value: Any, trials: tuple[str, ...] = (), evaluation: int | None = None) -> Cell:
        """A value as a cell. A cell stays as it is."""
        if isinstance(value, Cell):
            return value
        text = NONE if value is None else self.show(value)
        return Cell(text, value, trials, evaluation, escape=isinstance(value, str))


@dataclass(frozen=True)
class Row:
    """Cells by the key of their column. details: labels and texts that the browser's page shows on demand."""

    key: str
    cells: Mapping[str, Cell]
    details: tuple[tuple[str, str], ...] = ()


def make_row(
    columns: Iterable[Column],
    key: str,
    values: Mapping[str, Any],
    trials: tuple[str, ...] = (),
    evaluation: int | None = None,
    details: Iterable[tuple[str, str]] = (),
) -> Row:
    """A row of values by the key of their column; what is missing is shown as a dash."""
    cells = {column.key: column.cell(values.get(column.key), trials, evaluation) for column in columns}
    return Row(key, cells, tuple(details))


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

    def only(self, *keys: str) -> "Table":
        """The same rows with some columns."""
        chosen = {column.key: column for column in self.columns}
        return replace(self, columns=tuple(chosen[key] for key in keys if key in chosen))


SPLIT = "{split}"
"""Placeholder for the split of an evaluation (validation or test) in titles and names of columns."""


def of_split(columns: Sequence[Column], split: str) -> tuple[Column, ...]:
    """The columns of tables on the validation or test games."""
    return tuple(
        replace(
            column,
            title=column.title.replace(SPLIT, split),
            parts=tuple(part.replace(SPLIT, split) for part in column.parts),
        )
        for column in columns
    )


def interval95(prefix: str = "") -> tuple[str, str]:
    """Names of the CSV columns of a 95 % interval, of the value that `prefix` names."""
    name = f"{prefix}_interval95" if prefix else "interval95"
    return f"{name}_low", f"{name}_high"


def text_cell(text: str) -> Cell:
    """A cell whose value is its text, with names from files in it."""
    return Cell(text, text, escape=True)
