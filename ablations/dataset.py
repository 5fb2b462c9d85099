"""Data sets: declarations (datasets/*.yaml) of source files, filters and splits, and the store and views made from them."""

import fnmatch
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, parse_model
from gonn_core.errors import InputError, SettingError, UserError, printable
from gonn_core.records.archives import ARCHIVE_SUFFIXES, find_sources, list_archives
from gonn_core.records.build import Progress, Source, prepare_store
from gonn_core.records.report import BuildReport
from gonn_core.records.store import Store
from gonn_core.records.views import SPLITS, RowFilter, SplitRule, View, make_views

DECLARATIONS = Path(__file__).parent / "datasets"
TEMPLATE = "path"
_NAMES_SHOWN = 6
Share = Annotated[float, Field(ge=0, le=1)]
Year = Annotated[int, Field(ge=1000, le=2099)]


class SourceDeclaration(Strict):
    """Where games lie: exactly one of four ways, `label` names the collection.

    files    patterns of archive names anywhere below the data folder; `{year}` stands for each year of the splits
    folder   name of a folder below the data folder: the .sgf files and archives in it
    bundled  an archive that comes with this package
    given    the path that the user names (template only)
    """

    label: str
    files: tuple[str, ...] = ()
    folder: str = ""
    bundled: str = ""
    given: bool = False
    rank_scheme: Literal["kgs", "gogod"] = "kgs"

    @model_validator(mode="after")
    def _one_way(self):
        if sum(map(bool, (self.files, self.folder, self.bundled, self.given))) != 1:
            raise ValueError("exactly one of files, folder, bundled, given")
        return self


class FilterDeclaration(Strict):
    """Which positions are samples; the fields are those of `records.views.RowFilter`."""

    min_rank: Annotated[int, Field(ge=-30, le=8)] | None = None
    min_opponent_rank: Annotated[int, Field(ge=-30, le=8)] | None = None
    max_handicap: Annotated[int, Field(ge=0)] | None = None
    min_moves: Annotated[int, Field(ge=0)] = 0
    drop_illegal: bool = False
    drop_corrupt: bool = False


class SplitDeclaration(Strict):
    """Games of one split: by year, first to last inclusive, by share of hashed games, or both."""

    years: tuple[Year, Year] | None = None
    hashed: tuple[Share, Share] | None = None

    @model_validator(mode="after")
    def _not_empty(self):
        if self.years is None and self.hashed is None:
            raise ValueError("needs years or hashed")
        if (self.years and self.years[0] > self.years[1]) or (self.hashed and self.hashed[0] >= self.hashed[1]):
            raise ValueError("a range from low to high")
        return self


class SplitsDeclaration(Strict):
    """A game that fits several splits is in the last of them."""

    train: SplitDeclaration
    validation: SplitDeclaration
    test: SplitDeclaration


class DatasetDeclaration(Strict):
    """One datasets/<name>.yaml; `document` says where the data set is described."""

    name: str
    title: str
    document: str
    sources: Annotated[tuple[SourceDeclaration, ...], Field(min_length=1)]
    filter: FilterDeclaration = FilterDeclaration()
    splits: SplitsDeclaration

    def split(self, name: str) -> SplitDeclaration:
        """The rule of train, validation or test."""
        return getattr(self.splits, name)


@dataclass(frozen=True)
class Dataset:
    """A declaration with the files found for it; `missing`: patterns of expected archives that were not found."""

    declaration: DatasetDeclaration
    label: str
    sources: tuple[Source, ...]
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


def dataset_names() -> list[str]:
    """Names of the declared data sets."""
    return sorted(path.stem for path in DECLARATIONS.glob("*.yaml") if path.stem != TEMPLATE)


def read_declaration(path: Path) -> DatasetDeclaration:
    """A declaration file, checked. Raises SettingError or InputError."""
    declaration = parse_model(DatasetDeclaration, read_yaml(path), path.stem)
    if declaration.name != path.stem:
        raise SettingError(f"{path.stem}.name", declaration.name, "not the name of its file", path.stem)
    return declaration


def load_dataset(name_or_path: str, data_dir: str | os.PathLike | None = None) -> Dataset:
    """A declared data set, its files looked for below `data_dir`; or any path to games, split by the template. Raises UserError."""
    name = str(name_or_path)
    if name in dataset_names():
        return _declared(read_declaration(DECLARATIONS / f"{name}.yaml"), data_dir)
    expanded = os.path.expanduser(name)
    if not os.path.exists(expanded) and not any(character in name for character in "/*?["):
        raise SettingError("DATA", name, "not a known data set, and no such file or folder", dataset_names() + ["a path to SGF files or archives"])
    declaration = read_declaration(DECLARATIONS / f"{TEMPLATE}.yaml")
    scheme = declaration.sources[0].rank_scheme
    label = printable(Path(expanded).name or expanded, 60)
    return Dataset(declaration, label, tuple(Source(path, scheme, label) for path in find_sources(expanded)), (), label)


