"""Where the game archives of a command lie."""

import os
from pathlib import Path


def data_folder(given: Path | None) -> Path | None:
    """Folder with game archives: the option's, else $GONN_DATA, else none."""
    if given is not None:
        return given
    return Path(os.environ["GONN_DATA"]) if os.environ.get("GONN_DATA") else None
