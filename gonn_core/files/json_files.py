"""JSON files, written with a checksum and read from any source; reports of files that are damaged or missing."""

import json
import logging
from collections.abc import Collection
from pathlib import Path

from gonn_core.errors import Damaged, InputError, printable
from gonn_core.files.seals import checked_json, sealed_json
from gonn_core.files.whole import write_bytes

_LOG = logging.getLogger(__name__)
_REPORTED: set[str] = set()


def write_json(path: Path, tree, sealed: bool = True) -> None:
    """A JSON file, complete or absent, flushed to the disk. Raises InputError when the disk does not take it.

    sealed: with a checksum that is compared where it is read (`seals`); not for a file that people are to edit.
    """
    has_seal = sealed and isinstance(tree, dict)
    write_bytes(path, sealed_json(tree) if has_seal else (json.dumps(tree, indent=1) + "\n").encode())


def read_json(path: Path | str):
    """The content of a JSON file, without its checksum. Raises InputError when it is missing or unreadable, Damaged
    when it is not JSON or not what was written."""
    try:
        return checked_json(path, Path(path).read_bytes())
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError) as error:
        raise Damaged(path, f"not a JSON file ({error})") from None


def read_mapping(path: Path | str) -> dict:
    """A mapping from a JSON file, empty when there is no such file. Raises InputError, Damaged for anything else."""
    tree = read_json(path) if Path(path).exists() else {}
    if not isinstance(tree, dict):
        raise Damaged(path, "holds no mapping")
    return tree


def read_record(path: Path | str, form: int, keys: Collection[str]) -> dict | None:
    """The mapping in a JSON file of format `form` that has at least these keys; None when there is no such file.

    Raises InputError for a file of another format, Damaged for one that is not what was written.
    """
    if not Path(path).exists():
        return None
    tree = read_mapping(path)
    if tree.get("format") != form:
        raise InputError(path, f"of format {printable(str(tree.get('format')), 40)}; this version reads format {form}")
    if missing := [key for key in keys if key not in tree]:
        raise Damaged(path, f"damaged: it lacks {', '.join(missing)}")
    return tree


def tell(damage: Damaged, consequence: str = "it is left out") -> None:
    """Log a damage and what follows from it, once in each process."""
    line = f"{damage}; {consequence}"
    if line not in _REPORTED:
        _REPORTED.add(line)
        _LOG.warning("%s", line)


def expected(folder: Path, name: str) -> list[Path]:
    """Files of that name, present or not: one in each folder below `folder` that holds anything."""
    return sorted(path / name for path in folder.glob("[!.]*/") if any(path.iterdir()))


def present(folder: Path, name: str, consequence: str) -> list[Path]:
    """Those of `expected` that exist; the others are logged."""
    paths = expected(folder, name)
    for path in paths:
        if not path.exists():
            tell(Damaged(path, "it is missing"), consequence)
    return [path for path in paths if path.exists()]
