"""Checksums that files carry of themselves, checked when they are read. Against damage, not against forgers: anybody
who writes a file can give it one.

A file and its checksum get their name by one rename, so no kill, no second writer and no copy of a single file can part
them. A JSON file ends with a member "seal", a SHA-256 of all bytes before it. In a file of JSON lines each line ends
with one, of this line and the line's chain: the checksum of the line before, or the owner's id in a file that grows by
single lines. The metadata of a safetensors file hold one of the whole file, taken with zeros in its place. Large arrays
have theirs in the JSON file next to them (`digest_of`).

A file without a checksum is read as it is: people may edit a JSON file and remove its seal.

Large files compared with their digests when they are opened: by the first process on a machine, again once the
machine has restarted or a day has passed, and after every change. What was right is noted in their folder, for all
processes.

A change is one of size, modification time or time of the inode, which no program can set back. A file that is copied
counts as changed. The note is of no value of its own: where it is gone, damaged or cannot be written, files are read
again.
"""

import hashlib
import json
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from gonn_core.errors import Damaged, InputError, UserError
from gonn_core.files.whole import write_whole

KEY = "seal"
EMPTY = "0" * 64
"""What the metadata of a safetensors file hold under `KEY` until it has its checksum."""
_MEMBER = b'\n "seal": "'
_IN_LINE = b', "seal": "'
_DIGITS, _LINE_DIGITS = 32, 16
_LENGTH_BYTES = 8
_LARGEST_HEADER = 100_000_000  # as safetensors has it


def digest_of(data: bytes) -> str:
    """64 hex digits of a whole file, to be kept in another one."""
    return hashlib.sha256(data).hexdigest()


def sealed_json(tree: Mapping, allow_nan: bool = True) -> bytes:
    """A mapping as a JSON file with its checksum. allow_nan: False to raise ValueError for numbers that JSON lacks."""
    if KEY in tree:
        raise ValueError("a tree that has a seal already")
    body = json.dumps(tree, indent=1, allow_nan=allow_nan).encode().removesuffix(b"}").removesuffix(b"\n")
    comma = b"," if tree else b""
    return body + comma + _MEMBER + _digest(body, _DIGITS) + b'"\n}\n'


def checked_json(path: Path | str, data: bytes):
    """The tree in a JSON file, without its checksum. Raises Damaged where that does not fit, ValueError and
    RecursionError for what is no JSON."""
    if not data:
        raise Damaged(path, "damaged: it is empty")
    tree = json.loads(data)
    if isinstance(tree, dict) and KEY in tree:
        body, _, tail = data.rpartition(_MEMBER)
        if tail != _digest(body.removesuffix(b","), _DIGITS) + b'"\n}\n':
            raise Damaged(path, "damaged: its content is not what was written (its seal does not fit)")
        del tree[KEY]
    return tree


def sealed_line(line: str, before: str) -> bytes:
    """A line of JSON, a mapping with members, with the checksum of itself and of `before`: the owner's id in a file
    that grows by single lines, so that a line fits nowhere else."""
    body = line.encode().removesuffix(b"}")
    return body + _IN_LINE + _digest(before.encode() + body, _LINE_DIGITS) + b'"}\n'


def checked_line(line: bytes, before: str) -> bytes | None:
    """Such a line without its checksum; None for one that is not what was written. A line without one stays."""
    body, seal = _opened(line)
    if seal is None:
        return line
    return body + b"}" if seal.encode() == _digest(before.encode() + body, _LINE_DIGITS) else None


def sealed_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines of JSON as a file of them: the checksum of each is of all lines before it too."""
    before: str | None = ""
    for line in lines:
        sealed = sealed_line(line, before or "")
        yield sealed
        _, before = _opened(sealed.removesuffix(b"\n"))


def checked_lines(path: Path | str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of such a file without their checksums. Raises Damaged for the first that is not what was written."""
    before, is_first = None, True
    for number, line in enumerate(lines, 1):
        checked, (_, seal) = checked_line(line, before or ""), _opened(line)
        if checked is None or not is_first and (seal is None) != (before is None):
            raise Damaged(path, f"damaged: line {number} is not what was written (its seal does not fit)")
        yield checked
        before, is_first = seal, False


