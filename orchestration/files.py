"""Small files written whole or not at all."""

import json
from pathlib import Path

from gonn_core.errors import InputError
from gonn_core.files.whole import write_whole


def write_json(path: Path, tree) -> None:
    """Write `tree` under a temporary name, flush it to disk and rename it. Raises InputError when the disk does not
    take it."""
    write_bytes(path, (json.dumps(tree, indent=1) + "\n").encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` under a temporary name, flush it to disk and rename it. Raises InputError when the disk does not
    take it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})") from None
