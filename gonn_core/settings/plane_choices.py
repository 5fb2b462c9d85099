"""What each plane set can be asked for: the valid values of every field of `gonn_core.config.FeatureConfig`, by set.

A field that means nothing in a set has one valid value there, which says "no such plane". Plain data, so that a
configuration is checked without the kernels.
"""

_EITHER = (False, True)
_NOT_HERE = {
    "liberties_after": (0,),
    "ladders": (False,),
    "ones": (False,),
    "captures": (False,),
    "edge": ("none",),
    "third_line": (False,),
    "zeros": (False,),
    "ko_flag": (False,),
    "past_boards": (0,),
    "past_boards_dropped": ("zero",),
}

VALID: dict[str, dict[str, tuple]] = {
    "gonn": {
        **_NOT_HERE,
        "liberties": (0, 1, 2, 3, 4),
        "liberties_after": (0, 1, 2, 3),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4, 5),
        "ladders": _EITHER,
        "ones": (True,),
        "past_boards": (0, 1, 2, 3, 4, 5),
        "past_boards_dropped": ("zero", "copy"),
    },
    "go_nn": {
        **_NOT_HERE,
        "liberties": (0, 3, 4),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4),
        "ones": _EITHER,
        "captures": _EITHER,
    },
    "clark": {
        **_NOT_HERE,
        "liberties": (0, 3),
        "ko": _EITHER,
        "history": (0, 1, 2, 3, 4, 5),
        "edge": ("none", "channel", "as_opponent"),
    },
    "cazenave": {
        **_NOT_HERE,
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
"""Set -> field -> valid values (spec: GoNN 1.1, 1.5; other systems 1.2, 1.9, 2.2, 2.9, 4.2, 4.8)."""


def problem(features) -> str | None:
    """What a configuration asks that its set (one of VALID) does not have, naming the valid values, or what has no
    effect; None when all is well."""
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


def _text(values) -> str:
    return " or ".join(str(value).lower() for value in values)
