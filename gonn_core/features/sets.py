"""Named plane sets: which of a system's planes a net sees, chosen by name from a feature configuration.

Whether the numbers in a plane changed is said by `gonn_core.numerics.FEATURES`, which is part of every trial's id.
"""

from typing import Callable, NamedTuple, Protocol

import numpy as np

from gonn_core.errors import SettingError
from gonn_core.features import gonn


class Features(Protocol):
    """What is read of a feature configuration (`gonn_core.config.FeatureConfig`)."""

    set: str
    liberties: int
    liberties_after: int
    ko: bool
    history: int
    ladders: bool


class PlaneSet(NamedTuple):
    """All planes of a system, in the order in which its kernel makes them, and the choice among them."""

    names: tuple[str, ...]
    chosen: Callable[[Features], set[str]]


def _gonn_planes(features: Features) -> set[str]:
    """GoNN's planes that a configuration asks for (spec: GoNN 1.1, 1.5); on-board and stone planes are always there."""
    names = {"on_board", "own_stone", "opponent_stone"}
    for side in ("own", "opponent"):
        names |= {f"{side}_liberties_{k}" for k in range(1, features.liberties + 1)}
        names |= {f"{side}_liberties_after_{k}" for k in range(1, features.liberties_after + 1)}
    names |= {f"history_{k}" for k in range(1, features.history + 1)}
    names |= {"ko"} if features.ko else set()
    names |= {"ladder_atari", "ladder_two_liberties", "ladder_moves"} if features.ladders else set()
    return names


PLANE_SETS: dict[str, PlaneSet] = {"gonn": PlaneSet(gonn.PLANE_NAMES, _gonn_planes)}
"""The known plane sets by name."""


def plane_set(features: Features) -> PlaneSet:
    """The set that a configuration names. Raises SettingError."""
    if features.set not in PLANE_SETS:
        raise SettingError("features.set", features.set, "not a known plane set", sorted(PLANE_SETS))
    return PLANE_SETS[features.set]


def plane_names(features: Features) -> tuple[str, ...]:
    """Names of the chosen planes, in the order of the set. Raises SettingError for an unknown set or for planes that it lacks."""
    names, chosen = plane_set(features)
    wanted = chosen(features)
    unknown = sorted(wanted - set(names))
    if unknown:
        raise SettingError("features", ", ".join(unknown), f"no such planes in set {features.set}", names)
    return tuple(name for name in names if name in wanted)


def plane_indices(features: Features) -> np.ndarray:
    """(C,) int64: where the chosen planes are among all planes of the set, ascending."""
    names = plane_set(features).names
    return np.array([names.index(name) for name in plane_names(features)], np.int64)
