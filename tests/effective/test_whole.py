"""The effective form of a configuration: every setting is sorted, the form is one, and its trial is the same to the
bit."""

from functools import cache

import pytest

from ablations.registry import load_registry
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.effective.whole import RULES, effective, idle_differences
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.training.batches import PlaneMaker, extras_of, training_batches
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Trainer
from tests.training.options import CONV, CPU, ENCODER, RESIDUAL, THREE_PLANES
from tests.trial.helpers import starter_data, tiny_config

ENDS = {"training__samples": 64, "training__batch_size": 8, "training__schedule__kind": "constant"}
"""Eight steps."""
LADDERS_ALONE = {"training__policy_weight": 0.0, "training__auxiliary__ladders": 1.0}
WIDE = {"net__trunk__width": 16, "net__trunk__blocks": 2}
IDLE = {
    "slopes": ({}, {"net__prelu_init": 0.5}),
    "dilations of one block": ({}, {"net__trunk__dilations": [2, 3], "net__trunk__dilated_share": "1/2"}),
    "dilations of two": ({**WIDE, "net__trunk__dilations": [2, 3]}, {"net__trunk__dilations": [2]}),
    "dilated channels": ({**WIDE, "net__trunk__dilations": [2]}, {"net__trunk__dilated_share": "1/4"}),
    "pooled block": (
        {**WIDE, "net__trunk__global_pooling": True},
        {"net__trunk__dilations": [3], "net__trunk__global_share": "1/4"},
    ),
    "shares of no block": (
        WIDE,
        {f"net__trunk__{name}_share": "1/2" for name in ("dilated", "global", "ladder", "chain_pooling", "wide")}
        | {"net__trunk__chain_pooling_init": 1.0, "net__head__pooled_share": "1/2", "net__trunk__ladder_mean": "plain"},
    ),
    "channels of a head": ({**WIDE, "net__head__pooling": "mean_max"}, {"net__head__pooled_share": "1/12"}),
    "fan-in of the published parts": (
        {"net__head__pooling": "mean_max"},
        {"net__head__fan_in": "own", "net__stem__fan_in": "own"},
    ),
    "deleted channels of one block": ({}, {"net__trunk__deleted_channels": True}),
    "padding of points": (
        {**CONV, "net__conv__layers": [[3, 4], [1, 4]], "net__conv__head": "full"},
        {"net__conv__hidden_padding": "valid"},
    ),
    "one layer": ({**CONV, "net__conv__layers": [], "net__conv__head": "full"}, {"net__activation": "elu"}),
    "no smolgen": (
        ENCODER,
        {
            "net__encoder__smolgen_sizes": [1, 2, 3],
            "net__encoder__smolgen_activation": "relu",
            "net__encoder__smolgen_shared": False,
        },
    ),
    "policy as wide as the body": (ENCODER, {"net__encoder__policy_hidden": 16}),
    "no edge to look beyond": (
        {
            **ENCODER,
            "features__set": "clark",
            "features__liberties": 3,
            "features__liberties_after": 0,
            "features__ladders": False,
            "features__ones": False,
        },
        {"features__edge": "as_opponent"},
    ),
    "moves that no plane shows": ({"features__history": 2}, {"data__history_keep": [1.0, 1.0, 0.5, 0.5, 0.5]}),
    "moves before one never shown": (
        {"data__history_keep": [0.9, 0.0, 1.0, 1.0, 1.0]},
        {"data__history_keep": [0.9, 0.0, 0.5, 0.5, 1.0]},
    ),
    "nothing drawn": ({"data__history_keep": [1.0, 0.0, 1.0, 1.0, 1.0]}, {"data__history_frozen": True}),
    "no board dropped": ({"features__past_boards": 2}, {"features__past_boards_dropped": "copy"}),
    "loss from the same batch on": (
        {"training__loss": "squared_error", "training__loss_from": 24},
        {"training__loss_from": 17},
    ),
    "loss of a policy that is not learnt": (LADDERS_ALONE, {"training__loss": "squared_error"}),
    "weights of one plane": (RESIDUAL, {"training__plane_weights": "sum"}),
    "average after the end": ({}, {"training__averaging__every": 9}),
    "average of the end": ({}, {"training__averaging__every": 8, "training__averaging__window": 3}),
    "window that is never full": (
        {"training__averaging__every": 2, "training__averaging__window": 3},
        {"training__averaging__window": 200},
    ),
    "centre taps of no block": (CONV, {"training__optimiser__center_factor": 1.5}),
    "factor of another head": (RESIDUAL, {"training__optimiser__head_factor": 1.0}),
    "factor of a head that learns nothing": (LADDERS_ALONE, {"training__optimiser__head_factor": 1.0}),
    "stall after the end": ({}, {"training__schedule__kind": "stall_halving", "training__schedule__stall_window": 25}),
    "stall in the same step": (
        {"training__schedule__kind": "stall_halving", "training__schedule__stall_window": 16},
        {"training__schedule__stall_window": 9},
    ),
    "first drop after the end": ({}, {"training__schedule__kind": "gonn"}),
    "drop of the last five per cent of eight steps": ({}, {"training__schedule__final_drop": 0.1}),
    "warm-up of the first batch": ({"training__schedule__warmup": 8}, {"training__schedule__warmup": 3}),
    "fields of other kinds": ({}, {"training__schedule__half_life_share": 0.5, "training__schedule__compression": 3.0}),
}
"""Name -> what both have, and what the second has besides: settings that make no difference in eight steps."""

