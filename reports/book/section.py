"""A section of the report over all studies."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from reports.tables.cells import Table


@dataclass(frozen=True)
class Drawing:
    """A picture that is drawn when its files are asked for. `shown`: all that it is drawn from, plain data whose text
    stands for it; None: it is not worth keeping."""

    shown: tuple | None
    draw: Callable[[], Mapping[str, bytes]]


@dataclass(frozen=True)
class Picture:
    """A figure of a section: `name` without its ending, what its files are or will be."""

    name: str
    title: str
    made: Mapping[str, bytes] | Drawing = field(repr=False)

    @property
    def files(self) -> Mapping[str, bytes]:
        """By name (`<name>.png`, `<name>.svg`), the same bytes each time."""
        return self.made.draw() if isinstance(self.made, Drawing) else self.made


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
