"""A figure is drawn again only when something in it, or the code that draws it, has changed: drawing takes longer than
all the rest."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from reports.figures.picture import Drawing, Picture
from reports.files import write_files
from reports.study.report import Report

NAMES = ("figure.png", "figure.svg")


def kept_figure(
    folder: Path, keys: Path, report: Report, numbers: bytes, draw: Callable[[], Mapping[str, bytes] | None]
) -> dict[str, bytes]:
    """The files of a report's figure by name, empty when there is nothing to draw; see `kept_files`. numbers: all of
    the report's, as text."""
    return kept_files(folder, keys / f"{report.study.id}.figure", NAMES, _inputs(report, numbers), draw)


def kept_picture(folder: Path, keys: Path, picture: Picture) -> Mapping[str, bytes]:
    """The files of a picture of the report over all studies, in `folder`; see `kept_files`."""
    if not isinstance(picture.made, Drawing) or picture.made.shown is None:
        return picture.files
    names = (f"{picture.name}.png", f"{picture.name}.svg")
    return kept_files(
        folder,
        keys / f"report.{picture.name}.picture",
        names,
        _code() + repr(picture.made.shown).encode(),
        picture.made.draw,
    )


def kept_files(
    folder: Path, note: Path, names: Sequence[str], inputs: bytes, draw: Callable[[], Mapping[str, bytes] | None]
) -> dict[str, bytes]:
    """The files of these names in `folder` when they are as `draw` would make them, else what it makes.

    note: file with a digest of what they were drawn from (`inputs`), and of them.
    """
    found = {name: path.read_bytes() for name in names if (path := folder / name).is_file()}
    if found and note.is_file() and note.read_bytes() == _key(inputs, found):
        return found
    drawn = dict(draw() or {})
    write_files(note.parent, {note.name: _key(inputs, drawn)})
    return drawn


def _key(inputs: bytes, files: dict[str, bytes]) -> bytes:
    digest = hashlib.sha256(inputs)
    for name in sorted(files):
        digest.update(hashlib.sha256(files[name]).digest())
    return (digest.hexdigest() + "\n").encode()


def _inputs(report: Report, numbers: bytes) -> bytes:
    """Digest of all that a figure could show: the report's numbers, the study as it was written down, the trials'
    curves."""
    digest = hashlib.sha256(_code() + numbers)
    digest.update(report.study.model_dump_json().encode())
    for trial in report.results.trials:
        digest.update(repr((trial.id, trial.state, trial.curve)).encode())
    return digest.digest()


@cache
def _code() -> bytes:
    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parents[1].rglob("*.py")))
    return hashlib.sha256(sources + version("matplotlib").encode()).digest()
