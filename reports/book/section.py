"""A section of the report over all studies."""

from dataclasses import dataclass

from reports.figures.picture import Picture
from reports.tables.cells import Table


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
