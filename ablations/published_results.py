"""What the documents print of results: nets, ablation tables, games, orders in figures, gains, and what they show of
the inside of trained nets.

Numbers are shares of 1, nats, places; what a document leaves blank, or the stored text has lost, is null. A number that
is printed in another form ("~560,000", "325-333M") has that form in `printed`.
"""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ablations.schema import Document, Evidence, Id, Text
from gonn_core.config import Strict

Share = Annotated[float, Field(gt=0, lt=1)]
Point = Annotated[str, Field(pattern=r"^[A-HJ-T](1[0-9]|[1-9])$")]
Size = Annotated[float, Field(gt=0)]
Range = tuple[float, float]


class Counterpart(Strict):
    """The net of ours that a published number is of: a base as it stands, or that base with one card on or off."""

    base: Id
    card: Id | None = None
    state: Literal["off", "on"] | None = None

    @model_validator(mode="after")
    def _both_or_none(self):
        if (self.card is None) != (self.state is None):
            raise ValueError("card and state go together")
        return self


class PublishedRow(Strict):
    """One row of a published table of results; what the document leaves blank is null."""

    structure: Text
    source: Text
    parameters: Annotated[int, Field(ge=1)] | None = None
    data: Text
    top1: Share | None = None
    top4: Share | None = None
    nats: Annotated[float, Field(gt=0)] | None = None
    rank: Annotated[float, Field(ge=1)] | None = None
    probability: Share | None = None
    """Of the move played, mean over positions."""
    excluded: Text | None = None
    """A row of an ablation table: the technique that was left out, in the table's words."""
    steps: Text | None = None
    """Samples trained, as printed."""
    gnugo: Text | None = None
    pachi: Text | None = None
    printed: dict[Literal["parameters", "steps"], Text] = {}
    """Field -> its form in the table that compares nets, where that is another than here."""
    same_net: Id | None = None
    """Name of a net of which several documents tell the same result: the comparison has it once."""
    ours: Counterpart | None = None
    evidence: Evidence
    note: Text | None = None


class PublishedGames(Strict):
    """Games of one published net against one opponent, or its rank on a server."""

    source: Text
    net: Text
    opponent: Text
    rules: Text | None = None
    settings: Text | None = None
    """Level, time, number of games."""
    result: Text | None = None
    """Share of wins or rank, as printed; null: the table is there, its number is not in the stored text."""
    words: Text | None = None
    """What the text says of it."""
    base: Id | None = None
    """Whose games are shown next to it; null: the net is none of the bases."""
    evidence: Evidence
    note: Text | None = None

    @model_validator(mode="after")
    def _says_something(self):
        if self.result is None and self.words is None:
            raise ValueError("games need a result or words")
        return self


class PublishedCurve(Strict):
    """One curve of a figure whose numbers the text does not give: what it says of the curve's place."""

    figure: Text
    net: Text
    layers: Annotated[int, Field(ge=1)]
    """Convolutions of its blocks."""
    width: Annotated[int, Field(ge=1)] | None = None
    """Feature planes; null: not stated."""
    output_planes: Annotated[int, Field(ge=1)]
    measure: Literal["accuracy", "test error", "training error"]
    words: Text
    place: Annotated[int, Field(ge=1)] | None = None
    """Among the curves of its figure that have one, in the end: 1 is the best."""
    ours: Counterpart
    evidence: Evidence
    note: Text | None = None


class PublishedGain(Strict):
    """What a change is said to be worth."""

    change: Text
    gain: Text
    """In the document's words."""
    cost: Text | None = None
    net: Text | None = None
    """On which net, and compared with what; null: not stated."""
    cards: tuple[Id, ...] = ()
    """Enhancements whose measured effect is shown next to it; none: no enhancement is like it."""
    evidence: Evidence
    note: Text | None = None


class EloPoint(Strict):
    """One row of the rough correspondence of accuracy, loss and playing strength."""

    top1: Share
    nats: Annotated[float, Field(gt=0)]
    elo: Annotated[float, Field(ge=0)]


class PublishedTaps(Strict):
    """Root mean square over channels of the taps of one trained 3x3 kernel; layers are named as the nets of this
    project name them."""

    layer: Text
    corners: Size
    edges: Size
    center: Size


class PublishedSlopes(Strict):
    """Slopes of parametric ReLUs after training: ends of the layers' means and, where stated, of their standard
    deviations over channels."""

    layers: Text
    mean: Range
    sd: Range | None = None


class PublishedChannel(Strict):
    """One channel of the policy head just before pooling, on one of the documents' positions: the points that stand out
    and their values."""

    position: Text
    """Name of the position as the probes have it."""
    channel: Annotated[int, Field(ge=0)]
    what: Text
    high: dict[Point, float]
    low: dict[Point, float] = {}


class PublishedInspection(Strict):
    """A document's looks inside its nets. net, note: what they were taken from."""

    net: Text
    taps: tuple[PublishedTaps, ...] = ()
    slopes: tuple[PublishedSlopes, ...] = ()
    channels: tuple[PublishedChannel, ...] = ()
    note: Text | None = None


class Published(Strict):
    """Published results of one system."""

    id: Id
    document: Document
    section: Text
    rows: tuple[PublishedRow, ...] = ()
    games: tuple[PublishedGames, ...] = ()
    curves: tuple[PublishedCurve, ...] = ()
    gains: tuple[PublishedGain, ...] = ()
    correspondence: tuple[EloPoint, ...] = ()
    looks: PublishedInspection | None = None

    @model_validator(mode="after")
    def _holds_something(self):
        if not (self.rows or self.games or self.curves or self.gains):
            raise ValueError("nothing is published here: give rows, games, curves or gains")
        return self
