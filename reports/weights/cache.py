"""Small results kept under `out/`, where everything can be thrown away, in files named by a digest of what they were
made from."""

import hashlib
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import gonn_core
from gonn_core.files.whole import write_whole
from reports.results.study_results import TrialResult
from reports.weights.statistics import last_snapshot


def kept_path(folder: Path | None, kind: str, *made_from) -> Path | None:
    """Where what was made from these values is kept; None with no folder."""
    digest = hashlib.sha256(repr(made_from).encode()).hexdigest()
    return None if folder is None else folder / f"{digest[:32]}.{kind}"


def read_kept(path: Path | None) -> bytes | None:
    """What was kept, None when nothing was."""
    with suppress(OSError):
        return None if path is None else path.read_bytes()
    return None


@cache
def torch_version() -> str:
    """As the metadata tell it, without importing torch; they take a millisecond to be read."""
    return version("torch")


def keep(path: Path | None, data: bytes) -> None:
    """Keep it; on a full or read-only disk nothing is kept."""
    if path is None:
        return
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data, flush=False)


def weights_key(trial: TrialResult) -> tuple:
    """Stands for the final weights of a finished trial, as they lie on the disk."""
    about = last_snapshot(trial.folder, trial.result).stat()
    return trial.id, trial.result["weights"], about.st_size, about.st_mtime_ns


@cache
def core_code() -> str:
    """Digest of gonn_core: what was computed by nets is of no use once it changes."""
    folder = Path(gonn_core.__file__).parent
    sources = sorted(path for ending in ("py", "json") for path in folder.rglob(f"*.{ending}"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()


@cache
def code_of(*modules: str) -> str:
    """Digest of these files of this package."""
    return hashlib.sha256(b"".join(Path(__file__).with_name(f"{name}.py").read_bytes() for name in modules)).hexdigest()
