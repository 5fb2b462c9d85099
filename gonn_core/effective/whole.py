"""`effective`: a configuration with every setting at its default that makes no difference in its run.

Trials of `config` and of `effective(config)` end with the same weights, to the bit, and read their policy in the same
way; two configurations with one effective form compute the same. Configurations that compute the same although theirs
differ are not ruled out: what depends on the games, on gradients or on rounding is not looked at. A plane more is a
weight more, also one of zeros. Filters become views when a study meets its games: equal views are found then. Splitting
a batch changes the last bits of its sums, which is what its card is about.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.effective import nets, schedule
from gonn_core.effective.nets import Rule, default, steps_of, unless

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


_DATA_RULES = (
    Rule(("data.history_keep", "data.history_frozen"), "no plane shows those moves, or nothing is drawn", _history),
    unless(
        "features.edge",
        "the net looks at nothing beyond the edge",
        lambda config: config.features.edge != "as_opponent" or config.net.family not in _BLIND_BEYOND,
    ),
    unless(
        "features.past_boards_dropped",
        "no past board is dropped in training",
        lambda config: min(config.data.history_keep[: config.features.past_boards], default=1.0) < 1,
    ),
)

_LOSS = ("training.loss", "training.loss_from", "training.loss_rate_factor")


def _loss(config: TrialConfig) -> Mapping[str, Any]:
    """The loss, and the first whole batch that it is trained on. Its rate factor is for all that is learnt."""
    training = config.training
    if training.batch_ramp > 1:  # it may begin within a batch
        return {}
    begins = -(-training.loss_from // training.batch_size) * training.batch_size
    unlearnt = training.policy_weight == 0 and training.loss_rate_factor == 1
    if unlearnt or begins >= training.samples:
        return {path: default(path) for path in _LOSS}
    return {"training.loss_from": begins}


def _averaging(config: TrialConfig) -> Mapping[str, Any]:
    """An average of the last weights alone is those; one of few is the same under every window that holds them."""
    averaging, steps = config.training.averaging, steps_of(config.training)
    paths = ("training.averaging.every", "training.averaging.window")
    if not averaging.every or averaging.every >= steps:
        return {path: default(path) for path in paths}
    before_last = steps // averaging.every - 1
    return {paths[1]: max(default(paths[1]), before_last)} if averaging.window >= before_last else {}


_TRAINING_RULES = (
    Rule(_LOSS, "the policy is not trained on, or not before the last sample", _loss),
    unless(
        "training.plane_weights",
        "there is one output plane, or the policy is not trained on",
        lambda config: config.net.residual.output_planes > 1 and config.training.policy_weight > 0,
    ),
    Rule(
        ("training.averaging.every", "training.averaging.window"),
        "the average never begins, or its window is never full",
        _averaging,
    ),
    unless(
        "training.label_smoothing", "the policy is not trained on", lambda config: config.training.policy_weight > 0
    ),
    unless("training.lookahead.share", "there are no slow weights", lambda config: config.training.lookahead.every > 0),
    unless("training.optimiser.shift_factor", "the family has no norms", lambda config: config.net.family != "conv"),
    unless(
        "training.optimiser.center_factor",
        "the family has no blocks of 3x3 kernels",
        lambda config: config.net.family in ("gonn", "residual"),
    ),
    unless(
        "training.optimiser.head_factor",
        "the family has no such head, or it learns nothing",
        lambda config: config.net.family == "gonn" and config.training.policy_weight > 0,
    ),
    unless(
        "training.init_seed",
        "training starts from given weights, and neither dropout nor a small net draws by it",
        lambda config: config.training.start_from is None or config.net.conv.dropout > 0 or config.training.hardest < 1,
    ),
)

RULES: tuple[Rule, ...] = (*nets.RULES, *_DATA_RULES, *_TRAINING_RULES, *schedule.RULES)
"""Applied in this order: what a rule reads of other rules' settings comes before it, or does not depend on them."""


@lru_cache(4096)
def effective(config: TrialConfig) -> TrialConfig:
    """`config` in the form that all configurations have that compute what it computes, as far as the rules know."""
    for rule in RULES:
        values = {path: value for path, value in rule.values(config).items() if get_path(config, path) != value}
        if values:
            config = with_values(config, values)
    return config


def idle_differences(one: TrialConfig, other: TrialConfig) -> dict[str, tuple[str, ...]] | None:
    """Of two configurations that compute the same: in which settings they differ, by the reason why these make no
    difference. None where they do not compute the same."""
    if effective(one) != effective(other):
        return None
    apart = [path for path in config_paths() if get_path(one, path) != get_path(other, path)]
    reasons: dict[str, tuple[str, ...]] = {}
    for path in apart:
        reason = next(rule.idle for rule in RULES if path in rule.paths)
        reasons[reason] = (*reasons.get(reason, ()), path)
    return reasons
