"""Folders under construction: a finished folder appears by one rename, an unfinished one is never taken for it.

A builder holds a lock on a file in its own temporary folder. The system releases it when the process ends, however it
ends, so a folder whose lock can be taken belongs to a dead builder and is swept.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gonn_core.files.whole import disk_error, sync_folder


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


_PREFIX = ".building-"
_LOCK = "builder.lock"


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """A temporary folder inside `parent`, removed at the end unless it was finished. Failed writes become one-line
    UserErrors."""
    try:
        with locked(parent / ".sweep.lock"):  # nobody sweeps between making the folder and locking it
            _sweep(parent)
            folder = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
            folder.mkdir()
            builder = FileLock(folder / _LOCK)
            builder.acquire()
    except OSError as error:
        raise disk_error(parent, error) from None
    try:
        yield folder
    except OSError as error:
        raise disk_error(parent, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        builder.release()


def finish(folder: Path, final: Path) -> bool:
    """Rename a workshop's folder to `final`; False when somebody else has put the same there already."""
    sync_folder(folder)
    with locked(final.parent / ".sweep.lock"):  # without its lock the folder would look dead to a sweeper
        (folder / _LOCK).unlink()
        try:
            os.rename(folder, final)
        except OSError:
            if not final.is_dir():
                raise
            return False
    sync_folder(final.parent)
    return True


def discard(folder: Path) -> None:
    """Take a finished folder away, at one stroke for whoever looks. Raises UserError."""
    gone = folder.with_name(f"{_PREFIX}discarded-{secrets.token_hex(4)}")  # what a kill leaves of it is swept
    try:
        os.rename(folder, gone)
    except FileNotFoundError:
        return  # somebody else did
    except OSError as error:
        raise disk_error(folder.parent, error) from None
    shutil.rmtree(gone, ignore_errors=True)


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            with FileLock(folder / _LOCK, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
        except Timeout:
            continue  # its builder is alive
