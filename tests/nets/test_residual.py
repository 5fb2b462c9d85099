"""Cazenave's residual nets: orders of operations, exact counts, names."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.features.sets import plane_names
from gonn_core.nets import build_net, decayed, gradient_factors, residual
from gonn_core.nets.parts.norm import EPSILON
from gonn_core.settings.net import ResidualConfig
from gonn_core.settings.training import OptimiserConfig
from tests.features.configs import CAZENAVE
from tests.nets.examples import random_planes

NAMES = plane_names(CAZENAVE)
CHANNELS = len(NAMES)
KINDS = list(residual.ORDERS)


def residual_net(**settings) -> NetConfig:
    return NetConfig(family="residual", residual=ResidualConfig(**{"width": 6, "blocks": 3, **settings}))


def built(names=NAMES, seed=0, **settings):
    return build_net(residual_net(**settings), names, seed)


def shaken(net):
    """The net with all parameters moved from their special values (zeros, ones)."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for values in net.parameters():
            values += 0.3 * torch.randn(values.shape, generator=generator)
    return net


# The slow reference: the orders of operations spelled out step by step in float64


def conv(weights, name, x):
    y = F.conv2d(F.pad(x, (1, 1, 1, 1)), weights[f"{name}.kernel"])
    return y + weights[f"{name}.bias"][:, None, None] if f"{name}.bias" in weights else y


def sbn(weights, name, x):
    """Per channel over batch and board, with the variance that divides by the count."""
    mean = x.mean((0, 2, 3), keepdim=True)
    variance = ((x - mean) ** 2).mean((0, 2, 3), keepdim=True)
    scale, shift = (weights[f"{name}.{part}"][:, None, None] for part in ("gamma", "beta"))
    return (x - mean) / (variance + EPSILON).sqrt() * scale + shift


def relu(x):
    return x.clamp(min=0)


ORDERS = {
    "plain": ("conv1", "relu", "conv2", "relu"),
    "darkforest": ("conv1", "relu", "norm1", "conv2", "relu", "norm2"),
    "residual": ("conv1", "relu", "conv2", "add", "relu"),
    "original": ("conv1", "norm1", "relu", "conv2", "norm2", "add", "relu"),
    "identity": ("norm1", "relu", "conv1", "norm2", "relu", "conv2", "add"),
    "golois": ("conv1", "relu", "conv2", "add", "relu", "norm"),
}


def slow_logits(net, kind, x, blocks=3):
    weights = {name: values.detach().double() for name, values in net.named_parameters()}
    x = x.double()
    y = F.conv2d(F.pad(x, (2, 2, 2, 2)), weights["stem.kernel"])
    if "stem.pointwise" in weights:
        y = y + F.conv2d(x, weights["stem.pointwise"])
    y = relu(y + weights["stem.bias"][:, None, None])
    for block in range(1, blocks + 1):
        before = y
        for step in ORDERS[kind]:
            if step == "relu":
                y = relu(y)
            elif step == "add":
                y = y + before
            else:
                y = (conv if step.startswith("conv") else sbn)(weights, f"blocks.{block}.{step}", y)
    if kind == "identity":
        y = relu(sbn(weights, "tower_end.norm", y))
    return conv(weights, "output", y).flatten(2)


@pytest.mark.parametrize("pointwise", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_orders_of_operations(kind, pointwise):
    net, x = shaken(built(block=kind, stem_pointwise=pointwise, output_planes=3)), random_planes(3, CHANNELS)
    with torch.no_grad():
        logits = net.policies(net.body(x))
    expected = slow_logits(net, kind, x)
    assert logits.shape == (3, 3, 361) and logits.dtype == torch.float32
    torch.testing.assert_close(logits.double(), expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


# Names and starts

_NORMS = {
    "darkforest": ("norm1", "norm2"),
    "original": ("norm1", "norm2"),
    "identity": ("norm1", "norm2"),
    "golois": ("norm",),
}


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_final(kind):
    """Checkpoints and initial weights are keyed by them."""
    norms = [f"{norm}.{part}" for norm in _NORMS.get(kind, ()) for part in ("gamma", "beta")]
    biases = [] if kind in ("original", "identity") else ["conv1.bias", "conv2.bias"]
    parts = ["conv1.kernel", "conv2.kernel", *norms, *biases]
    expected = {
        "stem.kernel",
        "stem.pointwise",
        "stem.bias",
        "output.kernel",
        *(f"blocks.{b}.{part}" for b in (1, 2, 3) for part in parts),
    }
    expected |= {"tower_end.norm.gamma", "tower_end.norm.beta"} if kind == "identity" else set()
    net = built(block=kind)
    assert {name for name, _ in net.named_parameters()} == expected
    assert set(decayed(net)) == {name for name in expected if name.endswith(("kernel", "pointwise"))}
    assert not gradient_factors(net, OptimiserConfig(head_factor=0.5))


def test_edge_planes_need_another_family():
    with pytest.raises(SettingError, match="features.edge=.*valid: none"):
        build_net(residual_net(), NAMES, 0, np.eye(len(NAMES), dtype=np.float32)[0])
