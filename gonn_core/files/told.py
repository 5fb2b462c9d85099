"""What is damaged or missing and left out, told once by each process: a line of the log, on stderr unless somebody
listens."""

import logging
from pathlib import Path

from gonn_core.errors import Damaged

_LOG = logging.getLogger(__name__)
_TOLD: set[str] = set()


def tell(damage: Damaged, consequence: str = "it is left out") -> None:
    """One line that names the file, what is wrong, and what follows."""
    line = f"{damage}; {consequence}"
    if line not in _TOLD:
        _TOLD.add(line)
        _LOG.warning("%s", line)


def expected(folder: Path, name: str) -> list[Path]:
    """Files of that name, whether or not they are there: one in each folder below `folder` that holds anything."""
    return sorted(path / name for path in folder.glob("[!.]*/") if any(path.iterdir()))


def present(folder: Path, name: str, consequence: str) -> list[Path]:
    """Those of `expected` that are there; the others are told."""
    paths = expected(folder, name)
    for path in paths:
        if not path.exists():
            tell(Damaged(path, "it is missing"), consequence)
    return [path for path in paths if path.exists()]