def prepare(dataset: Dataset, stores: Path, progress: Callable[[Progress], None] | None = None, demanded=SPLITS) -> PreparedData:
    """Store and views of a data set, found or built below `stores`. Raises UserError, also when a demanded split has no positions."""
    declaration = dataset.declaration
    store = prepare_store(dataset.sources, stores, progress)
    rules = {split: SplitRule(**declaration.split(split).model_dump()) for split in SPLITS}
    views = make_views(store, RowFilter(**declaration.filter.model_dump()), rules, stores)
    for split in demanded:
        if not views[split].n:
            raise UserError(_empty_split(dataset, store, split))
    return PreparedData(dataset, store, views, dataset.coverage, store.report)


def _declared(declaration: DatasetDeclaration, data_dir) -> Dataset:
    sources, missing, coverage = [], [], []
    for source in declaration.sources:
        if source.bundled:
            found, lacking, text = [_bundled(source)], [], source.label
        else:
            folder = _data_folder(declaration, source, data_dir)
            found, lacking, text = (_in_folder if source.folder else _by_name)(declaration, source, folder)
        sources += [Source(path, source.rank_scheme, source.label) for path in found]
        missing += lacking
        coverage.append(text)
    return Dataset(declaration, declaration.name, tuple(sources), tuple(missing), " + ".join(coverage))


def _bundled(source: SourceDeclaration) -> Path:
    path = DECLARATIONS.parent / source.bundled
    if not path.is_file():
        raise InputError(path, "bundled games are missing; this installation is incomplete")
    return path


def _data_folder(declaration: DatasetDeclaration, source: SourceDeclaration, data_dir) -> Path:
    if data_dir is None:
        raise SettingError("DATA", declaration.name, f"no data folder given; it must hold {_wanted(declaration, source)}")
    folder = Path(os.path.expanduser(data_dir))
    if not folder.is_dir():
        raise InputError(folder, f"no such data folder; data set {declaration.name} looks there for {_wanted(declaration, source)}")
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
    found, missing, found_years = [], [], set()
    years = _years(declaration)
    for pattern in source.files:
        for year in years if "{year}" in pattern else [None]:
            name = pattern.replace("{year}", str(year))
            matching = [path for stem, path in archives.items() if fnmatch.fnmatchcase(stem, name.lower())]
            found += matching
            if matching:
                found_years.add(year)
            else:
                missing.append(name)
    if not found:
        raise InputError(data_dir, f"data set {declaration.name} finds no games: put {_wanted(declaration, source)} there")
    dated = any("{year}" in pattern for pattern in source.files)
    return sorted(set(found), key=lambda path: path.name), missing, _coverage(declaration, source.label, found_years) if dated else source.label


def _stem(name: str) -> str:
    lower = name.lower()
    return next((lower.removesuffix(suffix) for suffix in sorted(ARCHIVE_SUFFIXES, key=len, reverse=True) if lower.endswith(suffix)), lower)


def _years(declaration: DatasetDeclaration) -> list[int]:
    ranges = [declaration.split(split).years for split in SPLITS]
    return sorted({year for bounds in ranges if bounds for year in range(bounds[0], bounds[1] + 1)})


def _coverage(declaration: DatasetDeclaration, label: str, found: set) -> str:
    bounds = declaration.splits.train.years
    if not bounds:
        return label
    wanted = range(bounds[0], bounds[1] + 1)
    missing = [year for year in wanted if year not in found]
    text = f"{label}, {len(wanted) - len(missing)} of {len(wanted)} training years"
    return text + (f" (missing {_short(missing)})" if missing else "")


def _wanted(declaration: DatasetDeclaration, source: SourceDeclaration) -> str:
    if source.folder:
        return f"a folder {source.folder} with .sgf files or archives"
    patterns = ", ".join(re.sub(r"\[[^]]*\]", "", pattern).replace("{year}", "<year>") for pattern in source.files)
    years = f" for {_spans(declaration)}" if any("{year}" in pattern for pattern in source.files) else ""
    return f"archives named {patterns}{years} ({', '.join(ARCHIVE_SUFFIXES[:6])} …)"


def _spans(declaration: DatasetDeclaration) -> str:
    spans = [declaration.split(split).years for split in SPLITS]
    return ", ".join(f"{first}-{last}" if last > first else f"{first}" for first, last in filter(None, spans))


def _short(items) -> str:
    shown = ", ".join(map(str, items[:_NAMES_SHOWN]))
    return f"{shown} and {len(items) - _NAMES_SHOWN} more" if len(items) > _NAMES_SHOWN else shown


def _empty_split(dataset: Dataset, store: Store, split: str) -> str:
    rule = dataset.declaration.split(split)
    asked = [f"years {rule.years[0]}-{rule.years[1]}"] if rule.years else []
    asked += [f"hashed share {rule.hashed[0]:g}-{rule.hashed[1]:g}"] if rule.hashed else []
    conditions = dataset.declaration.filter.model_dump(exclude_defaults=True)
    asked += [f"{name} {value}" for name, value in conditions.items()]
    missing = f"; no files match {_short(dataset.missing)}" if dataset.missing else ""
    return f"data set {dataset.label}: no positions for the {split} split ({', '.join(asked)}) among {len(store.games):,} games{missing}"
