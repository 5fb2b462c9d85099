"""The source files of a declared data set: where they are looked for, and what to say when they are not there."""

import fnmatch
import os
import re
from pathlib import Path

from ablations.data.schema import DatasetDeclaration, SourceDeclaration
from gonn_core.errors import InputError, SettingError
from gonn_core.records.archives import ARCHIVE_SUFFIXES
from gonn_core.records.archives.members import find_sources, list_archives
from gonn_core.records.build import GameSource
from gonn_core.records.views import SPLITS

PACKAGE = Path(__file__).parents[1]
_NAMES_SHOWN = 6


def find_files(
    declaration: DatasetDeclaration, data_dir: str | os.PathLike | None
) -> tuple[tuple[GameSource, ...], tuple[str, ...], str]:
    """(sources, patterns that matched no file, coverage text) of a declared data set. Raises UserError when a
    collection has no file."""
    sources: list[GameSource] = []
    missing: list[str] = []
    coverage: list[str] = []
    for source in declaration.sources:
        absent, text = list[str](), source.label
        if source.bundled:
            paths = [PACKAGE / source.bundled]
            if not paths[0].is_file():
                raise InputError(paths[0], "bundled games are missing; this installation is incomplete")
        else:
            folder = _data_folder(declaration, source, data_dir)
            if source.folder:
                name = source.folder.lower()
                children = sorted(path for path in folder.iterdir() if path.is_dir() and path.name.lower() == name)
                folders = [folder] * (folder.resolve().name.lower() == name) + children
                paths = find_sources(folders[0]) if folders else []
            else:
                paths, absent, text = _by_name(declaration, source, folder)
            if not paths:
                problem = f"data set {declaration.name} needs {_needed(declaration, source)}"
                raise InputError(folder, problem)
        sources += [GameSource(path, source.rank_scheme, source.label) for path in paths]
        missing += absent
        coverage.append(text)
    return tuple(sources), tuple(missing), " + ".join(coverage)


def _data_folder(declaration: DatasetDeclaration, source: SourceDeclaration, data_dir) -> Path:
    needed = _needed(declaration, source)
    if data_dir is None:
        raise SettingError("DATA", declaration.name, f"no data folder given; it must hold {needed}")
    folder = Path(os.path.expanduser(data_dir))
    if not folder.is_dir():
        raise InputError(folder, f"no such data folder; data set {declaration.name} looks there for {needed}")
    return folder


def _by_name(declaration, source: SourceDeclaration, data_dir: Path) -> tuple[list[Path], list[str], str]:
    """Archives whose names match, one of several with the same stem; patterns without any; which years there are."""
    archives: dict[str, Path] = {}
    for path in list_archives(data_dir):
        suffix = max((suffix for suffix in ARCHIVE_SUFFIXES if path.name.lower().endswith(suffix)), key=len, default="")
        archives.setdefault(path.name.lower().removesuffix(suffix), path)
    spans = [span for split in SPLITS if (span := declaration.split(split).years)]
    years = sorted({year for first, last in spans for year in range(first, last + 1)})
    matched: set[Path] = set()
    missing: list[str] = []
    years_there: set[int] = set()
    for pattern in source.files:
        for year in years if "{year}" in pattern else [0]:
            name = pattern.replace("{year}", str(year))
            matching = {path for stem, path in archives.items() if fnmatch.fnmatchcase(stem, name.lower())}
            matched |= matching
            if matching:
                years_there.add(year)
            else:
                missing.append(name)
    text, training = source.label, declaration.splits.train.years
    if training and any("{year}" in pattern for pattern in source.files):
        expected = range(training[0], training[1] + 1)
        absent = [year for year in expected if year not in years_there]
        text += f", {len(expected) - len(absent)} of {len(expected)} training years"
        text += f" (missing {shortened(absent)})" if absent else ""
    return sorted(matched, key=lambda path: path.name), missing, text


def _needed(declaration: DatasetDeclaration, source: SourceDeclaration) -> str:
    if source.folder:
        return f"a folder {source.folder} with .sgf files or archives"
    patterns = ", ".join(re.sub(r"\[[^]]*\]", "", pattern).replace("{year}", "<year>") for pattern in source.files)
    spans = [span for split in SPLITS if (span := declaration.split(split).years)]
    years = ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in spans)
    dated = f" for {years}" if "<year>" in patterns else ""
    return f"archives named {patterns}{dated} ({', '.join(ARCHIVE_SUFFIXES[:6])} …)"


def shortened(items) -> str:
    """The first few items, and how many more there are."""
    shown = ", ".join(map(str, items[:_NAMES_SHOWN]))
    return f"{shown} and {len(items) - _NAMES_SHOWN} more" if len(items) > _NAMES_SHOWN else shown
