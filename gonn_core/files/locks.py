"""Locks between processes and threads. The system releases them when their holder ends, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

from gonn_core.files.whole import disk_error


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made when absent); waits for whoever holds it. Raises UserError."""
    lock = FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except OSError as error:
        raise disk_error(path.parent, error) from None
    try:
        yield
    finally:
        lock.release()
