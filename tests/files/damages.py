"""Damages of files, as disks and copies make them."""

from collections.abc import Iterator


def flipped(data: bytes, place: int | None = None) -> bytes:
    """With one bit other than it was: of the byte at `place`, else of that in the middle."""
    changed = bytearray(data)
    changed[len(data) // 2 if place is None else place] ^= 1
    return bytes(changed)


def damaged(data: bytes) -> Iterator[bytes]:
    """A flipped bit, cut short, emptied."""
    yield flipped(data)
    yield data[: len(data) // 2]
    yield b""
