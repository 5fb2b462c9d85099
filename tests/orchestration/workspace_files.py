"""The files of a workspace: those that the table in docs/troubleshooting.md lists, and those of no account."""

import re
from pathlib import PurePosixPath

from tests.paths import ROOT

PAGE = ROOT / "docs" / "troubleshooting.md"
OF_NO_ACCOUNT = (
    r"(.*/)?\.?[^/]*\.lock",
    r"(.*/)?\.verified",
    r"(.*/)?\.[^/]*\.tmp",
    r"mlartifacts/.*",
    r"\.numba[^/]*/.*",
    r"commands/.*",
)
"""Locks, notes of what was verified, copies that MLflow makes, compiled kernels, commands at work."""


def kinds() -> list[str]:
    """The patterns in the first column of the page's table of files."""
    table = PAGE.read_text(encoding="utf-8").split("## Files of a workspace")[1].split("##")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    return [pattern for row in rows for pattern in re.findall(r"`([^`]+)`", row)]


def known(name: str) -> bool:
    path = PurePosixPath(name)
    if any(re.fullmatch(pattern, name) for pattern in OF_NO_ACCOUNT):
        return True
    return any(
        name.startswith(kind.removesuffix("**")) if kind.endswith("/**") else _fits(path, kind) for kind in kinds()
    )


def _fits(path: PurePosixPath, kind: str) -> bool:
    parts = PurePosixPath(kind).parts
    return len(parts) == len(path.parts) and path.match(kind)
