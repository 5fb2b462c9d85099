"""Files that are there whole or not at all, whenever a process is killed: the one way in which this project writes."""

import errno
import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

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
