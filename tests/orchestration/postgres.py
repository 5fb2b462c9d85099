"""A PostgreSQL cluster of its own, on a socket in a folder of its own, gone afterwards."""

import getpass
import importlib.util
import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path


def _programs() -> Path | None:
    """Folder of initdb and pg_ctl: Debian keeps them beside each other by version, out of the path."""
    if found := shutil.which("pg_ctl"):
        return Path(found).parent
    return max(
        (path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/pg_ctl")),
        key=lambda path: int(path.parent.name),
        default=None,
    )


def lacking() -> str:
    """What is missing here for such a cluster, empty for nothing."""
    if _programs() is None:
        return "no PostgreSQL here: apt-get install postgresql"
    return "" if importlib.util.find_spec("psycopg2") else "no driver of PostgreSQL here: pip install psycopg2-binary"


@contextmanager
def postgres_store():
    """URI of an empty data base, where nothing is `lacking`."""
    programs = _programs()
    user = "postgres" if os.geteuid() == 0 else getpass.getuser()  # it refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="gonn-pg-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(folder, user, user)
        data = folder / "data"

        def run(*command) -> None:
            done = subprocess.run(
                [programs / command[0], *map(str, command[1:])],
                cwd=folder,
                user=user if os.geteuid() == 0 else None,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert done.returncode == 0, done.stdout

        run("initdb", "--auth=trust", "--no-sync", "--username=gonn", "--pgdata", data)
        run(
            "pg_ctl",
            "start",
            "--wait",
            "--pgdata",
            data,
            "--log",
            folder / "log",
            "--options",
            f"-k {folder} -c listen_addresses='' -c fsync=off -c shared_buffers=16MB",
        )
        try:
            yield f"postgresql+psycopg2://gonn:secret@/postgres?host={folder}"
        finally:
            run("pg_ctl", "stop", "--mode=immediate", "--pgdata", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
