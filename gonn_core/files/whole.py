"""Files that are there whole or not at all, whenever a process is killed: the one way in which this project writes."""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from gonn_core.errors import InputError, UserError

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def write_whole(
    path: Path, data: bytes, flush: bool = True, renaming: AbstractContextManager[object] | None = None
) -> None:
    """Write `data` under a temporary name in the same folder and rename it. Raises OSError; nothing is left behind
    then.

    flush: have it on the disk before it gets its name; what can be made again does without. renaming: entered around
    the renaming alone.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            if flush:
                file.flush()
                os.fsync(file.fileno())
        with renaming or nullcontext():
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """`write_whole`, flushed, into a folder that is made when absent. Raises InputError when the disk does not take
    it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise InputError(path, f"cannot be written ({error.strerror or error})") from None


def sync_folder(folder: Path) -> None:
    """Make renames inside `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def disk_error(folder: Path, error: OSError) -> UserError:
    """The one line for a folder that could not be filled."""
    if error.errno in _FULL:
        return InputError(
            folder, f"no space left ({os.strerror(error.errno)}); nothing was kept; free space or choose another folder"
        )
    return InputError(folder, f"cannot write ({error.strerror or error})")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on `path` (made when absent); waits for its holder. Raises UserError."""
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
        with locked(parent / ".sweep.lock"):  # no other process removes it between making the folder and locking it
            for dead in parent.glob(f"{_PREFIX}*"):
                with suppress(Timeout), FileLock(dead / _LOCK, timeout=0):  # a time-out: its builder is alive
                    shutil.rmtree(dead, ignore_errors=True)
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
    """Rename a workshop's folder to `final`; False when another process has put the same there already."""
    sync_folder(folder)
    with locked(final.parent / ".sweep.lock"):  # without its lock the folder would look dead
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
    """Remove a finished folder atomically. Raises UserError."""
    gone = folder.with_name(f"{_PREFIX}discarded-{secrets.token_hex(4)}")  # leftovers are removed by the next workshop
    try:
        os.rename(folder, gone)
    except FileNotFoundError:
        return  # another process did
    except OSError as error:
        raise disk_error(folder.parent, error) from None
    shutil.rmtree(gone, ignore_errors=True)
