"""The encoder family: published sizes, what starts as nothing, definitions against slow references (spec: other systems
3.2-3.5)."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig
from gonn_core.errors import SettingError
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import BLACK, EMPTY, SIZE, WHITE
from gonn_core.nets.cost import multiply_adds, trainable_parameters
from gonn_core.nets.encoder.attention import offsets_at_pairs
from gonn_core.nets.encoder.net import arc_codes
from gonn_core.nets.init import ShapesOnly
from gonn_core.nets.registry import build_net
from gonn_core.settings.net import EncoderConfig
from tests.boards import parse_board
from tests.nets.examples import built, random_planes, weights

TINY = {"layers": 2, "heads": 2, "width": 8, "ffn": 12, "smolgen_sizes": (2, 6, 3)}
ENHANCEMENTS = {
    "input_gate": {"input_gate": True},
    "arc_code": {"arc_code": True},
    "smolgen": {"smolgen": "full"},
    "smolgen_relative": {"smolgen": "relative", "smolgen_activation": "relu"},
    "smolgen_unshared": {"smolgen": "full", "smolgen_shared": False},
    "square_relu": {"ffn_activation": "square_relu"},
    "depthwise": {"depthwise": 9},
    "additive_gate": {"additive_gate": "relative"},
    "additive_gate_absolute": {"additive_gate": "absolute"},
    "multiplicative_gate": {"additive_gate": "relative", "multiplicative_gate": True},
    "everything": {
        "input_gate": True,
        "arc_code": True,
        "smolgen": "full",
        "depthwise": 5,
        "additive_gate": "absolute",
        "multiplicative_gate": True,
    },
}
NO_OPS = ["input_gate", "additive_gate", "additive_gate_absolute", "multiplicative_gate"]


def encoder(**values) -> NetConfig:
    return NetConfig(family="encoder", encoder=EncoderConfig(**{**TINY, **values}))


def skeleton(**values):
    """A net of the published sizes, without its weights."""
    return build_net(NetConfig(family="encoder", encoder=EncoderConfig(**values)), PLANE_NAMES, ShapesOnly())


S = {"layers": 6, "heads": 6, "width": 192, "ffn": 256}
M = {**S, "layers": 10}
R = {"layers": 10, "heads": 8, "width": 384, "ffn": 512}


def added(sizes, **values):
    return trainable_parameters(skeleton(**{**sizes, **values})) - trainable_parameters(skeleton(**sizes))


def test_parameters_of_enhancements():
    assert added(S, input_gate=True) == 361 * 192  # its addition is always there
    assert added(S, smolgen="full", smolgen_sizes=(8, 64, 16)) == pytest.approx(3.24e6, rel=0.001)
    sizes = {**S, "layers": 2, "smolgen": "full", "smolgen_sizes": (8, 64, 16)}
    assert added(sizes, smolgen_shared=False) == 16 * 361**2
    relative = added({**S, "layers": 10}, smolgen="relative", smolgen_sizes=(32, 32, 48))
    assert relative == 10 * (192 * 32 + 32 * 33 + 2 * 32 + 33 * 288 + 2 * 288) + 22_704
    assert added({**R, "layers": 1}, depthwise=9) == 147_840 + 768 + 31_104
    assert added({**R, "layers": 1}, additive_gate="absolute") == 8 * 361**2
    assert added(S, additive_gate="relative", multiplicative_gate=True) == 2 * 6 * 6 * 37**2
    assert added(S, arc_code=True) == 361 * 192
    assert added(S, ffn_activation="square_relu") == added(S, heads=12) == 0


@pytest.mark.parametrize("sizes, gigaflops", [(S, 1.67), (M, 2.78), (R, 9.10)], ids=["S", "M", "R"])
def test_operations_of_the_layers(sizes, gigaflops):
    net = NetConfig(family="encoder", encoder=EncoderConfig(**sizes))
    outside = 361 * sizes["width"] * (26 + sizes["width"] + 1)
    assert 2 * (multiply_adds(net, 26) - outside) == pytest.approx(gigaflops * 1e9, rel=0.003)


def test_operations_of_enhancements():
    plain = multiply_adds(encoder(), 26)
    counts = {name: multiply_adds(encoder(**values), 26) - plain for name, values in ENHANCEMENTS.items()}
    code = 361 * 8 * 2 + 6 * 2 * 3  # compressing the points; codes of two heads
    assert counts["smolgen"] == 2 * (code + 361 * 2 * 6 + 2 * 3 * 361**2)
    assert counts["smolgen_relative"] == 2 * (code + 2 * 6 + 2 * 3 * 37**2)
    assert counts["smolgen_unshared"] == counts["smolgen"]
    assert counts["depthwise"] == 2 * 361 * 8 * (8 + 81)
    for name in ("input_gate", "arc_code", "square_relu", "additive_gate", "multiplicative_gate"):
        assert counts[name] == 0


@pytest.mark.parametrize("name", NO_OPS)
def test_starts_as_nothing(name):
    planes = random_planes(3)
    assert torch.equal(built(encoder(**ENHANCEMENTS[name]))(planes), built(encoder())(planes))


@torch.no_grad()
def test_bfloat16_is_close():
    net, planes = built(encoder(**ENHANCEMENTS["everything"])), random_planes(2)
    exact = net(planes)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = net(planes)
    assert rounded.dtype == torch.float32 and (rounded - exact).std() < 0.05 * exact.std()


def test_initial_sizes():
    """Glorot for queries and keys, DeepNorm's beta as a factor of the variance for the rest (spec: other systems
    3.2)."""
    start = weights(NetConfig(family="encoder", encoder=EncoderConfig(layers=2, heads=4, width=96, ffn=160)))
    beta = 16**-0.25
    for name, variance in {"query": 1 / 96, "key": 1 / 96, "value": beta / 96, "out": beta / 96}.items():
        assert start[f"layers.1.attention.{name}.kernel"].var().item() == pytest.approx(variance, rel=0.05)
    assert start["layers.2.expand.kernel"].var().item() == pytest.approx(2 * beta / 256, rel=0.05)


def slow_layer(layer, x, bias=0.0):
    """A layer by its definition, in float64, head by head."""
    attention = layer.attention
    query, key, value = (
        F.linear(x, dense.kernel.double(), dense.bias.double())
        for dense in (attention.query, attention.key, attention.value)
    )
    size = x.shape[-1] // attention.heads
    outputs = []
    for head in range(attention.heads):
        part = slice(head * size, (head + 1) * size)
        logits = query[..., part] @ key[..., part].mT / size**0.5 + (bias[:, head] if torch.is_tensor(bias) else bias)
        outputs.append(logits.softmax(-1) @ value[..., part])
    y = F.linear(torch.cat(outputs, -1), attention.out.kernel.double(), attention.out.bias.double())
    h = F.layer_norm(4**0.25 * x + y, (x.shape[-1],), eps=1e-6)
    y = F.relu(F.linear(h, layer.expand.kernel.double(), layer.expand.bias.double()))
    y = F.linear(y, layer.contract.kernel.double(), layer.contract.bias.double())
    return F.layer_norm(4**0.25 * h + y, (x.shape[-1],), eps=1e-6)


def test_layer_is_its_definition():
    layer = built(encoder()).layers["2"]
    x = torch.randn(2, 361, 8)
    torch.testing.assert_close(layer(x, None), slow_layer(layer, x.double()).float(), rtol=1e-4, atol=1e-5)


def test_full_smolgen_is_its_definition():
    net = built(encoder(smolgen="full"))
    layer, x = net.layers["1"], torch.randn(2, 361, 8)
    code = layer.smolgen
    y = (x @ code.compress.kernel.T).reshape(2, -1)
    for dense, norm in ((code.hidden, code.hidden_norm), (code.codes, code.codes_norm)):
        y = F.silu(y @ dense.kernel.T + dense.bias)
        y = F.layer_norm(y, y.shape[-1:], norm.gamma, norm.beta, 1e-3)
    bias = torch.einsum("nhg,gp->nhp", y.reshape(2, 2, 3), net.smolgen.kernel).reshape(2, 2, 361, 361)
    torch.testing.assert_close(
        layer(x, net.smolgen.to_logits()), slow_layer(layer, x.double(), bias.double()).float(), rtol=1e-4, atol=1e-5
    )


def test_offsets_at_pairs_is_a_gather():
    values = torch.randn(2, 37, 37, dtype=torch.float64, requires_grad=True)
    row, column = torch.arange(361) // SIZE, torch.arange(361) % SIZE
    slow = values[:, row[None] - row[:, None] + 18, column[None] - column[:, None] + 18]
    assert torch.equal(offsets_at_pairs(values), slow)
    weight = torch.randn_like(slow)
    gradients = [torch.autograd.grad((made * weight).sum(), values)[0] for made in (slow, offsets_at_pairs(values))]
    torch.testing.assert_close(*gradients)


def test_arc_code_of_a_point():
    """X: the point itself, O: what it can make shape with."""
    expected = """
        . . . . . . . . .
        . . . O O O . . .
        . . . O O O . . .
        . O O O O O O O .
        . O O O X O O O .
        . O O O O O O O .
        . . . O O O . . .
        . . . O O O . . .
        . . . . . . . . .
    """
    values = torch.tensor([{EMPTY: 0.0, BLACK: -1.0, WHITE: 1.0}[int(colour)] for colour in parse_board(expected)])
    assert torch.equal(arc_codes()[4 * SIZE + 4], values)
    assert torch.equal(arc_codes(), arc_codes().T)


def test_factors_stay_at_zero_and_come_back():
    net = built(encoder(input_gate=True)).train()
    gate = net.embedding.gate
    with torch.no_grad():
        gate.gamma[:] = -0.5
    net(random_planes(1))
    assert (gate.gamma == 0).all()
    gate(torch.ones(1, 361, 8)).sum().backward()
    assert (gate.gamma.grad == 1).all()


def test_multiplicative_gate_needs_a_form():
    with pytest.raises(SettingError, match="multiplicative_gate"):
        built(encoder(multiplicative_gate=True))
