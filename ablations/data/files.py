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
        if source.bundled:
            paths, absent, text = _bundled(source)
        else:
            folder = _data_folder(declaration, source, data_dir)
            paths, absent, text = (_in_folder if source.folder else _by_name)(declaration, source, folder)
        sources += [GameSource(path, source.rank_scheme, source.label) for path in paths]
        missing += absent
        coverage.append(text)
    return tuple(sources), tuple(missing), " + ".join(coverage)


def _bundled(source: SourceDeclaration) -> tuple[list[Path], list[str], str]:
    path = PACKAGE / source.bundled
    if not path.is_file():
        raise InputError(path, "bundled games are missing; this installation is incomplete")
    return [path], [], source.label


def _data_folder(declaration: DatasetDeclaration, source: SourceDeclaration, data_dir) -> Path:
    if data_dir is None:
        raise SettingError(
            "DATA", declaration.name, f"no data folder given; it must hold {_wanted(declaration, source)}"
        )
    folder = Path(os.path.expanduser(data_dir))
    if not folder.is_dir():
        raise InputError(
            folder, f"no such data folder; data set {declaration.name} looks there for {_wanted(declaration, source)}"
        )
    return folder


def _in_folder(declaration, source: SourceDeclaration, data_dir: Path) -> tuple[list[Path], list[str], str]:
    wanted = source.folder.lower()
    candidates = [data_dir] if data_dir.resolve().name.lower() == wanted else []
    candidates += sorted(path for path in data_dir.iterdir() if path.is_dir() and path.name.lower() == wanted)
    if not candidates:
        raise InputError(data_dir, f"data set {declaration.name} needs {_wanted(declaration, source)}")
    return find_sources(candidates[0]), [], source.label


def _by_name(declaration, source: SourceDeclaration, data_dir: Path) -> tuple[list[Path], list[str], str]:
    """Archives whose names match; one of several with the same stem; which years are missing."""
    archives: dict[str, Path] = {}
    for path in list_archives(data_dir):
        archives.setdefault(_stem(path.name), path)
    matched: list[Path] = []
    missing: list[str] = []
    years_there: set[int] = set()
    years = _years(declaration)
    for pattern in source.files:
        for year in years if "{year}" in pattern else [None]:
            name = pattern.replace("{year}", str(year))
            matching = [path for stem, path in archives.items() if fnmatch.fnmatchcase(stem, name.lower())]
            matched += matching
            if not matching:
                missing.append(name)
            elif year is not None:
                years_there.add(year)
    if not matched:
        raise InputError(
            data_dir, f"data set {declaration.name} finds no games: put {_wanted(declaration, source)} there"
        )
    dated = any("{year}" in pattern for pattern in source.files)
    return (
        sorted(set(matched), key=lambda path: path.name),
        missing,
        _coverage(declaration, source.label, years_there) if dated else source.label,
    )


def _stem(name: str) -> str:
    lower = name.lower()
    return next(
        (
            lower.removesuffix(suffix)
            for suffix in sorted(ARCHIVE_SUFFIXES, key=len, reverse=True)
            if lower.endswith(suffix)
        ),
        lower,
    )


def _years(declaration: DatasetDeclaration) -> list[int]:
    ranges = [declaration.split(split).years for split in SPLITS]
    return sorted({year for bounds in ranges if bounds for year in range(bounds[0], bounds[1] + 1)})


def _coverage(declaration: DatasetDeclaration, label: str, years_there: set[int]) -> str:
    bounds = declaration.splits.train.years
    if not bounds:
        return label
    wanted = range(bounds[0], bounds[1] + 1)
    missing = [year for year in wanted if year not in years_there]
    text = f"{label}, {len(wanted) - len(missing)} of {len(wanted)} training years"
    return text + (f" (missing {shortened(missing)})" if missing else "")


def _wanted(declaration: DatasetDeclaration, source: SourceDeclaration) -> str:
    if source.folder:
        return f"a folder {source.folder} with .sgf files or archives"
    patterns = ", ".join(re.sub(r"\[[^]]*\]", "", pattern).replace("{year}", "<year>") for pattern in source.files)
    years = f" for {_spans(declaration)}" if any("{year}" in pattern for pattern in source.files) else ""
    return f"archives named {patterns}{years} ({', '.join(ARCHIVE_SUFFIXES[:6])} …)"


def _spans(declaration: DatasetDeclaration) -> str:
    spans = [declaration.split(split).years for split in SPLITS]
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in filter(None, spans))


def shortened(items) -> str:
    """The first few items, and how many more there are."""
    shown = ", ".join(map(str, items[:_NAMES_SHOWN]))
    return f"{shown} and {len(items) - _NAMES_SHOWN} more" if len(items) > _NAMES_SHOWN else shown
