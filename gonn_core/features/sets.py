"""Named plane sets: which of a system's planes a net sees, chosen by name from a feature configuration.

Whether the numbers in a plane changed is said by `gonn_core.numerics.FEATURES`, which is part of every trial's id.
Planes that mean the same have the same name in all sets; those that do not (exactly four liberties, four or more) have
not.
"""

from collections.abc import Callable

import numpy as np

from gonn_core.features import gonn
from gonn_core.settings.features import FeatureConfig

SIDES = ("own", "opponent")


def _gonn(features: FeatureConfig) -> list[str]:
    """GoNN's planes that a configuration asks for (spec: GoNN 1.1, 1.5); on-board and stone planes are always there."""
    names = {"on_board", "own_stone", "opponent_stone"}
    for side in SIDES:
        names |= {f"{side}_liberties_{k}" for k in range(1, features.liberties + 1)}
        names |= {f"{side}_liberties_after_{k}" for k in range(1, features.liberties_after + 1)}
    names |= {*_history(features), *_some("ko", features.ko)}
    names |= {"ladder_atari", "ladder_two_liberties"} if features.ladders else set()
    names |= {"ladder_moves"} if features.ladders is True else set()
    return [*(name for name in gonn.PLANE_NAMES if name in names), *_after_gonns(features)]


def _go_nn(features: FeatureConfig) -> list[str]:
    """go-NN's 21 planes, in its order (spec: other systems 1.2)."""
    return [
        *("own_stone", "opponent_stone", "empty"),
        *_some("ones", features.ones),
        *_liberties(features),
        *_history(features),
        *_some("ko", features.ko),
        *(_counted("captures", 1, 4) if features.captures else []),
    ]


def _clark(features: FeatureConfig) -> list[str]:
    """Clark & Storkey's 2 to 8 planes and the last moves that they left out (spec: other systems 2.2, C9).

    Chains with 1, 2, 3 or more liberties take the place of the stones. `edge` is zero on the board: see `padding`.
    """
    return [
        *(_liberties(features) or ("own_stone", "opponent_stone")),
        *_some("ko", features.ko),
        *_some("edge", features.edge == "channel"),
        *_history(features),
    ]


def _cazenave(features: FeatureConfig) -> list[str]:
    """Cazenave's 45 planes, in the order of his list (spec: other systems 4.2). The list has 44: the last one is our
    mirror of `ladder_move_caught`."""
    after = [name for side in SIDES for name in _counted(f"{side}_liberties_after", 0, 6)]
    return [
        *("own_stone", "opponent_stone", "empty"),
        *_some("ones", features.ones),
        *_some("zeros", features.zeros),
        *_some("third_line", features.third_line),
        *_some("ko_flag", features.ko_flag),
        *_some("ko", features.ko),
        *_liberties(features),
        *(after if features.liberties_after else ()),
        *(LADDER_PLANES[:7] if features.ladders else ()),
        *_history(features),
        *(LADDER_PLANES[7:] if features.ladders else ()),
    ]


LADDER_PLANES = (
    "ladder_move_caught",
    "ladder_two_liberties",
    "ladder_atari",
    "ladder_capture",
    "ladder_escape",
    "ladder_threat",
    "ladder_opponent_threat",
    "ladder_opponent_move_caught",
)
"""Cazenave's planes 32-38 and the 45th, which is ours; see `cazenave_ladders`."""


def past_board_names(boards: int) -> tuple[str, ...]:
    """Names of the planes of so many past boards of the gonn set, the newest first; see `past_boards`."""
    return tuple(f"{side}_stone_{ago}_ago" for ago in range(1, boards + 1) for side in SIDES)


RANK_GROUPS = ("unknown", "kyu", "1d_3d", "4d_5d", "6d", "7d", "8d", "9d")
"""Of the mover's rank; professionals are among the last."""


def _after_gonns(features: FeatureConfig) -> tuple[str, ...]:
    """Names of the planes after the 26 of GoNN's kernel."""
    ranks = tuple(f"rank_{group}" for group in RANK_GROUPS) if features.ranks else ()
    return past_board_names(features.past_boards) + ranks


def _some(name: str, wanted: bool) -> list[str]:
    return [name] if wanted else []


def _counted(name: str, first: int, last: int) -> list[str]:
    return [*(f"{name}_{k}" for k in range(first, last)), f"{name}_{last}_or_more"]


def _liberties(features: FeatureConfig) -> list[str]:
    """Planes of the chains of both sides by liberties: 1, 2, … and `features.liberties` or more."""
    if not features.liberties:
        return []
    return [name for side in SIDES for name in _counted(f"{side}_liberties", 1, features.liberties)]


def _history(features: FeatureConfig) -> list[str]:
    return [f"history_{k}" for k in range(1, features.history + 1)]


PLANE_SETS: dict[str, Callable[[FeatureConfig], list[str]]] = {
    "gonn": _gonn,
    "go_nn": _go_nn,
    "clark": _clark,
    "cazenave": _cazenave,
}
"""The known plane sets: name -> names of the planes that a configuration chooses, in order."""


def plane_names(features: FeatureConfig) -> tuple[str, ...]:
    """Names of the chosen planes, in the order of the set."""
    return tuple(PLANE_SETS[features.set](features))


def computed_planes(features: FeatureConfig) -> tuple[str, ...]:
    """Names of the planes that `planes.make_planes` writes: the chosen ones, but all 26 of gonn, whose kernel knows no
    fewer."""
    chosen = plane_names(features)
    return gonn.PLANE_NAMES + _after_gonns(features) if features.set == "gonn" else chosen


def plane_indices(features: FeatureConfig) -> np.ndarray:
    """(C,) int64: where the chosen planes are among those computed, ascending."""
    computed = computed_planes(features)
    return np.array([computed.index(name) for name in plane_names(features)], np.int64)


def padding(features: FeatureConfig) -> np.ndarray:
    """(C,) float32: what a net that pads its *input* puts beyond the edge of the board in each chosen plane (spec:
    other systems 2.2).

    0 but for one plane of the clark set: `edge` (`features.edge` = channel), or the opponent's stones, those with three
    or more liberties where planes tell them apart (as_opponent). Deeper layers pad with zeros. To be padded by (k-1)/2
    for a first kernel of k points, before a convolution without padding of its own; where planes are normalised,
    afterwards.
    """
    names = plane_names(features)
    beyond = {
        "none": None,
        "channel": "edge",
        "as_opponent": "opponent_liberties_3_or_more" if features.liberties else "opponent_stone",
    }[features.edge]
    return np.array([name == beyond for name in names], np.float32)