def sealed_tensors(data: bytes) -> bytes:
    """The content of a safetensors file whose metadata hold `EMPTY` under `KEY`, with its checksum there."""
    start = data.index(_member(EMPTY), _LENGTH_BYTES, _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little"))
    place = start + len(_member(EMPTY)) - len(EMPTY) - 1
    seal = hashlib.sha256(data).hexdigest().encode()
    return b"".join((memoryview(data)[:place], seal, memoryview(data)[place + len(seal) :]))


def check_tensors(path: Path, advice: str) -> None:
    """Raises Damaged, with `advice`, for a safetensors file that is not what was written. Bytes alone are read, without
    torch or safetensors: what is no safetensors file at all passes, and its reader says so."""
    try:
        with open(path, "rb") as file:
            length = file.read(_LENGTH_BYTES)
            header = file.read(min(int.from_bytes(length, "little"), _LARGEST_HEADER))
            if not length:
                raise Damaged(path, f"damaged: it is empty; {advice}")
            seal = _seal_of(header)
            if seal is None:
                return
            digest = hashlib.sha256(length + header.replace(_member(seal), _member(EMPTY), 1))
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    if digest.hexdigest() != seal:
        raise Damaged(path, f"damaged: its content is not what was written (its seal does not fit); {advice}")


def _seal_of(header: bytes) -> str | None:
    try:
        seal = json.loads(header).get("__metadata__", {}).get(KEY)
    except (ValueError, RecursionError, AttributeError):
        return None
    return seal if isinstance(seal, str) else None


def _member(seal: str) -> bytes:
    return json.dumps(KEY).encode() + b":" + json.dumps(seal).encode()


def _opened(line: bytes) -> tuple[bytes, str | None]:
    """A line without its checksum and its last brace, and the checksum; None where it has none."""
    body, separator, tail = line.rpartition(_IN_LINE)
    if separator:
        return body, tail.removesuffix(b'"}').decode("ascii", "replace")
    return line.removesuffix(b"}"), None


def _digest(data: bytes, digits: int) -> bytes:
    return hashlib.sha256(data).hexdigest()[:digits].encode()


NOTE = ".verified"
VALID_SECONDS = 86400.0


def verify_once(
    folder: Path, files: Mapping[str, str], check: Callable[[str], None], check_all: Callable[[], None] | None = None
) -> None:
    """Call `check` with each name in `files` (name in `folder` -> what its content is held against, such as a digest)
    that this machine has not verified since it started, within a day and since it changed; then `check_all`, where
    there was one. Raises what they raise, OSError for a file that is gone."""
    now, known, new = time.time(), _read(folder), {}
    for name, against in files.items():
        entry, key = [*_stamp(folder / name), against], f"{_boot()} {name}"
        if known.get(key, [])[:-1] != entry or not 0 <= now - known[key][-1] < VALID_SECONDS:
            check(name)
            new[key] = [*entry, now]
    if new:
        if check_all is not None:
            check_all()
        # Entries of other machines stay: several may share the folder.
        kept = {key: entry for key, entry in {**known, **new}.items() if 0 <= now - entry[-1] < VALID_SECONDS}
        with suppress(OSError):
            write_whole(folder / NOTE, sealed_json(kept), flush=False)


def file_digest(path: Path, skipped: int = 0) -> str:
    """64 hex digits of a file's bytes from `skipped` on. Raises OSError, ValueError for a negative number."""
    with open(path, "rb") as file:
        file.seek(skipped)
        return hashlib.file_digest(file, "sha256").hexdigest()


@cache
def _boot() -> str:
    """What differs between machines, and between two starts of one; without Linux the machine's name alone."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return platform.node()


def _stamp(path: Path) -> list[int]:
    about = path.stat()
    return [about.st_size, about.st_mtime_ns, about.st_ctime_ns]


def _read(folder: Path) -> dict[str, list]:
    """Boot and name of a file -> size, mtime, ctime, what it was held against, seconds since 1970."""
    path = folder / NOTE
    with suppress(OSError, ValueError, RecursionError, UserError, AttributeError, TypeError, LookupError):
        tree = checked_json(path, path.read_bytes())
        return {key: entry for key, entry in tree.items() if isinstance(entry[-1], float)}
    return {}
