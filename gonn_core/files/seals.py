"""Checksums inside files, compared when the files are read. Against damage, not against forgers.

A file and its checksum get their name by one rename, so nothing can separate them. A JSON file ends with a member
"seal", a SHA-256 of all bytes before it. In a file of JSON lines each line ends with one, of this line and of the
checksum of the line before, or of the owner's id in a file that grows by single lines. The metadata of a safetensors
file hold one of the whole file, computed with zeros in its place. Large arrays have theirs in the JSON file next to
them (`digest_of`). A file without a checksum is read as it is: people may edit a JSON file and remove its seal.

Large files are compared once on each machine (`verify_once`): again after it restarted or a day has passed, and after
every change of size, mtime or ctime, which no program can set back. The results are noted in the files' folder; without
the note the files are read again.
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
"""Value of `KEY` in the metadata of a safetensors file that has no checksum yet."""
NOTE = ".verified"
VALID_SECONDS = 86400.0
_MEMBER = b'\n "seal": "'
_IN_LINE = b', "seal": "'


def digest_of(data: bytes) -> str:
    """64 hex digits of a whole file, to be kept in another one."""
    return hashlib.sha256(data).hexdigest()


def file_digest(path: Path, skipped: int = 0) -> str:
    """64 hex digits of a file's bytes from `skipped` on. Raises OSError, ValueError for a negative number."""
    with open(path, "rb") as file:
        file.seek(skipped)
        return hashlib.file_digest(file, "sha256").hexdigest()


def sealed_json(tree: Mapping, allow_nan: bool = True) -> bytes:
    """A mapping as a JSON file with its checksum. allow_nan: False to raise ValueError for numbers that JSON lacks."""
    if KEY in tree:
        raise ValueError("a tree that has a seal already")
    body = json.dumps(tree, indent=1, allow_nan=allow_nan).encode().removesuffix(b"}").removesuffix(b"\n")
    return body + (b"," if tree else b"") + _MEMBER + digest_of(body)[:32].encode() + b'"\n}\n'


def checked_json(path: Path | str, data: bytes):
    """The tree in a JSON file, without its checksum. Raises Damaged where that does not fit, ValueError and
    RecursionError for what is not JSON."""
    if not data:
        raise Damaged(path, "damaged: it is empty")
    tree = json.loads(data)
    if isinstance(tree, dict) and KEY in tree:
        body, _, tail = data.rpartition(_MEMBER)
        if tail != digest_of(body.removesuffix(b","))[:32].encode() + b'"\n}\n':
            raise Damaged(path, "damaged: its content is not what was written (its seal does not fit)")
        del tree[KEY]
    return tree


def sealed_line(line: str, before: str) -> bytes:
    """A line of JSON, a mapping with members, with the checksum of itself and of `before`: the owner's id in a file
    that grows by single lines, so that a line fits nowhere else."""
    body = line.encode().removesuffix(b"}")
    return body + _IN_LINE + digest_of(before.encode() + body)[:16].encode() + b'"}\n'


def checked_line(line: bytes, before: str) -> bytes | None:
    """Such a line without its checksum; None for one that is not what was written. A line without one stays."""
    seal = _seal_of(line)
    if seal is None:
        return line
    body = line.rpartition(_IN_LINE)[0]
    return body + b"}" if seal == digest_of(before.encode() + body)[:16] else None


def _seal_of(line: bytes) -> str | None:
    _, separator, tail = line.rstrip(b"\n").rpartition(_IN_LINE)
    return tail.removesuffix(b'"}').decode("ascii", "replace") if separator else None


def sealed_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines of JSON as a file of them: the checksum of each covers all lines before it."""
    before = ""
    for line in lines:
        sealed = sealed_line(line, before)
        yield sealed
        before = _seal_of(sealed) or ""


def checked_lines(path: Path | str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of such a file without their checksums. Raises Damaged for the first that is not what was written."""
    before: str | None = None
    for number, line in enumerate(lines, 1):
        checked, seal = checked_line(line, before or ""), _seal_of(line)
        if checked is None or (number > 1 and (seal is None) != (before is None)):
            raise Damaged(path, f"damaged: line {number} is not what was written (its seal does not fit)")
        yield checked
        before = seal


def sealed_tensors(data: bytes) -> bytes:
    """The content of a safetensors file whose metadata hold `EMPTY` under `KEY`, with its checksum there."""
    end = 8 + int.from_bytes(data[:8], "little")
    return data[:end].replace(_metadata(EMPTY), _metadata(digest_of(data)), 1) + data[end:]


def check_tensors(path: Path, advice: str) -> None:
    """Raises Damaged, with `advice`, for a safetensors file that is not what was written. Needs no torch or
    safetensors: a file that is not a safetensors file at all passes, and its reader says so."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    if not data:
        raise Damaged(path, f"damaged: it is empty; {advice}")
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        seal = json.loads(data[8:end])["__metadata__"][KEY]
    except (ValueError, RecursionError, LookupError, TypeError):
        return
    written = data[:end].replace(_metadata(str(seal)), _metadata(EMPTY), 1) + data[end:]
    if digest_of(written) != seal:
        raise Damaged(path, f"damaged: its content is not what was written (its seal does not fit); {advice}")


def _metadata(seal: str) -> bytes:
    return json.dumps(KEY).encode() + b":" + json.dumps(seal).encode()


def verify_once(
    folder: Path, files: Mapping[str, str], check: Callable[[str], None], check_all: Callable[[], None] | None = None
) -> None:
    """Call `check` with each name in `files` (name in `folder` -> what its content is compared with, such as a digest)
    that this machine has not verified since it started, within a day and since it changed; then `check_all`, where
    there was one. Raises what they raise, OSError for a missing file."""
    now, known, new = time.time(), _read_note(folder), {}
    for name, digest in files.items():
        entry, key = [*_stamp(folder / name), digest], f"{_boot()} {name}"
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


@cache
def _boot() -> str:
    """Differs between machines, and between two starts of one; without Linux the machine's name alone."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return platform.node()


def _stamp(path: Path) -> list[int]:
    status = path.stat()
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _read_note(folder: Path) -> dict[str, list]:
    """Boot and name of a file -> size, mtime, ctime, what it was compared with, seconds since 1970."""
    path = folder / NOTE
    with suppress(OSError, ValueError, RecursionError, UserError, AttributeError, TypeError, LookupError):
        tree = checked_json(path, path.read_bytes())
        return {key: entry for key, entry in tree.items() if isinstance(entry[-1], float)}
    return {}
