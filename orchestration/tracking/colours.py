"""Colours of arms: the seeds of an arm have one, the same each time, and no two arms of a study look alike."""

import colorsys
from collections.abc import Sequence

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
"""Those of our figures, in the same order."""
_TURN = 0.381966
"""Of the circle of hues, from one further arm to the next: the golden angle, so that neighbours differ."""


def arm_colours(arms: Sequence[str]) -> dict[str, str]:
    """Arm -> `#RRGGBB`, for arms in their order in the study: that of the figures, and further ones where those end."""
    return {arm: _colour(index) for index, arm in enumerate(dict.fromkeys(arms))}


def _colour(index: int) -> str:
    if index < len(PALETTE):
        return PALETTE[index]
    further = index - len(PALETTE)
    light, saturation = ((0.35, 0.9), (0.6, 0.55), (0.5, 0.35))[further % 3]
    rgb = colorsys.hls_to_rgb(further * _TURN % 1.0, light, saturation)
    return "#" + "".join(f"{round(255 * part):02X}" for part in rgb)
