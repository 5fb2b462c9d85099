"""Files that are there whole or not at all, whenever a process is killed."""

import os
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path


def write_whole(path: Path, data: bytes, flush: bool = True, renaming: AbstractContextManager = nullcontext()) -> None:
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
        with renaming:
            os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
