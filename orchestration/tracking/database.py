"""The workspace's own data base of MLflow: whole from its first moment, or not there.

MLflow makes its tables by some sixty migrations in the file itself. Killed on the way, or on a full disk, it leaves a
file that it can neither use nor mend. So a new one is made under another name, and gets its own when it is whole. A
half-made one of before is told by its schema, and by holding nothing: one that holds a run, an experiment or anything
else of anybody's is never touched.
"""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

NAME = "mlflow.db"
_BESIDE = ("", "-journal", "-wal", "-shm")
_OF_A_NEW_ONE = {"experiments": 1, "workspaces": 1}
"""Table -> rows of a data base that nobody has written to: MLflow's `Default` experiment, and its place."""


def make_whole(path: Path, make: Callable[[Path], None], newest: Callable[[], str]) -> None:
    """See to it that the data base at `path` is there and was made to its end; one process at a time.

    make: makes one at another path, and leaves it to nobody; newest: the version of its schema. Raises what `make`
    raises.
    """
    if path.exists() and not half_made(path, newest):
        return
    making = path.with_name(f"{path.name}.making")
    _remove(making)
    try:
        make(making)
        with closing(sqlite3.connect(making)) as records:
            records.execute("pragma wal_checkpoint(truncate)")
            whole = _versions(records) == [newest()]
        if not whole:
            raise sqlite3.DatabaseError(f"{making.name}: MLflow did not make its tables")
        _remove(path)
        os.replace(making, path)
    finally:
        _remove(making)  # on a full disk its room is wanted


def half_made(path: Path, newest: Callable[[], str]) -> bool:
    """Whether a data base holds nothing, and has tables that are not those of a whole one."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True)) as records:
            names = [name for (name,) in records.execute("select name from sqlite_master where type = 'table'")]
            if any(_rows(records, name) > _OF_A_NEW_ONE.get(name, 0) for name in names if name != "alembic_version"):
                return False
            tables = set(names)
            if "experiments" in tables and records.execute(
                "select count(*) from experiments where name != 'Default'"
            ).fetchone() != (0,):
                return False
            return any(name.startswith("_alembic_tmp_") for name in tables) or _versions(records) != [newest()]
    except sqlite3.Error:  # no data base, or one in use: whoever opens it says so
        return False


def _rows(records: sqlite3.Connection, table: str) -> int:
    quoted = table.replace('"', '""')
    return records.execute(f'select count(*) from "{quoted}"').fetchone()[0]


def _versions(records: sqlite3.Connection) -> list[str]:
    try:
        return [version for (version,) in records.execute("select version_num from alembic_version")]
    except sqlite3.OperationalError:  # no such table
        return []


def _remove(path: Path) -> None:
    for end in _BESIDE:
        path.with_name(path.name + end).unlink(missing_ok=True)
