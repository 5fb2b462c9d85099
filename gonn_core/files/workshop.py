"""Folders under construction: a finished folder appears by one rename, an unfinished one is never taken for it.

A builder holds a lock on a file in its own temporary folder. The system releases it when the process ends, however it
ends, so a folder whose lock can be taken belongs to a dead builder and is swept.
"""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonn_core.files.arrays import disk_error, sync_folder

_PREFIX = ".building-"
_LOCK = "builder.lock"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made when absent); waits for other processes and threads. Raises UserError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "ab")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError as error:
        raise disk_error(path.parent, error) from None
    with file:
        yield


@contextmanager
def workshop(parent: Path) -> Iterator[Path]:
    """A temporary folder inside `parent`, removed at the end unless it was finished. Failed writes become one-line
    UserErrors."""
    try:
        with locked(parent / ".sweep.lock"):  # nobody sweeps between making the folder and locking it
            _sweep(parent)
            folder = parent / f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
            folder.mkdir()
            lock = open(folder / _LOCK, "wb")
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise disk_error(parent, error) from None
    try:
        yield folder
    except OSError as error:
        raise disk_error(parent, error) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        lock.close()


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


def _sweep(parent: Path):
    for folder in parent.glob(f"{_PREFIX}*"):
        try:
            with open(folder / _LOCK, "ab") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except FileNotFoundError:
            continue  # removed by its builder meanwhile
        except BlockingIOError:
            continue
        shutil.rmtree(folder, ignore_errors=True)
