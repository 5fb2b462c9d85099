"""A figure as plain data: drawn when its files are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


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
