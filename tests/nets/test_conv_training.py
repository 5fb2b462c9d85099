"""Every option of the plain convolutional nets in training: learns by heart, computes in bfloat16."""

import copy

import pytest
import torch

from gonn_core.config import TrialConfig, parse_config
from gonn_core.nets.conv.net import Dropout
from gonn_core.training.batches import Batch
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import Trainer
from tests.nets.examples import random_planes

LAYERS = [[5, 8], [3, 8], [3, 6]]
VARIANTS = {
    "go_nn": {"activation": "elu", "position_bias": "all"},
    "last_bias": {"position_bias": "last", "head_hidden": [5]},
    "free": {"head": "full"},
    "tied": {"head": "full", "tied": True},
    "tied_convolutions": {"tied": True, "position_bias": "all", "init": "fan_in"},
    "second_full_layer": {"head": "full", "tied": True, "head_hidden": [361]},
    "perceptron": {"layers": [], "head": "full", "head_hidden": [40], "edge": "none"},
    "valid_tanh": {"head": "full", "hidden_padding": "valid", "activation": "tanh"},
    "dropout": {"head": "full", "dropout": 0.2},
    "residual": {"layers": [[5, 8], [3, 8], [3, 8]], "residual": True, "activation": "elu", "dropout": 0.1},
    "as_opponent": {"head": "full", "edge": "as_opponent"},
}


def config(variant: str, **training) -> TrialConfig:
    settings = {"layers": LAYERS, **VARIANTS[variant]}
    activation, edge = settings.pop("activation", "relu"), settings.pop("edge", "channel")
    optimiser = {"learning_rate": 0.02, "momentum": 0.9, "nesterov": False, "weight_decay_rows": 0.0, "clip_norm": 1.0}
    return parse_config(
        {
            "features": {
                "set": "clark",
                "liberties": 3,
                "liberties_after": 0,
                "history": 0,
                "ladders": False,
                "ones": False,
                "edge": edge,
            },
            "net": {"family": "conv", "activation": activation, "conv": settings},
            "training": {
                "batch_size": 8,
                "samples": 800,
                "optimiser": optimiser,
                "schedule": {"kind": "constant"},
                **training,
            },
        }
    )


def trainer(chosen: TrialConfig, memory_format: str = "channels_last") -> Trainer:
    reset_torch(1)
    return Trainer(chosen, 1000, torch.device("cpu"), memory_format)


def batch(chosen: TrialConfig, seed: int = 0) -> Batch:
    planes = random_planes(8, 8 if chosen.features.edge == "channel" else 7, seed)
    if chosen.features.edge == "channel":
        planes[:, 7] = 0
    return Batch(planes, torch.arange(8) * 45)


@pytest.mark.parametrize("variant", VARIANTS)
def test_learns_a_batch_by_heart(variant):
    chosen = config(variant)
    made, same = trainer(chosen), batch(chosen)
    losses = [made.step(same).item() for _ in range(60)]
    assert losses[0] > 4 and min(losses[-5:]) < 0.6 * losses[0], losses[::10]


@pytest.mark.parametrize("variant", VARIANTS)
def test_bfloat16_is_finite_and_close(variant):
    full, short = config(variant), config(variant, precision="bf16")
    losses = [[made.step(batch(full, step)).item() for step in range(3)] for made in (trainer(full), trainer(short))]
    assert torch.isfinite(torch.tensor(losses)).all()
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


@pytest.mark.parametrize("variant", VARIANTS)
def test_channels_last_equals_contiguous(variant):
    chosen = config(variant)
    last, contiguous = trainer(chosen), trainer(chosen, "contiguous")
    for made in (last, contiguous):
        made.net.eval()  # masks of dropout are laid out with the numbers that they meet
    planes = batch(chosen).planes
    with torch.no_grad():
        logits = last.net(planes.contiguous(memory_format=torch.channels_last)), contiguous.net(planes)
    torch.testing.assert_close(*logits, rtol=1e-4, atol=1e-4)
    assert logits[0].dtype == torch.float32 and logits[0].shape == (8, 361)


# Dropout


def test_masks_depend_on_seed_pass_and_layer_alone():
    ones = torch.ones(50, 40)

    def mask(seed=0, layer="stem", passes=0):
        dropout = Dropout(0.25, seed).train()
        for _ in range(passes + 1):
            dropout.begin()
        return dropout(ones, layer)

    usual = mask()
    torch.manual_seed(5)
    assert torch.equal(mask(), usual)
    assert usual.unique().tolist() == pytest.approx([0, 4 / 3])
    assert (usual == 0).float().mean() == pytest.approx(0.25, abs=0.03)
    for other in (mask(seed=1), mask(layer="layers.2"), mask(passes=1)):
        assert not torch.equal(other, usual)


def test_passes_are_counted_without_reading_the_device_and_go_on_after_loading():
    ones, first, second = torch.ones(50, 40), Dropout(0.25, 0).train(), Dropout(0.25, 0).train()
    for _ in range(3):
        first.begin()
    second.load_state_dict(first.state_dict())
    for dropout in (first, second, copy.deepcopy(first), copy.deepcopy(second)):
        dropout.begin()
        assert dropout.passes == 4 and torch.equal(dropout(ones, "stem"), first(ones, "stem"))
    unread = Dropout(0.25, 0).to("meta").train()
    unread.begin()  # a device whose numbers cannot be read
    assert unread(ones, "stem").shape == ones.shape


def test_no_dropout_and_no_count_in_inference():
    made = trainer(config("dropout"))
    planes = batch(made.config).planes
    made.net.eval()
    assert torch.equal(made.net(planes), made.net(planes)) and made.net.dropout.passes == 0
    made.net.train()
    assert not torch.equal(made.net(planes), made.net(planes)) and made.net.dropout.passes == 2
