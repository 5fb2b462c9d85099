"""Reading JSON that a user or an older version may have written."""

import json
from pathlib import Path

from gonn_core.errors import InputError


def read_json(path: Path | str):
    """The content of a JSON file. Raises InputError when it is missing, unreadable or no JSON."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    except ValueError as error:
        raise InputError(path, f"not a JSON file ({error})") from None


def read_mapping(path: Path | str) -> dict:
    """A mapping from a JSON file, empty when there is no such file. Raises InputError for anything else."""
    tree = read_json(path) if Path(path).exists() else {}
    if not isinstance(tree, dict):
        raise InputError(path, "holds no mapping")
    return tree
