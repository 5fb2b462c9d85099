"""What a data set declaration (datasets/*.yaml) may say."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.config import Strict

Collection = Literal["kgs", "gogod", "none"]
"""Whose claims a data set's games judge: those measured on KGS's, on GoGoD's; none: no claim at all."""
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
    collection: Collection | None = None
    """None: games that judge the claims which name no collection."""
    sources: Annotated[tuple[SourceDeclaration, ...], Field(min_length=1)]
    filter: FilterDeclaration = FilterDeclaration()
    splits: SplitsDeclaration

    def split(self, name: str) -> SplitDeclaration:
        """The rule of train, validation or test."""
        return getattr(self.splits, name)
