"""A page as plain data, and its text in markdown. `reports.html.page` makes the same page for a browser."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from gonn_core.errors import markdown_escape, printable
from reports.cache import Picture
from reports.stats.estimates import Interval
from reports.stats.verdicts import EffectVerdict
from reports.tables.cells import Table
from reports.tables.formats import in_short
from reports.tables.writers import markdown_table

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class ForestRow:
    """One effect of a forest plot, in nats. group: heading above the row; could_show: half width of the grey band.

    claims: low and high end of each claim on it, and whether it was tested under its own conditions. tip: what a
    pointer on it shows. cost: what a picture writes to its right.
    """

    label: str
    group: str
    delta: float
    ends: Interval | None
    verdict: EffectVerdict
    could_show: float | None = None
    claims: tuple[tuple[float, float, bool], ...] = ()
    tip: str = ""
    cost: str = ""


@dataclass(frozen=True)
class Section:
    """Sentences in markdown, pictures, tables. `folded` tables are hidden at first.

    points: the sentences are a list. forest, curves: drawn by the page for a browser (`reports.html.page`), in
    markdown the pictures show them. small: a section of the browser's page that is closed at
    first.
    """

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()
    points: bool = False
    forest: tuple[ForestRow, ...] = ()
    curves: tuple[Mapping, ...] = ()
    small: bool = False

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table."""
        return (*self.tables, *self.folded)


@dataclass(frozen=True)
class Summary:
    """The box at the top of a page, plain text: counts of verdicts; one sentence per effect; claims; what was trained;
    what is missing; the command that reproduces or finishes it."""

    headline: str
    sentences: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    trained: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()
    command: str = ""


@dataclass(frozen=True)
class Page:
    """about: a line below the title; coverage: data sets with their years, printed in full once."""

    title: str
    about: str
    summary: Summary | None
    sections: tuple[Section, ...]
    files: str = ""
    """The files next to this page, in a sentence."""
    coverage: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Table]:
        """Every table, in the order of the page."""
        return [table for section in self.sections for table in section.all_tables]

    @property
    def pictures(self) -> list[Picture]:
        """Every picture."""
        return [picture for section in self.sections for picture in section.pictures]


def markdown(page: Page) -> str:
    """The page in markdown."""
    return page_text("page.md.j2", page=page)


def escaped(texts: Iterable[str]) -> tuple[str, ...]:
    """Plain text as sentences of a section."""
    return tuple(map(markdown_escape, texts))


def command_text(command: str) -> str:
    """A command in a sentence of a section."""
    return f"`{_code(command)}`"


def page_text(template: str, **values: object) -> str:
    """The text of a template. Templates escape what they print with `md` (text), `code` (inside backquotes) and
    `markdown_table`; a value that is missing is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"md": markdown_escape, "markdown_table": markdown_table, "code": _code}
    environment.filters |= {"in_short": in_short}
    return environment.get_template(template).render(**values)


def reading(**values: object) -> tuple[str, ...]:
    """How to read the numbers: the points of a list."""
    return tuple(line[2:] for line in page_text("how_to_read.md.j2", **values).strip().split("\n"))


def _code(text: str) -> str:
    """Text inside backquotes: printable, without any of its own."""
    return printable(text).replace("`", "'")


def forest_groups(rows: Sequence[ForestRow]) -> list[ForestRow | str]:
    """Rows from top to bottom: the name of a group, then its effects, the one that helps most first. Without names
    where there is only one group."""
    groups: dict[str, list[ForestRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    ordered: list[ForestRow | str] = []
    for name, members in groups.items():
        if len(groups) > 1:
            ordered.append(name)
        by_size: list[ForestRow] = sorted(members, key=lambda member: member.delta)
        ordered += by_size
    return ordered
