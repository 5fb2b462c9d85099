"""Folders of a workspace: stores, runs, studies, reports and the tracking data base, all below one folder.

Commands write there, reports and notebooks read there.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import InputError
from gonn_core.files.whole import write_whole


@dataclass(frozen=True)
class Workspace:
    """Where everything that is produced lies: `GONN_HOME`, by default the current folder."""

    root: Path

    @classmethod
    def here(cls) -> "Workspace":
        """The workspace of this process."""
        return cls(Path(os.environ.get("GONN_HOME") or os.getcwd()).resolve())

    @property
    def stores(self) -> Path:
        """Position stores and their views."""
        return self.root / "stores"

    @property
    def runs(self) -> Path:
        """Trial directories: the truth."""
        return self.root / "runs"

    @property
    def studies(self) -> Path:
        """Study files."""
        return self.root / "studies"

    @property
    def out(self) -> Path:
        """Reports; can be thrown away and made again."""
        return self.root / "out"

    @property
    def report_cache(self) -> Path:
        """What reports keep of their work: see reports.cache."""
        return self.out / ".cache"

    @property
    def matches(self) -> Path:
        """Matches and their games."""
        return self.root / "matches"

    @property
    def elo(self) -> Path:
        """Elo ladders: which matches they are rated from."""
        return self.root / "elo"


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Each file of a report under a temporary name, then renamed. Raises InputError when the disk does not take it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            write_whole(folder / name, data, flush=False)
    except OSError as error:
        raise InputError(folder, f"the report cannot be written ({error.strerror})") from None
