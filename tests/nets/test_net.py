"""Whole nets: shapes, gradients, precisions, memory formats, checkpoints, and golden logits."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core import numerics
from gonn_core.nets import build_net
from tests.nets.examples import SPECIAL, TINY, built, changed, random_planes

VARIANTS = {
    "global": changed(TINY, trunk={"global_pooling": True}, head={"pooling": "mean_max_stdev"}),
    "special": SPECIAL,
    "split": changed(
        TINY,
        activation="relu",
        norm_gamma=False,
        trunk={"wide_blocks": "split", "blocks": 2},
        head={"activation": "relu"},
    ),
    "post": changed(TINY, trunk={"order": "post", "blocks": 2}, head={"pooling": "mean", "kernel": 3}),
    "plain": changed(
        TINY, stem={"width": 16, "center_kernel": False}, trunk={"order": "plain", "dilations": (), "blocks": 2}
    ),
    "no_norm": changed(TINY, norm="none", trunk={"blocks": 2, "dilations": (), "deleted_channels": True}),
    "first_ladders": changed(
        TINY,
        trunk={
            "blocks": 1,
            "dilations": (),
            "ladder_block": True,
            "ladder_mean": "plain",
            "ladder_weights": "biased",
            "wide_blocks": "down",
        },
        head={"pooling": "mean"},
    ),
}
GOLDEN_LOGITS = {1: [-0.13148, -0.14016, -0.50163, -0.93015, -0.63661, -0.13386, -0.18391, 0.36187, 6.13908]}


def test_planes_need_distinct_names():
    for names in ((), ("ko", "ko")):
        with pytest.raises(ValueError, match="distinct"):
            build_net(TINY, names, 0)


def test_training_mode_moves_only_the_running_statistics():
    net = built(TINY)
    before = {name: values.clone() for name, values in net.state_dict().items()}
    net(random_planes())
    changed_names = {name for name, values in net.state_dict().items() if not torch.equal(values, before[name])}
    assert changed_names == {name for name in before if name.endswith((".mean", ".variance"))}
    net.eval()
    first = net(random_planes(1))
    torch.testing.assert_close(
        net(random_planes(3))[:1], first, rtol=1e-4, atol=1e-4
    )  # a position's logits do not depend on its batch


def test_golden_logits():
    """A change here beyond rounding (5e-6 from those kept, with kernels for AVX-512 as for SSE alone) is a new
    `numerics.NETS`."""
    net = built(VARIANTS["global"], init_seed=7)
    with torch.no_grad():
        logits = net(random_planes(2))
    found = [
        *logits[0, :6].tolist(),
        logits.mean().item(),
        logits.std().item(),
        F.cross_entropy(logits, torch.tensor([3, 300])).item(),
    ]
    assert found == pytest.approx(GOLDEN_LOGITS[numerics.NETS], rel=2e-4, abs=2e-4)
