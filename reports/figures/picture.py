"""A figure as plain data: drawn when its files are asked for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reports.cache import cached_files, code


@dataclass(frozen=True)
class Picture:
    """A figure: `name` without its ending, and what draws its files by name (`<name>.png`, `<name>.svg`), the same
    bytes each time.

    shown: all that it is drawn from, plain data whose text stands for it; None: it is not worth keeping.
    """

    name: str
    title: str
    draw: Callable[[], Mapping[str, bytes]] = field(repr=False)
    shown: object = field(default=None, repr=False)

    def files(self, cache: Path | None = None) -> Mapping[str, bytes]:
        """Its files. `cache`: folder of what reports keep of their work: drawing takes longer than all the rest."""
        if cache is None or self.shown is None:
            return self.draw()
        return cached_files(cache / f"{self.name}.picture", (drawing_code(), self.shown), self.draw)


def drawing_code() -> str:
    """Stands for the code that makes figures and what is in them."""
    return code("reports", libraries=("matplotlib",))
