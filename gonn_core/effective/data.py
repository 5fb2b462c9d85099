"""Settings of planes and samples that make no difference: edges that no kernel looks beyond, moves that no plane
shows."""

from collections.abc import Mapping
from typing import Any

from gonn_core.config import TrialConfig
from gonn_core.effective.rule import Rule, unless

_BLIND_BEYOND = ("gonn", "encoder")
"""Families that look at nothing beyond the edge of the board."""


def _history(config: TrialConfig) -> Mapping[str, Any]:
    """1 for moves that no plane shows, and for those before one that is never kept; without a draw none is frozen."""
    features, keep = config.features, list(config.data.history_keep)
    shown = max(features.history, features.past_boards)
    if 0 in keep[:shown]:
        shown = keep.index(0) + 1
    kept = (*keep[:shown], *[1.0] * (len(keep) - shown))
    drawn = any(0 < share < 1 for share in kept)
    return {"data.history_keep": kept, "data.history_frozen": config.data.history_frozen and drawn}


def _hides_boards(config: TrialConfig) -> bool:
    return any(share < 1 for share in config.data.history_keep[: config.features.past_boards])


RULES = (
    Rule(("data.history_keep", "data.history_frozen"), "no plane shows those moves, or nothing is drawn", _history),
    unless(
        "features.edge",
        "the net looks at nothing beyond the edge",
        lambda config: config.features.edge != "as_opponent" or config.net.family not in _BLIND_BEYOND,
    ),
    unless("features.past_boards_dropped", "no past board is dropped in training", _hides_boards),
)

ALWAYS = (
    "features.set",
    "features.liberties",
    "features.liberties_after",
    "features.ko",
    "features.history",
    "features.ladders",
    "features.ones",
    "features.captures",
    "features.third_line",
    "features.zeros",
    "features.ko_flag",
    "features.past_boards",
    "features.normalisation",
    "data.view",
    "data.games.min_rank",
    "data.games.min_opponent_rank",
    "data.games.max_handicap",
    "data.games.drop_illegal",
    "data.games.drop_corrupt",
    "data.games.min_year",
    "data.games.ignore_amateurs",
    "data.sampling",
    "data.augmentation",
    "evaluation.symmetry_averaging",
    "evaluation.legal_only",
)
"""A plane more is a weight more, also one of zeros. Filters become views when a study meets its games: equal views are
found then."""
