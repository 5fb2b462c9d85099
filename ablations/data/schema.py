"""Declarations of data sets (datasets/*.yaml): what they may say, and whose claims their games can judge."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from ablations.strict_yaml import read_yaml
from gonn_core.config import Strict, TrialConfig, parse_model, with_values
from gonn_core.errors import SettingError
from gonn_core.settings.data import GamesConfig

DECLARATIONS: Final = Path(__file__).parents[1] / "datasets"
TEMPLATE: Final = "path"
_YEARS = re.compile(r"(\d+) of (\d+) training years")
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
    min_year: Year | None = None
    ignore_amateurs: bool = False


class SplitDeclaration(Strict):
    """One split: games by year, first to last inclusive, a share of hashed games, a share of hashed positions of its
    games."""

    years: tuple[Year, Year] | None = None
    hashed: tuple[Share, Share] | None = None
    positions: tuple[Share, Share] | None = None

    @model_validator(mode="after")
    def _not_empty(self):
        shares = [share for share in (self.hashed, self.positions) if share is not None]
        if self.years is None and not shares:
            raise ValueError("needs years, hashed or positions")
        if (self.years and self.years[0] > self.years[1]) or any(low >= high for low, high in shares):
            raise ValueError("a range from low to high")
        return self


class SplitsDeclaration(Strict):
    """A game that fits several splits is in the last of them; one that is split by positions is in all of them."""

    train: SplitDeclaration
    validation: SplitDeclaration
    test: SplitDeclaration

    @model_validator(mode="after")
    def _by_games_or_by_positions(self):
        if len({split.positions is None for split in (self.train, self.validation, self.test)}) > 1:
            raise ValueError("positions: in each of the splits or in none")
        return self


class DatasetDeclaration(Strict):
    """One datasets/<name>.yaml; `document` says where the data set is described."""

    name: str
    title: str
    document: str
    judges_claims: bool = True
    """False: no claim is judged on these games, not even one that holds on any."""
    sources: Annotated[tuple[SourceDeclaration, ...], Field(min_length=1)]
    filter: FilterDeclaration = FilterDeclaration()
    splits: SplitsDeclaration

    def split(self, name: str) -> SplitDeclaration:
        """The rule of train, validation or test."""
        return getattr(self.splits, name)


def dataset_names() -> list[str]:
    """Names of the declared data sets."""
    return sorted(path.stem for path in DECLARATIONS.glob("*.yaml") if path.stem != TEMPLATE)


def read_declaration(path: Path) -> DatasetDeclaration:
    """A declaration file, checked. Raises SettingError or InputError."""
    declaration = parse_model(DatasetDeclaration, read_yaml(path), path.stem)
    if declaration.name != path.stem:
        raise SettingError(f"{path.stem}.name", declaration.name, "not the name of its file", path.stem)
    return declaration


def read_declarations() -> dict[str, DatasetDeclaration]:
    """Name -> declaration, of all of them and the template. Raises SettingError or InputError."""
    return {path.stem: read_declaration(path) for path in sorted(DECLARATIONS.glob("*.yaml"))}


@cache
def judges_claims(data: str) -> bool:
    """Whether a claim can be judged on a study's data set; one of the user's own judges those that name no games."""
    path = DECLARATIONS / f"{data}.yaml"
    return data == TEMPLATE or not path.is_file() or read_declaration(path).judges_claims


def years_lacking(coverage: str) -> str:
    """`4 of 15 training years` where a study's coverage says that games of some years were not there, else nothing."""
    found = _YEARS.search(coverage)
    return found[0] if found and found[1] != found[2] else ""


def path_label(name: str) -> str:
    """What a data set given as a path is called, never as a declared one."""
    return f"{name} (path)" if name in dataset_names() or name == TEMPLATE else name


EVERYTHING = GamesConfig(
    min_rank=-30,
    min_opponent_rank=-30,
    max_handicap=361,
    drop_illegal=False,
    drop_corrupt=False,
    min_year=0,
    ignore_amateurs=False,
)
"""Every filter at the value that lets all games and all movers through."""
PREFIX = "data.games."


def own_games(declared: FilterDeclaration) -> GamesConfig:
    """A data set's own filter; where it has no condition, the value of EVERYTHING."""
    given = {name: getattr(declared, name) for name in GamesConfig.model_fields}
    return EVERYTHING.model_copy(update={name: value for name, value in given.items() if value is not None})


def filters_of(cards: Iterable) -> set[str]:
    """Names of the filters that cards (objects with toggles) toggle."""
    return {path.removeprefix(PREFIX) for card in cards for path in card.toggles if path.startswith(PREFIX)}


def filled(config: TrialConfig, cards: Iterable, own: GamesConfig = EVERYTHING) -> TrialConfig:
    """`config` with the filters that cards toggle at a data set's own values, where it leaves them unset."""
    unset = {name for name in filters_of(cards) if getattr(config.data.games, name) is None}
    return with_values(config, {PREFIX + name: getattr(own, name) for name in unset}) if unset else config


def with_view(config: TrialConfig, digest: str) -> TrialConfig:
    """`config` on the training view of that digest, its filters taken out: what a trial is."""
    return with_values(config, {"data.view": digest, **{PREFIX + name: None for name in GamesConfig.model_fields}})
