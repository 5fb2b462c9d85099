"""Data sets: declarations (datasets/*.yaml) of source files, filters and splits, and the store and views made from
them."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from ablations.data.files import find_files, shortened
from ablations.data.game_filters import EVERYTHING
from ablations.data.schema import (
    DECLARATIONS,
    TEMPLATE,
    DatasetDeclaration,
    FilterDeclaration,
    dataset_names,
    path_label,
    read_declaration,
)
from gonn_core.errors import SettingError, UserError, printable
from gonn_core.records.archives.members import find_sources
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
