"""Names of parameters, learning-rate factors, weight decay."""

import pytest
import torch

from gonn_core.config import OptimiserConfig
from gonn_core.nets import decayed, gradient_factors
from tests.nets.examples import TINY, built, changed

BLOCK = ["slopes1", "conv1", "slopes2", "conv2", "norm1.gamma", "norm1.beta", "norm2.gamma", "norm2.beta"]
NAMES = [
    *("stem.kernel", "stem.center"),
    *(f"blocks.{b}.{name}" for b in (1, 2, 3, 4, 5) for name in BLOCK),
    *("trunk_end.slopes", "trunk_end.norm.gamma", "trunk_end.norm.beta"),
    *("head.conv", "head.pooled_conv", "head.out"),
    *("head.pooled.slopes", "head.pooled.matrix", "head.pooled.norm.gamma", "head.pooled.norm.beta"),
    *("head.norm.gamma", "head.norm.beta"),
]


def test_names_are_final():
    """Checkpoints and initial weights are keyed by them."""
    assert [name for name, _ in built(TINY).named_parameters()] == NAMES


WIDE = ["slopes", "first", "second", "norm.gamma", "norm.beta"]
LADDER = [
    *("slopes1", "values_conv", "slopes2", "exponents_conv", "mix", "norm1.gamma", "norm1.beta"),
    *("norm2.gamma", "norm2.beta", "exponents_norm.gamma", "exponents_norm.beta"),
]


def branch(orientation):
    return [f"branches.{orientation}.{name}" for name in ("slopes", "norm.gamma", "norm.beta")]


@pytest.mark.parametrize(
    "trunk, blocks",
    [
        ({"ladder_block": True}, {"ladder_block": LADDER}),
        ({"chain_pooling": 1}, {"chain_pooling_1": BLOCK}),
        ({"chain_pooling": 2}, {"chain_pooling_1": BLOCK, "chain_pooling_2": BLOCK}),
        ({"wide_blocks": "shared"}, {"wide": WIDE + branch("down") + branch("across")}),
        ({"wide_blocks": "split"}, {"wide_down": WIDE + branch("down"), "wide_across": WIDE + branch("across")}),
    ],
)
def test_inserted_blocks_have_names_of_their_own(trunk, blocks):
    names = [name for name, _ in built(changed(TINY, trunk=trunk)).named_parameters()]
    inserted = [f"inserted.{block}.{name}" for block, parts in blocks.items() for name in parts]
    assert [name for name in names if name not in NAMES] == inserted
    assert [name for name in names if name in NAMES] == NAMES


def test_published_factors():
    factors = gradient_factors(built(TINY), OptimiserConfig(center_factor=1.5, head_factor=0.25))
    kernels = [f"blocks.{b}.{name}" for b in (1, 2, 3, 4, 5) for name in ("conv1", "conv2")]
    assert sorted(factors) == sorted(kernels + ["head.norm.gamma", "head.norm.beta", "head.out"])
    assert {factors[name] for name in factors if name.startswith("head.")} == {0.25}
    for name in kernels:
        assert factors[name].dtype == torch.float32
        assert factors[name].reshape(3, 3).tolist() == [[1, 1, 1], [1, 1.5, 1], [1, 1, 1]]


def test_weight_decay_spares_the_norms():
    assert decayed(built(TINY)) == [name for name in NAMES if not name.endswith(("gamma", "beta"))]
    assert "stem.center" in NAMES and "blocks.1.slopes1" in NAMES and "head.pooled.matrix" in NAMES
