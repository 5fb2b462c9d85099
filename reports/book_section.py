"""A section of the report over all studies."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reports.cells import Table


@dataclass(frozen=True)
class Picture:
    """A figure of a section: `name` without its ending, files by name (`<name>.png`, `<name>.svg`, the same bytes each time)."""

    name: str
    title: str
    files: Mapping[str, bytes] = field(repr=False)


@dataclass(frozen=True)
class Section:
    """Sentences, then pictures, then tables; `folded` tables are out of sight at first."""

    title: str
    sentences: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    tables: tuple[Table, ...] = ()
    folded: tuple[Table, ...] = ()

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """Every table."""
        return (*self.tables, *self.folded)
