"""Seals: digests that files carry of themselves, checked where they are read. Against damage, not against forgers:
whoever writes a file can seal it.

A JSON file ends with a member "seal", a digest of all bytes before it. In a file of JSON lines each line ends with one,
over this line and all before it, or over the line alone where files grow line by line. Files of before have no seals
and are read as they are.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from gonn_core.errors import Damaged

KEY = "seal"
_MEMBER = b'\n "seal": "'
_IN_LINE = b', "seal": "'
_DIGITS = 32
_LINE_DIGITS = 16


def digest_of(data: bytes) -> str:
    """64 hex digits of a whole file that is sealed by another one."""
    return hashlib.sha256(data).hexdigest()


def sealed_json(tree: Mapping, allow_nan: bool = True) -> bytes:
    """A mapping as a JSON file with its seal. allow_nan: False to raise ValueError for numbers that JSON has not."""
    if KEY in tree:
        raise ValueError("a tree that has a seal already")
    body = json.dumps(tree, indent=1, allow_nan=allow_nan).encode().removesuffix(b"}").removesuffix(b"\n")
    comma = b"," if tree else b""
    return body + comma + _MEMBER + _digest(body) + b'"\n}\n'


def checked_json(path: Path | str, data: bytes):
    """The tree in a JSON file, without its seal. Raises Damaged where the seal does not fit, ValueError and
    RecursionError for what is no JSON."""
    if not data:
        raise Damaged(path, "damaged: it is empty")
    tree = json.loads(data)
    if isinstance(tree, dict) and KEY in tree:
        body, _, tail = data.rpartition(_MEMBER)
        if tail != _digest(body.removesuffix(b",")) + b'"\n}\n':
            raise Damaged(path, "damaged: its content is not what was written (its seal does not fit)")
        del tree[KEY]
    return tree


def sealed_lines(lines: Iterable[str]) -> Iterator[bytes]:
    """Lines of JSON, each a mapping with members, as a file of them: each is sealed with all before it."""
    before = ""
    for line in lines:
        body = line.encode().removesuffix(b"}")
        before = _line_digest(before, body)
        yield body + _IN_LINE + before.encode() + b'"}\n'


def checked_lines(path: Path | str, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of such a file without their seals. Raises Damaged for the first that is not what was written."""
    before, sealed = "", None
    for number, line in enumerate(lines, 1):
        body, found = _opened(line)
        before = _line_digest(before, body)
        if sealed is not None and sealed != (found is not None) or found not in (None, before):
            raise Damaged(path, f"damaged: line {number} is not what was written (its seal does not fit)")
        sealed = found is not None
        yield body + b"}" if sealed else line


def sealed_line(line: str, owner: str) -> bytes:
    """A line of JSON that stands by itself, for a file that grows; `owner`: whose it is, so that it fits nowhere
    else."""
    body = line.encode().removesuffix(b"}")
    return body + _IN_LINE + _line_digest(owner, body).encode() + b'"}\n'


def checked_line(line: bytes, owner: str) -> bytes | None:
    """Such a line without its seal; None for one that is not what was written. One of before has no seal."""
    body, found = _opened(line)
    if found is None:
        return line
    return body + b"}" if found == _line_digest(owner, body) else None


def _opened(line: bytes) -> tuple[bytes, str | None]:
    """A line without its seal and its last brace, and the seal; None where it has none."""
    body, found, tail = line.rpartition(_IN_LINE)
    if found:
        return body, tail.removesuffix(b'"}').decode("ascii", "replace")
    return line.removesuffix(b"}"), None


def _digest(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest()[:_DIGITS].encode()


def _line_digest(before: str, body: bytes) -> str:
    return hashlib.sha256(before.encode() + body).hexdigest()[:_LINE_DIGITS]
