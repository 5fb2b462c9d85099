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
CONFIG_BYTES = 4 * MEBI
LARGEST = (
    (re.compile(r"config\.json|result\.json"), CONFIG_BYTES),
    (re.compile(r"metrics\.jsonl"), 64 * MEBI),
    (re.compile(r"checkpoint\.safetensors"), 8192 * MEBI),
    (re.compile(r"snapshots/[0-9]{1,15}\.safetensors"), 4096 * MEBI),
    (re.compile(r"eval/[0-9a-f]{16}\.json"), MEBI),
    (re.compile(r"eval/[0-9a-f]{16}\.npz"), 1024 * MEBI),
)
"""Names that are brought over, and how large such a file may be."""

LEFT = re.compile(
    r"lease\.(json|lock)|failure\.json|probes/[0-9a-f]{16}\.(json|npz)|(eval/|snapshots/)?\.verified|"
    r"(eval/|snapshots/|probes/)?\.[A-Za-z0-9._-]+\.tmp"
)
"""Names that a trial directory may hold too, and that stay where they are: who wrote there, half-written files, what
was verified there, and answers to probes, which `gonn probe` puts anew."""

FOLDERS = ("snapshots", "eval", "probes")
MOST_FILES = 5000
MOST_BYTES = 64 * 1024 * MEBI
_CHUNK = 4 * MEBI


class Refused(UserError):
    """A directory that is not taken over, and why, in one line."""


def read_config(source: Path) -> str:
    """Text of the config.json in a directory. Raises Refused, OSError."""
    path = source / "config.json"
    if source.is_symlink() or path.is_symlink() or not path.is_file():
        raise Refused("it or its config.json is a link, or no file")
    with open(path, "rb") as file:
        text = file.read(CONFIG_BYTES + 1)
    if len(text) > CONFIG_BYTES:
        raise Refused(f"config.json has more than {CONFIG_BYTES:,} bytes")
    return text.decode("utf-8", "replace")


def copy_trial(source: Path, target: Path) -> None:
    """Copy what belongs to a trial from `source` into the new folder `target`. Raises Refused, OSError."""
    for folder in ("", "snapshots", "eval"):
        (target / folder).mkdir()
    budget = MOST_BYTES
    for name in _listed(source):
        if (largest := _largest(name)) is not None:
            budget -= _copy(source / name, target / name, name, min(largest, budget))


def _listed(source: Path) -> Iterator[str]:
    """Names below `source` of the files of a trial. Raises Refused for anything that no trial directory holds."""
    count = 0
    for folder in ("", *FOLDERS):
        path = source / folder
        if folder and not os.path.lexists(path):
            continue
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise Refused(f"{folder or 'it'} is no folder")
        for entry in os.scandir(path):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if name in FOLDERS:
                continue
            if not entry.is_file(follow_symlinks=False):
                raise Refused(f"{printable(name, 80)} is a {_kind(entry)}")
            if _largest(name) is None and not LEFT.fullmatch(name):
                raise Refused(f"{printable(name, 80)} is no file of a trial directory")
            count += 1
            if count > MOST_FILES:
                raise Refused(f"more than {MOST_FILES:,} files")
            yield name


def _kind(entry: os.DirEntry) -> str:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir() else "device or pipe"


def _largest(name: str) -> int | None:
    """Most bytes of a file of that name; None for one that is not brought over."""
    return next((size for pattern, size in LARGEST if pattern.fullmatch(name)), None)


def _copy(source: Path, target: Path, name: str, largest: int) -> int:
    """Copy a plain file, which may be swapped or grow meanwhile; bytes copied."""
    handle = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    copied = 0
    with open(handle, "rb") as reader, open(target, "xb") as writer:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Refused(f"{name} is no plain file")
        while data := reader.read(_CHUNK):
            copied += len(data)
            if copied > largest:
                raise Refused(f"{name} has more than {largest:,} bytes")
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
