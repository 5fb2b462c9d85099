"""Settings of nets that make no difference: parts that are not there, channels that come out the same.

All others change weights or how many there are; another family's parts cannot be set.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

from gonn_core.config import FeatureConfig, TrainingConfig, TrialConfig, TrunkConfig, get_path
from gonn_core.settings.gonn_net import block_dilation, global_blocks, sub_width


@dataclass(frozen=True)
class Rule:
    """values: path -> the value that computes the same in this run, the default if that does; of `paths` alone."""

    paths: tuple[str, ...]
    idle: str
    """When they make no difference, in words."""
    values: Callable[[TrialConfig], Mapping[str, Any]]


@cache
def default(path: str) -> Any:
    """The value of a setting that is not set."""
    return get_path(TrialConfig(), path)


def unless(path: str, idle: str, used: Callable[[TrialConfig], bool]) -> Rule:
    """A rule that puts one setting to its default where it is not `used`."""
    return Rule((path,), idle, lambda config: {} if used(config) else {path: default(path)})


def steps_of(training: TrainingConfig) -> int:
    """Steps of a run."""
    return training.samples // training.batch_size


_SHARES = {
    "net.trunk.dilated_share": lambda net: _deletes(net.trunk) or bool(_dilations(net.trunk)),
    "net.trunk.global_share": lambda net: net.trunk.global_pooling,
    "net.trunk.ladder_share": lambda net: net.trunk.ladder_block,
    "net.trunk.chain_pooling_share": lambda net: net.trunk.chain_pooling > 0,
    "net.trunk.wide_share": lambda net: net.trunk.wide_blocks != "none",
    "net.trunk.squeeze_share": lambda net: net.trunk.squeeze != "none",
    "net.head.pooled_share": lambda net: net.head.pooling != "none",
    "net.head.share": lambda net: True,
}
"""Share of the trunk's width -> whether the net has such a branch."""


def _later_blocks(trunk: TrunkConfig) -> tuple[int, ...]:
    """The blocks after the first, without those that pool over the board."""
    pooled = global_blocks(trunk) if trunk.blocks > 1 else ()
    return tuple(block for block in range(2, trunk.blocks + 1) if block not in pooled)


def _dilations(trunk: TrunkConfig) -> tuple[int, ...]:
    """Of blocks 2, 3, …; 1 where a block cannot have one. Empty where all are 1."""
    later = _later_blocks(trunk)
    made = tuple(block_dilation(trunk, block) if block in later else 1 for block in range(2, trunk.blocks + 1))
    return made if max(made, default=1) > 1 else ()


def _deletes(trunk: TrunkConfig) -> bool:
    return trunk.deleted_channels and bool(_later_blocks(trunk))


def _counted_shares(config: TrialConfig) -> Mapping[str, str]:
    """The default where it gives as many channels, else the channels themselves."""
    values, width = {}, config.net.trunk.width
    for path, used in _SHARES.items():
        if path == "net.trunk.dilated_share" and config.net.trunk.block == "nested":
            continue  # a share of half the width
        channels = sub_width(width, get_path(config, path))
        same = not used(config.net) or channels == sub_width(width, default(path))
        values[path] = default(path) if same else str(Fraction(channels, width))
    return values


def _planes(features: FeatureConfig) -> dict[str, Any]:
    """The fields that choose planes."""
    return features.model_dump(exclude={"past_boards_dropped", "normalisation"})


RULES = (
    unless("net.prelu_init", "there are no slopes", lambda config: config.net.activation == "prelu"),
    unless(
        "net.activation",
        "the net is one layer",
        lambda config: config.net.family != "conv" or bool(config.net.conv.layers or config.net.conv.head_hidden),
    ),
    unless("net.stem.width", "it is the trunk's", lambda config: config.net.stem.width != config.net.trunk.width),
    unless(
        "net.stem.fan_in",
        "there are as many planes",
        lambda config: _planes(config.features) != _planes(FeatureConfig()),
    ),
    unless(
        "net.head.fan_in",
        "the head has as many inputs",
        lambda config: config.net.head.pooling not in ("none", "mean_max") or config.net.head.activation != "crelu",
    ),
    unless("net.trunk.deleted_channels", "no block could have lost them", lambda config: _deletes(config.net.trunk)),
    unless("net.trunk.zero_last", "Fixup starts them at 0", lambda config: config.net.norm != "fixup"),
    *(
        unless(f"net.trunk.ladder_{part}", "there is no ladder block", lambda config: config.net.trunk.ladder_block)
        for part in ("mean", "weights")
    ),
    Rule(
        ("net.trunk.dilations",),
        "the blocks that could have them come out the same",
        lambda config: {"net.trunk.dilations": _dilations(config.net.trunk)},
    ),
    Rule(tuple(_SHARES), "there is no such branch, or it has as many channels", _counted_shares),
    unless(
        "net.trunk.chain_pooling_init", "there is no chain pooling", lambda config: config.net.trunk.chain_pooling > 0
    ),
    unless(
        "net.conv.hidden_padding",
        "all kernels after the first are of one point",
        lambda config: any(kernel > 1 for kernel, _ in config.net.conv.layers[1:]),
    ),
    *(
        unless(
            f"net.encoder.smolgen_{part}", "there is no smolgen", lambda config: config.net.encoder.smolgen != "none"
        )
        for part in ("sizes", "activation", "shared")
    ),
    unless(
        "net.encoder.policy_hidden",
        "it is the width, which 0 means",
        lambda config: config.net.encoder.policy_hidden != config.net.encoder.width,
    ),
)
