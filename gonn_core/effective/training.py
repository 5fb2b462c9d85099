"""Settings of training that make no difference, the learning rate's schedule apart: losses never trained on, averages
that never begin."""

from collections.abc import Mapping
from typing import Any

from gonn_core.config import TrainingConfig, TrialConfig
from gonn_core.effective.rule import Rule, default, unless


def steps_of(training: TrainingConfig) -> int:
    """Steps of a run."""
    return training.samples // training.batch_size


_LOSS = ("training.loss", "training.loss_from", "training.loss_rate_factor")


def _loss(config: TrialConfig) -> Mapping[str, Any]:
    """The loss, and the first whole batch that it is trained on. Its rate factor is for all that is learnt."""
    training = config.training
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


RULES = (
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
        "training starts from given weights, and no dropout draws by it",
        lambda config: config.training.start_from is None or config.net.conv.dropout > 0,
    ),
)

ALWAYS = (
    "training.samples",
    "training.batch_size",
    "training.policy_weight",
    "training.mask_illegal",
    "training.auxiliary.ladders",
    "training.auxiliary.next_occupant",
    "training.auxiliary.removal_time",
    "training.auxiliary.opponent_reply",
    "training.auxiliary.joint_reply",
    "training.auxiliary.ownership",
    "training.auxiliary.value",
    "training.auxiliary.moves_left",
    "training.auxiliary.moves_left_class",
    "training.auxiliary.score",
    "training.batch_splits",
    "training.optimiser.kind",
    "training.optimiser.momentum",
    "training.optimiser.nesterov",
    "training.optimiser.weight_decay_rows",
    "training.optimiser.weight_decay",
    "training.optimiser.clip_norm",
    "training.precision",
    "training.start_from",
    "training.data_seed",
)
"""Splitting a batch changes the last bits of its sums, which is what its card is about. Whether gradients are ever long
enough to be clipped is not known before they are."""
