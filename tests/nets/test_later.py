"""Later kinds of blocks and activations by explicit arithmetic; what starts as nothing; positions that turn."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, OptimiserConfig
from gonn_core.nets.cost import gradient_factors, multiply_adds
from gonn_core.nets.encoder.attention import rotated, rotations
from gonn_core.nets.gonn.blocks import make_block
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.norm import BatchNorm
from gonn_core.settings.net import EncoderConfig
from tests.nets.examples import B5, TINY, built, changed, normalised, random_planes, trunk_values

WIDE = changed(B5, trunk={"width": 16, "blocks": 3}, activation="relu")
KINDS = {name: changed(WIDE, trunk={"block": name}) for name in ("basic", "inverted", "nested")}


def block_of(net, number=2):
    """The second block is dilated."""
    return make_block(Draws(0), f"blocks.{number}", net, number)


def act(x):
    return F.relu(normalised(x))


def test_an_inverted_block():
    block, x = block_of(KINDS["inverted"]), trunk_values(width=16)
    y = act(F.conv2d(act(x), block.conv1))
    far = 64 - 4 * 4  # a third of 16 channels is 4
    planes = [
        F.conv2d(y[:, c : c + 1], block.depthwise[c : c + 1], padding=d, dilation=d)
        for c in range(64)
        for d in ((2,) if c >= far else (1,))
    ]
    expected = x + F.conv2d(act(torch.cat(planes, 1)), block.conv2)
    torch.testing.assert_close(block(x), expected, rtol=1e-4, atol=1e-4)


def test_a_nested_block():
    block, x = block_of(KINDS["nested"], 1), trunk_values(width=16)
    y = F.conv2d(act(x), block.conv1)
    for inner in block.inner:
        y = y + F.conv2d(act(F.conv2d(act(y), inner.conv1, padding=1)), inner.conv2, padding=1)
    expected = x + F.conv2d(act(y), block.conv2)
    torch.testing.assert_close(block(x), expected, rtol=1e-4, atol=1e-4)
    assert block_of(KINDS["nested"]).inner[0].parts == ((4, 1), (4, 2))


@pytest.mark.parametrize("kind", ["scale", "scale_shift"])
def test_squeeze_and_excitation(kind):
    plain, net = block_of(WIDE), block_of(changed(WIDE, trunk={"squeeze": kind}))
    x = trunk_values(width=16)
    y, part = plain(x) - x, net.squeeze
    hidden = F.relu(y.mean((2, 3)) @ part.reduce.kernel.T)
    scaled = y * torch.sigmoid(hidden @ part.factor.kernel.T)[:, :, None, None]
    expected = scaled if kind == "scale" else scaled + (hidden @ part.shift.kernel.T)[:, :, None, None]
    torch.testing.assert_close(net(x), x + expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_whose_last_kernel_is_zero_are_the_identity(kind):
    x = trunk_values(width=16)
    for change in ({"trunk": {"block": kind, "zero_last": True}}, {"trunk": {"block": kind}, "norm": "fixup"}):
        assert torch.equal(block_of(changed(WIDE, **change))(x), x)


def test_fixup_has_no_norms_and_smaller_first_kernels():
    batch, fixup = built(TINY), built(changed(TINY, norm="fixup"))
    assert not any(isinstance(part, BatchNorm) for part in fixup.modules())
    for name, values in batch.named_parameters():
        factor = {"conv1": 5**-0.5, "conv2": 0.0}.get(name.rpartition(".")[2], 1.0) if "blocks." in name else 1.0
        torch.testing.assert_close(fixup.get_parameter(name), factor * values, msg=name)


def test_mish():
    net, x = block_of(changed(WIDE, activation="mish"), 1), trunk_values(width=16)

    def mish(values):
        z = normalised(values)
        return z * torch.tanh(F.softplus(z))

    expected = x + F.conv2d(mish(F.conv2d(mish(x), net.conv1, padding=1)), net.conv2, padding=1)
    torch.testing.assert_close(net(x), expected, rtol=1e-4, atol=1e-4)


def test_operations_of_later_blocks():
    """Two 3x3 kernels; 1x1 to 64 channels, nine taps each, back; 1x1 to 8, four 3x3, back."""
    costs = {name: multiply_adds(net, 26) for name, net in KINDS.items()}
    per_block = {"basic": 2 * 9 * 16 * 16, "inverted": 2 * 16 * 64 + 9 * 64, "nested": 2 * 16 * 8 + 4 * 9 * 8 * 8}
    for name in ("inverted", "nested"):
        assert costs[name] - costs["basic"] == 3 * 361 * (per_block[name] - per_block["basic"])


def test_logits_of_turned_queries_and_keys_depend_on_the_offset_alone():
    angles, (query, key) = rotations(8), torch.randn(2, 8, generator=torch.Generator().manual_seed(0))
    logits = rotated(query.expand(361, 8), angles) @ rotated(key.expand(361, 8), angles).T
    grid = logits.view(19, 19, 19, 19)
    for down, right in ((0, 1), (3, -2), (-7, 5)):
        rows, columns = range(7, 12), range(6, 13)
        same = torch.stack([grid[r, c, r + down, c + right] for r in rows for c in columns])
        assert (same - same[0]).abs().max() < 1e-4
    assert logits.std() > 0.1 and torch.allclose(logits.diagonal(), query @ key)


def test_transformer_layers_with_norms_before():
    sizes = {"layers": 1, "heads": 2, "width": 8, "ffn": 12, "ffn_activation": "swiglu", "stem_kernel": 3}
    net = built(NetConfig(family="encoder", encoder=EncoderConfig(**sizes, order="pre", rotary=True))).eval()
    planes, layer = random_planes(2), net.layers["1"]
    x = net.embedding(F.conv2d(planes, net.stem.kernel, padding=1).flatten(2).mT)
    h = x + layer.attention(layer.norm1(x), None)
    y = layer.norm2(h)
    h = h + layer.contract(F.silu(layer.gate(y)) * layer.expand(y))
    torch.testing.assert_close(net(planes), net.head(net.end(h)), rtol=1e-4, atol=1e-5)


def test_a_rate_of_shifts_is_of_norms_alone():
    """Learned positions and tables of attention are called beta too, and are no norm's."""
    encoder = EncoderConfig(layers=1, heads=2, width=8, ffn=12, additive_gate="relative")
    net = built(NetConfig(family="encoder", encoder=encoder))
    factors = gradient_factors(net, OptimiserConfig(shift_factor=4.0))
    assert factors == {"layers.1.norm1.beta": 4.0, "layers.1.norm2.beta": 4.0}
    plain = gradient_factors(built(NetConfig()), OptimiserConfig(shift_factor=4.0, head_factor=1.0))
    assert "blocks.1.norm1.beta" in plain and "head.norm.beta" not in plain, "the head's is for head_factor"
