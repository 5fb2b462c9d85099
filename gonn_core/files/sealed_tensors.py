"""Seals of safetensors files: a digest of the whole file, zeros in place of the digest, in the file's own metadata.

Bytes in, bytes out: neither torch nor safetensors is asked, so whoever reads such a file can check it first.
"""

import hashlib
import json
from pathlib import Path

from gonn_core.errors import Damaged, InputError

EMPTY = "0" * 64
"""What metadata hold under `KEY` until the file is sealed."""
KEY = "seal"
_LENGTH_BYTES = 8
_LARGEST_HEADER = 100_000_000  # as safetensors has it


def sealed_tensors(data: bytes) -> bytes:
    """The content of a safetensors file whose metadata hold `EMPTY` under `KEY`, with its seal there."""
    start = data.index(_member(EMPTY), _LENGTH_BYTES, _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little"))
    place = start + len(_member(EMPTY)) - len(EMPTY) - 1
    seal = hashlib.sha256(data).hexdigest().encode()
    return b"".join((memoryview(data)[:place], seal, memoryview(data)[place + len(seal) :]))


def check_tensors(path: Path, advice: str) -> bool:
    """Whether a file has a seal; one of before has none. Raises Damaged, with `advice`, for a file that is not what
    was written. What is no safetensors file at all passes too: its reader says so."""
    try:
        with open(path, "rb") as file:
            length = file.read(_LENGTH_BYTES)
            header = file.read(min(int.from_bytes(length, "little"), _LARGEST_HEADER))
            if not length:
                raise Damaged(path, f"damaged: it is empty; {advice}")
            seal = _seal_of(header)
            if seal is None:
                return False
            digest = hashlib.sha256(length + header.replace(_member(seal), _member(EMPTY), 1))
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    if digest.hexdigest() != seal:
        raise Damaged(path, f"damaged: its content is not what was written (its seal does not fit); {advice}")
    return True


def _seal_of(header: bytes) -> str | None:
    try:
        metadata = json.loads(header).get("__metadata__", {})
        seal = metadata.get(KEY)
    except (ValueError, RecursionError, AttributeError):
        return None
    return seal if isinstance(seal, str) else None


def _member(seal: str) -> bytes:
    return json.dumps(KEY).encode() + b":" + json.dumps(seal).encode()
