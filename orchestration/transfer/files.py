"""Files of a trial directory that comes from elsewhere: copied one by one, by known names and bounded sizes, links
never followed.

What is copied is what is checked afterwards: whoever changes the source meanwhile changes nothing here.
"""

import json
import math
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from gonn_core.errors import UserError, printable

MEBI = 2**20
LARGEST = (
    (re.compile(r"config\.json|result\.json"), 4 * MEBI),
    (re.compile(r"metrics\.jsonl"), 64 * MEBI),
    (re.compile(r"checkpoint\.safetensors"), 8192 * MEBI),
    (re.compile(r"snapshots/[0-9]{1,15}\.safetensors"), 4096 * MEBI),
    (re.compile(r"eval/[0-9a-f]{16}\.json"), MEBI),
    (re.compile(r"eval/[0-9a-f]{16}\.npz"), 1024 * MEBI),
)
"""Names that are brought over, and how large such a file may be."""

LEFT = re.compile(
    r"lease\.(json|lock)|failure\.json|probes/[0-9a-f]{16}\.(json|npz)|(eval/|snapshots/|probes/)?\.[A-Za-z0-9._-]+\.tmp"
)
"""Names that a trial directory may hold too, and that stay where they are: who wrote there, half-written files, and
answers to probes, which `gonn probe` puts anew."""

FOLDERS = ("snapshots", "eval", "probes")
MOST_FILES = 5000
MOST_BYTES = 64 * 1024 * MEBI
_CHUNK = 4 * MEBI


class Refused(UserError):
    """A directory that is not taken over, and why, in one line."""


def copy_trial(source: Path, target: Path) -> None:
    """Copy what belongs to a trial from `source` into the new folder `target`. Raises Refused, OSError."""
    target.mkdir()
    for folder in FOLDERS[:2]:
        (target / folder).mkdir()
    budget = MOST_BYTES
    for name, size in listed(source):
        if (largest := _largest(name)) is None:
            continue
        if size > min(largest, budget):
            raise Refused(f"{name} has {size:,} bytes; at most {min(largest, budget):,} are taken")
        budget -= _copy(source / name, target / name, min(largest, budget))


def listed(source: Path) -> Iterator[tuple[str, int]]:
    """Name below `source` and size of every file. Raises Refused for anything that no trial directory holds."""
    found = []
    for folder in ("", *FOLDERS):
        path = source / folder
        if folder and not os.path.lexists(path):
            continue
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise Refused(f"{folder or 'it'} is no folder")
        with os.scandir(path) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if name in FOLDERS:
                    continue
                mode = entry.stat(follow_symlinks=False).st_mode
                if not stat.S_ISREG(mode):
                    raise Refused(
                        f"{printable(name, 80)} is a {'link' if stat.S_ISLNK(mode) else 'folder' if stat.S_ISDIR(mode) else 'device or pipe'}"
                    )
                if _largest(name) is None and not LEFT.fullmatch(name):
                    raise Refused(f"{printable(name, 80)} is no file of a trial directory")
                found.append((name, entry.stat(follow_symlinks=False).st_size))
                if len(found) > MOST_FILES:
                    raise Refused(f"more than {MOST_FILES:,} files")
    return iter(sorted(found))


def _largest(name: str) -> int | None:
    return next((size for pattern, size in LARGEST if pattern.fullmatch(name)), None)


def _copy(source: Path, target: Path, largest: int) -> int:
    """Copy a plain file that may grow or be swapped while it is read; bytes copied."""
    handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as reader, open(target, "xb") as writer:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Refused(f"{source.name} is no plain file")
        copied = 0
        while data := reader.read(_CHUNK):
            copied += len(data)
            if copied > largest:
                raise Refused(f"{source.name} grew beyond {largest:,} bytes")
            writer.write(data)
        writer.flush()
        os.fsync(writer.fileno())
    return copied


def strict_json(text: str, name: str):
    """A tree from JSON text in which every number is finite. Raises Refused."""

    def finite(text: str) -> float:
        value = float(text)
        if not math.isfinite(value):
            raise ValueError(f"{text} is no finite number")
        return value

    try:
        return json.loads(text, parse_float=finite, parse_constant=finite)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{name}: not JSON ({printable(str(error), 120)})") from None
