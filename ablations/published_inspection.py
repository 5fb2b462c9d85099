"""What the documents show of the inside of trained nets: kernels by tap, slopes by layer, channels before pooling."""

from typing import Annotated

from pydantic import Field

from gonn_core.config import Strict

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Point = Annotated[str, Field(pattern=r"^[A-HJ-T](1[0-9]|[1-9])$")]
Size = Annotated[float, Field(gt=0)]
Range = tuple[float, float]


class PublishedTaps(Strict):
    """Root mean square over channels of the taps of one trained 3x3 kernel; layers are named as the nets of this
    project name them."""

    layer: Text
    corners: Size
    edges: Size
    center: Size


class PublishedSlopes(Strict):
    """Slopes of parametric ReLUs after training: ends of the layers' means and, where told, of their standard
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
