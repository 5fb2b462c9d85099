"""Small files written whole or not at all."""

import json
import os
import tempfile
from pathlib import Path

from gonn_core.errors import InputError


def write_json(path: Path, tree) -> None:
    """Write `tree` under a temporary name, flush it to disk and rename it. Raises InputError when the disk does not take it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            json.dump(tree, file, indent=1)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})") from None


def read_json(path: Path) -> dict:
    """A mapping from a file, empty when there is none. Raises InputError for anything else."""
    try:
        tree = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise InputError(path, f"cannot be read ({error})") from None
    if not isinstance(tree, dict):
        raise InputError(path, "holds no mapping")
    return tree
