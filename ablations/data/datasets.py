"""Data sets: declarations (datasets/*.yaml) of source files, filters and splits, and the store and views made from
them."""

import fnmatch
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ablations.data.schema import (
    DECLARATIONS,
    EVERYTHING,
    TEMPLATE,
    DatasetDeclaration,
    FilterDeclaration,
    SourceDeclaration,
    dataset_names,
    path_label,
    read_declaration,
)
from gonn_core.errors import InputError, SettingError, UserError, printable
from gonn_core.records.archives import ARCHIVE_SUFFIXES
from gonn_core.records.archives.members import find_sources, list_archives
from gonn_core.records.build import GameSource, Progress, prepare_store
from gonn_core.records.recipe import Recipe, Split, lacking, make_recipe
from gonn_core.records.store import BuildReport, Store, counted
from gonn_core.records.views import SPLITS, RowFilter, SplitRule, View, make_training_view, make_views
from gonn_core.settings.data import GamesConfig


@dataclass(frozen=True)
class Dataset:
    """A declaration with the files found for it; `missing`: patterns of expected archives that were not found."""

    declaration: DatasetDeclaration
    label: str
    sources: tuple[GameSource, ...]
    missing: tuple[str, ...]
    coverage: str


@dataclass(frozen=True)
class PreparedData:
    """What a study trains and evaluates on."""

    dataset: Dataset
    store: Store
    views: dict[str, View]
    coverage: str
    report: BuildReport


def load_dataset(name_or_path: str, data_dir: str | os.PathLike | None = None) -> Dataset:
    """A declared data set, its files looked for below `data_dir`; or any path to games, split by the template. Raises
    UserError."""
    name = str(name_or_path)
    if name in dataset_names():
        declaration = read_declaration(DECLARATIONS / f"{name}.yaml")
        return Dataset(declaration, name, *find_files(declaration, data_dir))
    expanded = os.path.expanduser(name)
    if not os.path.exists(expanded) and not any(character in name for character in "/*?["):
        valid = [*dataset_names(), "a path to SGF files or archives"]
        raise SettingError("DATA", name, "not a known data set, and no such file or folder", valid)
    declaration = read_declaration(DECLARATIONS / f"{TEMPLATE}.yaml")
    scheme = declaration.sources[0].rank_scheme
    label = dataset_label(name)
    sources = tuple(GameSource(path, scheme, label, lenient=True) for path in find_sources(expanded))
    return Dataset(declaration, label, sources, (), label)


def dataset_label(name_or_path: str) -> str:
    """What studies and trials call a data set: a declared one's name, of a path its last part."""
    if name_or_path in dataset_names():
        return name_or_path
    expanded = os.path.expanduser(name_or_path)
    return path_label(printable(Path(expanded).name or expanded, 60))


def recipe_of(prepared: PreparedData) -> Recipe:
    """The data set as a file with which a machine without the declarations makes the same store and views."""
    declaration = prepared.dataset.declaration
    rules = cast(dict[Split, SplitRule], _rules(declaration))  # the keys are SPLITS
    views = cast(dict[Split, View], prepared.views)
    read = prepared.store.made_from.archives if prepared.store.made_from else ()
    sources = [source for source in prepared.dataset.sources if source.path in read]
    return make_recipe(sources, _rows(declaration), rules, prepared.store, views)


def _rows(declaration: DatasetDeclaration) -> RowFilter:
    return RowFilter(**declaration.filter.model_dump())


def _rules(declaration: DatasetDeclaration) -> dict[str, SplitRule]:
    return {split: SplitRule(**declaration.split(split).model_dump()) for split in SPLITS}


def prepare(
    dataset: Dataset, stores: Path, progress: Callable[[Progress], None] | None = None, demanded=SPLITS
) -> PreparedData:
    """Store and views of a data set, found or built below `stores`. Raises UserError, also when a demanded split has no
    positions."""
    declaration = dataset.declaration
    store = prepare_store(dataset.sources, stores, progress)
    views = make_views(store, _rows(declaration), _rules(declaration), stores)
    for split in demanded:
        if not views[split].n:
            raise UserError(_empty_split(dataset, store, split))
    return PreparedData(dataset, store, views, dataset.coverage, store.report)


def row_filter(games: GamesConfig, declared: FilterDeclaration) -> RowFilter:
    """The filter of the rows: the data set's own, replaced field by field where `games` gives one."""
    values = declared.model_dump()
    for name, value in games.model_dump().items():
        if value is not None:
            values[name] = None if value == getattr(EVERYTHING, name) and not isinstance(value, bool) else value
    return RowFilter(**values)


def training_view(prepared: PreparedData, games: GamesConfig) -> View:
    """The training view of a data set under filters in place of its own. Raises UserError when it has no positions.

    Validation and test stay as they are, and none of their games is in it.
    """
    declaration, stores = prepared.dataset.declaration, prepared.store.folder.parent
    if games == GamesConfig():
        return prepared.views["train"]
    rows = row_filter(games, declaration.filter)
    view = make_training_view(prepared.store, rows, _rows(declaration), _rules(declaration), stores)
    if not view.n:
        filters = ", ".join(f"{name} {value}" for name, value in games.model_dump().items() if value is not None)
        reasons = _silent(prepared.store, rows, declaration)
        raise UserError(f"data set {prepared.dataset.label}: no training positions with {filters}{reasons}")
    return view


def lacks(prepared: PreparedData) -> list[str]:
    """What the data set's own rules ask of its games and some do not say: a line each, with their number and names."""
    declaration = prepared.dataset.declaration
    found = lacking(prepared.store, _rows(declaration), _rules(declaration).values())
    return [counted(f"moves left out, {what}", games) for what, games in found.items()]


def _empty_split(dataset: Dataset, store: Store, split: str) -> str:
    declaration = dataset.declaration
    rule = declaration.split(split)
    conditions = [f"years {rule.years[0]}-{rule.years[1]}"] if rule.years else []
    conditions += [f"hashed share {rule.hashed[0]:g}-{rule.hashed[1]:g}"] if rule.hashed else []
    filters = declaration.filter.model_dump(exclude_defaults=True)
    conditions += [f"{name} {value}" for name, value in filters.items()]
    missing = f"; no files match {shortened(dataset.missing)}" if dataset.missing else ""
    reasons = _silent(store, _rows(declaration), declaration)
    return (
        f"data set {dataset.label}: no positions for the {split} split ({', '.join(conditions)}) "
        f"among {len(store.games):,} games{missing}{reasons}"
    )


def _silent(store: Store, rows: RowFilter, declaration: DatasetDeclaration) -> str:
    found = lacking(store, rows, _rules(declaration).values())
    return "".join(f"; {what} in {games.count:,} of {len(store.games):,} games" for what, games in found.items())


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
