"""Writes the files of a report."""

from collections.abc import Mapping
from pathlib import Path

from gonn_core.errors import InputError
from gonn_core.files.whole import write_whole


def write_files(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Each file under a temporary name, then renamed. Raises InputError when the disk does not take it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            write_whole(folder / name, data, flush=False)
    except OSError as error:
        raise InputError(folder, f"the report cannot be written ({error.strerror})") from None
