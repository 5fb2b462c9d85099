"""JSON files: written whole, and read whoever may have written them, a user or an older version."""

import json
from collections.abc import Collection
from pathlib import Path

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import write_bytes


def write_json(path: Path, tree, sealed: bool = True) -> None:
    """A JSON file, whole or not at all, flushed to the disk. Raises InputError when the disk does not take it.

    sealed: with a digest that is checked where it is read (`seals`); not for a file that people are to edit.
    """
    has_seal = sealed and isinstance(tree, dict)
    write_bytes(path, sealed_json(tree) if has_seal else (json.dumps(tree, indent=1) + "\n").encode())


def read_json(path: Path | str):
    """The content of a JSON file, without its seal. Raises InputError when it is missing or unreadable, Damaged when it
    is no JSON or not what was written."""
    try:
        return _load(path)
    except FileNotFoundError as error:
        raise InputError(path, error.strerror or str(error)) from None


def _load(path: Path | str):
    try:
        return checked_json(path, Path(path).read_bytes())
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"not a JSON file ({error})") from None


def read_record(path: Path | str, form: int, keys: Collection[str]) -> dict | None:
    """The mapping in a JSON file of format `form` that has at least these keys; None when there is no such file.

    Raises InputError for a file that is anything else, for it may have been brought from elsewhere; Damaged for one
    that is not what was written.
    """
    try:
        tree = _load(path)
    except FileNotFoundError:
        return None
    if not isinstance(tree, dict):
        raise Damaged(path, "holds no mapping")
    if tree.get("format") != form:
        raise InputError(path, f"of format {printable(str(tree.get('format')), 40)}; this version reads format {form}")
    if missing := [key for key in keys if key not in tree]:
        raise Damaged(path, f"damaged: it lacks {', '.join(missing)}")
    return tree


def read_mapping(path: Path | str) -> dict:
    """A mapping from a JSON file, empty when there is no such file. Raises InputError, Damaged for anything else."""
    tree = read_json(path) if Path(path).exists() else {}
    if not isinstance(tree, dict):
        raise Damaged(path, "holds no mapping")
    return tree
