"""What running on somebody's Ray cluster takes: its address, code that travels, a folder that every node sees. Knows
nothing of Ray's API."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gonn_core.errors import InputError, SettingError, UserError

SETTING = "RAY_ADDRESS"
PACKAGES = ("gonn_core", "orchestration")
"""What a trial imports; sent to the nodes as packages, so that nothing else of the repository (runs/, stores/, games)
goes along."""
EXCLUDED = ("**/__pycache__", "**/*.pyc")
CHECK_SECONDS = 1800
"""Patience with nodes that read a whole store."""


def address_of(given: str | None, runner: str) -> str | None:
    """The cluster that was asked for: `--address`, else $RAY_ADDRESS where Ray runs the trials; None: a private one.

    Raises SettingError (RAY_ADDRESS) for what is no address, and for one that the local runner has no use for.
    """
    if given and runner != "ray":
        raise SettingError(SETTING, given, f"RUNNER={runner} uses no cluster", "RUNNER=ray, or no address")
    address = (given or os.environ.get(SETTING)) if runner == "ray" else None
    if not address:
        return None
    if "://" in address or address == "local":
        raise SettingError(SETTING, address, "the command must run on a node of the cluster", "HOST:PORT, or auto")
    return address


def shipped() -> dict:
    """The part of a runtime environment that brings this code to the nodes."""
    root = Path(__file__).resolve().parents[2]
    return {"py_modules": [str(root / name) for name in PACKAGES], "excludes": list(EXCLUDED)}


@contextmanager
def token_in(runs: Path) -> Iterator[str]:
    """Name of a file in `runs` by which a node tells that it sees the same folder. Raises InputError when it cannot be
    written."""
    path = runs / f".shared-{secrets.token_hex(8)}"
    try:
        runs.mkdir(parents=True, exist_ok=True)
        path.touch()
    except OSError as error:
        raise InputError(runs, f"cannot be written ({error.strerror})") from None
    try:
        yield path.name
    finally:
        path.unlink(missing_ok=True)


def node_problem(runs: str, token: str, store: str, digest: str) -> str | None:
    """Run on a node: why it cannot train trials whose folders these are; None when it can. The store is read and
    compared with its digest."""
    from gonn_core.records.store import open_store

    try:
        if not (Path(runs) / token).exists():
            return f"does not see the folder {runs} of this command"
        if not os.access(runs, os.W_OK):
            return f"cannot write to {runs}"
        opened = open_store(Path(store))
        if opened.digest != digest:
            return f"has store {opened.digest} in {store}"
    except UserError as error:
        return str(error)
    return None


def check_nodes(answers: dict[str, str | None], runs: Path) -> None:
    """Raise SettingError (GONN_HOME) for the first node that has a problem. `answers`: node's name ->
    `node_problem`."""
    for node, problem in answers.items():
        if problem is not None:
            raise SettingError(
                "GONN_HOME",
                str(runs.parent),
                f"node {node} {problem}",
                "a folder that all nodes share under the same path",
            )
