"""Input planes: every choice there is, and which of them each plane set has.

A new plane is a field of `FeatureConfig` and a line in `HAS` here, its name in `gonn_core.features.sets`, and a kernel
that marks it (`gonn_core.features.marks`). Plain data, so that a configuration is checked without the kernels.
"""

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator
from pydantic.fields import FieldInfo

from gonn_core.settings.strict import Strict

_EITHER = (False, True)
HAS: dict[str, dict[str, tuple]] = {
    "gonn": {
        "liberties": (0, 1, 2, 3, 4),
        "liberties_after": (0, 1, 2, 3),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4, 5),
        "ladders": (*_EITHER, "chains"),
        "ones": (True,),
        "past_boards": (0, 1, 2, 3, 4, 5),
        "past_boards_dropped": ("zero", "copy"),
        "ranks": _EITHER,
    },
    "go_nn": {
        "liberties": (0, 3, 4),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4),
        "ones": _EITHER,
        "captures": _EITHER,
    },
    "clark": {
        "liberties": (0, 3),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4, 5),
        "edge": ("none", "channel", "as_opponent"),
    },
    "cazenave": {
        "liberties": (0, 5),
        "liberties_after": (0, 6),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4, 5),
        "ladders": _EITHER,
        "ones": _EITHER,
        "third_line": _EITHER,
        "zeros": _EITHER,
        "ko_flag": _EITHER,
    },
}
"""Set -> field -> valid values (spec: GoNN 1.1, 1.5; other systems 1.2, 1.9, 2.2, 2.9, 4.2, 4.8). A field that is not
named has one valid value in that set, which says "no such plane": false, 0, or the first of its choices."""


class FeatureConfig(Strict):
    """Input planes: which of a system's named planes the net sees. Stone planes are always there in some form.

    What a set cannot do is refused (`HAS`), so a set other than gonn must say what it lacks.
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
    ladders: bool | Literal["chains"] = True
    """gonn: inescapable atari, two-liberty chains that a ladder catches, the moves that do it; chains: without the
    moves, whose plane came on 2018-01-31. cazenave: its planes 32-38 and 44."""
    ones: bool = True
    """A plane of ones: on-board in gonn, where it is always there."""
    captures: bool = False
    """go_nn: planes of points that capture 1, 2, 3, 4 or more stones."""
    edge: Literal["none", "channel", "as_opponent"] = "none"
    """clark: what is beyond the edge of the *input*: nothing, a plane of its own, an opponent's stone. The net pads
    with it."""
    third_line: bool = False
    zeros: bool = False
    """cazenave: a plane of zeros, which changes nothing: a negative control."""
    ko_flag: bool = False
    """cazenave: a plane of ones when there is a ko point."""
    past_boards: Annotated[int, Field(ge=0, le=5)] = 0
    """gonn: own and opponent's stones as they were 1 … k moves ago."""
    past_boards_dropped: Literal["zero", "copy"] = "zero"
    """What a past board shows where history dropping hides it: nothing, or the oldest board that is still shown."""
    normalisation: Literal["none", "grand", "per_plane", "whitened"] = "none"
    """Shift and scale over the training view: one for all planes, or each plane's own (spec: other systems 1.3);
    whitened: each plane's own shift, and a matrix that takes away what planes tell of each other at a point."""
    ranks: bool = False
    """gonn: planes of ones for the mover's rank, in eight groups."""

    @model_validator(mode="after")
    def _set_has_these_planes(self):
        if message := problem(self):
            raise ValueError(message)
        return self


def _off(field: FieldInfo) -> bool | int | str:
    """The value that says "no such plane"."""
    if isinstance(field.default, bool):
        return False
    choices = get_args(field.annotation)
    return choices[0] if choices else 0


VALID: dict[str, dict[str, tuple]] = {
    name: {
        field: has.get(field, (_off(info),))
        for field, info in FeatureConfig.model_fields.items()
        if field not in ("set", "normalisation")
    }
    for name, has in HAS.items()
}
"""Set -> every field that chooses planes -> its valid values there."""


def problem(features: FeatureConfig) -> str | None:
    """What a configuration asks that its set does not have, naming the valid values, or what has no effect; None when
    all is well."""
    wrong = [
        f"{field} {_text(valid)} (not {_text((getattr(features, field),))})"
        for field, valid in VALID[features.set].items()
        if getattr(features, field) not in valid
    ]
    if wrong:
        return f"set {features.set} takes {', '.join(wrong)}"
    if features.past_boards_dropped == "copy" and not features.past_boards:
        return "past_boards_dropped copy needs past_boards above 0 (there is no board to copy to)"
    return None


def _text(values: tuple) -> str:
    return " or ".join(str(value).lower() for value in values)
