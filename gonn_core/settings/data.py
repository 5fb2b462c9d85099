"""Which positions a trial sees, and how."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings.strict import Digest, Probability, Strict

HistoryMode = Literal["full", "as_published", "none"]
"""`full`: all of the last five moves; `as_published`: GoNN's test rows lost moves at random, once, with the
probabilities of training rows (spec: GoNN 0.6, 1.3); `none`: no earlier move at all, in whatever planes a net has for
them ("play well without history", GoNN: Some Thoughts About History as an Input)."""


class EvaluationConfig(Strict):
    """Part of what is compared: with it an arm is another trial, trained in the same way."""

    symmetry_averaging: bool = False
    """Mean of the logits over the 8 symmetries of the position (spec: other systems 1.7)."""
    legal_only: bool = False
    """Softmax over empty points but the ko point, as Clark & Storkey test (spec: other systems 2.5, 2.7)."""


class GamesConfig(Strict):
    """Filters of the training view, in place of the data set's own where they are given.

    A study turns them into the view's digest: the configuration of a trial itself has none of them. A rank of -30, 361
    handicap stones and year 0 let everything through, games without a rank or a year included.
    """

    min_rank: Annotated[int, Field(ge=-30, le=8)] | None = None
    """Of the mover; k: -n, 1d: 0 … 9d and professionals: 8."""
    min_opponent_rank: Annotated[int, Field(ge=-30, le=8)] | None = None
    max_handicap: Annotated[int, Field(ge=0, le=361)] | None = None
    drop_illegal: bool | None = None
    drop_corrupt: bool | None = None
    min_year: Annotated[int, Field(ge=0, le=2099)] | None = None
    ignore_amateurs: bool | None = None
    """Learn the moves of professionals alone, of 6 dan and stronger on a server; decided for each colour."""


class DataConfig(Strict):
    """Which positions a trial sees, and how."""

    view: Digest = "0" * 20
    """Digest of the training view; all zeros until a data set has been prepared."""
    games: GamesConfig = GamesConfig()
    sampling: Literal["epochs", "replacement"] = "epochs"
    augmentation: Literal["batch", "sample", "none"] = "batch"
    """One random symmetry per batch (GoNN), per position (Cazenave), none (Clark & Storkey)."""
    history_keep: tuple[Probability, Probability, Probability, Probability, Probability] = (1.0, 1.0, 1.0, 1.0, 1.0)
    """Nested probabilities of keeping the move 1 … 5 ago in a training batch (GoNN 1.3: .90, .95, .95, .98, .98)."""
    history_frozen: bool = False
    """What a row keeps is drawn once for all epochs, as when GoNN's data files were written (GoNN 0.6, 1.3); else
    again each time that it is seen."""

    @model_validator(mode="after")
    def _something_to_freeze(self):
        if self.history_frozen and all(keep == 1.0 for keep in self.history_keep):
            raise ValueError("history_frozen needs a history_keep below 1: with all history kept there is no draw")
        return self