ACTIVE = {
    "dilations": (WIDE, {"net__trunk__dilations": [2]}),
    "dilated channels": ({**WIDE, "net__trunk__dilations": [2]}, {"net__trunk__dilated_share": "1/2"}),
    "fan-in": ({"features__ko": False}, {"net__stem__fan_in": "own"}),
    "moves": ({}, {"data__history_keep": [0.5, 1.0, 1.0, 1.0, 1.0]}),
    "frozen": ({"data__history_keep": [0.5, 1.0, 1.0, 1.0, 1.0]}, {"data__history_frozen": True}),
    "loss": ({}, {"training__loss": "squared_error", "training__loss_from": 56}),
    "plane weights": (THREE_PLANES, {"training__plane_weights": "sum"}),
    "average": ({}, {"training__averaging__every": 7}),
    "window": ({"training__averaging__every": 1}, {"training__averaging__window": 2}),
    "centre taps": (RESIDUAL, {"training__optimiser__center_factor": 1.5}),
    "head": ({}, {"training__optimiser__head_factor": 1.0}),
    "drop": ({}, {"training__schedule__kind": "gonn", "training__schedule__compression": 100_000.0}),
    "warm-up": ({}, {"training__schedule__warmup": 9}),
    "warm-up of the first batch of parts": (
        {"training__batch_ramp": 4, "training__schedule__warmup": 2},
        {"training__schedule__warmup": 8},
    ),
    "loss within a batch of parts": (
        {"training__batch_ramp": 4, "training__loss": "squared_error", "training__loss_from": 16},
        {"training__loss_from": 10},
    ),
    "rate of slow weights that are never returned to": ({}, {"training__lookahead__every": 9}),
    "share of the small net's first rate": (
        {"training__hardest": 0.5, "training__optimiser__learning_rate": 0.05},
        {
            "training__optimiser__learning_rate": 0.1,
            "training__schedule__kind": "steps",
            "training__schedule__steps": [[0.0, 0.5]],
        },
    ),
}
"""The like, where they make one."""


def pair(names):
    both, more = names
    return (tiny_config(**{**ENDS, **values}) for values in (both, {**both, **more}))


@cache
def trained(config) -> str:
    """Digest of what is evaluated after the run."""
    data = starter_data()
    view = data.views["train"]
    reset_torch(1)
    trainer = Trainer(config, len(view.rows), CPU, "channels_last")
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS["channels_last"], extras_of(config))
    steps = config.training.samples // config.training.batch_size
    for batch in training_batches(config, view, maker, 0, steps, 1):
        trainer.step(batch)
    state = trainer.evaluated_net.state_dict()
    return weights_digest({name: tensor.flatten() for name, tensor in state.items()})


def test_every_setting_is_sorted():
    """A new one goes into a rule, which says when it makes no difference, or into the list of those that always do."""
    ruled = [path for rule in RULES for path in rule.paths]
    assert len(set(ruled)) == len(ruled) and set(ruled) <= set(config_paths())


@pytest.mark.parametrize("name", IDLE)
def test_what_makes_no_difference(name):
    plain, other = pair(IDLE[name])
    assert plain != other and effective(plain) == effective(other)
    told = {path for paths in idle_differences(plain, other).values() for path in paths}
    assert told == {path for path in config_paths() if get_path(plain, path) != get_path(other, path)}
    assert trained(plain) == trained(other)


@pytest.mark.parametrize("name", ACTIVE)
def test_what_makes_one(name):
    plain, other = pair(ACTIVE[name])
    assert idle_differences(plain, other) is None
    assert trained(plain) != trained(other)


def test_what_depends_on_others_is_kept():
    """Squared error is idle where the policy learns nothing, but a rate factor from its beginning is for all."""
    config = tiny_config(
        **ENDS, **LADDERS_ALONE, training__loss="squared_error", training__loss_from=16, training__loss_rate_factor=2.0
    )
    assert effective(config).training.loss_rate_factor == 2.0


@pytest.mark.parametrize("base", load_registry().bases)
def test_the_form_is_one(base):
    registry = load_registry()
    for budget in (None, "smoke", "cpu", "gpu"):
        declared = registry.base(base)
        values = declared.overrides(registry.budget(budget)) if budget else {}
        values |= {"training.samples": registry.budget(budget).samples} if budget else {}
        config = with_values(declared.config, values)
        assert effective(effective(config)) == effective(config)
    assert effective(TrialConfig()) != effective(with_values(TrialConfig(), {"training.init_seed": 1}))
