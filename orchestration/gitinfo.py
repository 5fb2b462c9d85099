"""Which commit of this code is running, or which release where it was installed."""

import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def commit_and_dirty() -> tuple[str, bool]:
    """(commit, dirty): full hash and whether tracked files differ from it; ("gonn-<version>", False) without git or
    outside a checkout."""

    def git(*arguments):
        return subprocess.run(
            ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, timeout=20, check=True
        ).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != ROOT:
            return _release(), False
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return _release(), False


def _release() -> str:
    """The installed version; "unknown" for files that were copied without being installed."""
    try:
        return f"gonn-{version('go-move-ablations')}"
    except PackageNotFoundError:
        return "unknown"
