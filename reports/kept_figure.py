"""A study's figure is drawn again only when something in it, or the code that draws it, has changed: drawing takes longer than all the rest."""

import hashlib
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from reports.render import write_files
from reports.report import Report

NAMES = ("figure.png", "figure.svg")


def kept_figure(folder: Path, keys: Path, report: Report, numbers: bytes, draw: Callable[[], dict[str, bytes] | None]) -> dict[str, bytes]:
    """The files of a report's figure by name, empty when there is nothing to draw: those in `folder` when they are as `draw` would make them.

    keys: folder where a digest is kept of what each study's figure was drawn from, and of the figure; numbers: all of the report's, as text.
    """
    inputs, note = _inputs(report, numbers), keys / f"{report.study.id}.figure"
    found = {name: path.read_bytes() for name in NAMES if (path := folder / name).is_file()}
    if found and note.is_file() and note.read_bytes() == _key(inputs, found):
        return found
    drawn = draw() or {}
    write_files(keys, {note.name: _key(inputs, drawn)})
    return drawn


def _key(inputs: bytes, files: dict[str, bytes]) -> bytes:
    digest = hashlib.sha256(inputs)
    for name in sorted(files):
        digest.update(hashlib.sha256(files[name]).digest())
    return (digest.hexdigest() + "\n").encode()


def _inputs(report: Report, numbers: bytes) -> bytes:
    """Digest of all that a figure could show: the report's numbers, the study as it was written down, the trials' curves."""
    digest = hashlib.sha256(_code() + numbers)
    digest.update(report.study.model_dump_json().encode())
    for trial in report.results.trials:
        digest.update(repr((trial.id, trial.state, trial.curve)).encode())
    return digest.digest()


@cache
def _code() -> bytes:
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(sources + version("matplotlib").encode()).digest()
