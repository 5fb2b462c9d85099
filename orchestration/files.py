"""Small files written whole or not at all."""

import json
import os
from pathlib import Path

from gonn_core.errors import InputError


def write_json(path: Path, tree) -> None:
    """Write `tree` under a temporary name, flush it to disk and rename it. Raises InputError when the disk does not take it."""
    write_bytes(path, (json.dumps(tree, indent=1) + "\n").encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write `data` under a temporary name, flush it to disk and rename it. Raises InputError when the disk does not take it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})") from None
