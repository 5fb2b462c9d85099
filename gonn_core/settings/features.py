"""Input planes."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gonn_core.settings import plane_choices
from gonn_core.settings.strict import Strict


class FeatureConfig(Strict):
    """Input planes: which of a system's named planes the net sees. Stone planes are always there in some form.

    What a set cannot do is refused (`plane_choices.VALID`), so a set other than gonn must say what it
    lacks.
    """

    set: Literal["gonn", "go_nn", "clark", "cazenave"] = "gonn"
    """gonn: 26 planes (spec gonn.md 1); go_nn: 21; clark: 2 to 8, and history; cazenave: 45 (spec other_systems.md 1.2,
    2.2, 4.2)."""
    liberties: Annotated[int, Field(ge=0, le=5)] = 4
    """Planes of own and opponent's chains with exactly 1 … k liberties; in the other sets the last of them holds k or
    more."""
    liberties_after: Annotated[int, Field(ge=0, le=6)] = 3
    """Planes of empty points where own or opponent's move makes a chain of exactly 1 … k liberties (cazenave: 0 … 5, 6
    or more)."""
    ko: bool = True
    history: Annotated[int, Field(ge=0, le=5)] = 5
    """How many of the last moves have a plane; go_nn counts setup stones as moves."""
    ladders: bool = True
    """gonn: inescapable atari, two-liberty chains that a ladder catches, the moves that do it. cazenave: its planes
    32-38 and 44."""
    ones: bool = True
    """A plane of ones: on-board in gonn, where it is always there."""
    captures: bool = False
    """go_nn: planes of points that capture 1, 2, 3, 4 or more stones."""
    edge: Literal["none", "channel", "as_opponent"] = "none"
    """clark: what stands beyond the edge of the *input*: nothing, a plane of its own, an opponent's stone. The net pads
    with it."""
    third_line: bool = False
    zeros: bool = False
    """cazenave: a plane of zeros, which changes nothing: a negative control."""
    ko_flag: bool = False
    """cazenave: a plane of ones when there is a ko point."""
    past_boards: Annotated[int, Field(ge=0, le=5)] = 0
    """gonn: own and opponent's stones as they were 1 … k moves ago."""
    past_boards_dropped: Literal["zero", "copy"] = "zero"
    """What stands in a past board that history dropping hides: nothing, or the oldest board that is still shown."""
    normalisation: Literal["none", "grand", "per_plane"] = "none"
    """Shift and scale over the training view: one for all planes, or each plane's own (spec: other systems 1.3)."""

    @model_validator(mode="after")
    def _set_has_these_planes(self):
        if problem := plane_choices.problem(self):
            raise ValueError(problem)
        return self
