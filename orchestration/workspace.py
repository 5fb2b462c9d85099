"""The workspace of a command, and where its archives lie. Its layout is declared where it is read: see
reports.workspace."""

import os
from pathlib import Path

from reports.workspace import Workspace

__all__ = ["Workspace", "data_folder"]


def data_folder(given: Path | None) -> Path | None:
    """Folder with game archives: the option's, else $GONN_DATA, else none."""
    if given is not None:
        return given
    return Path(os.environ["GONN_DATA"]) if os.environ.get("GONN_DATA") else None
