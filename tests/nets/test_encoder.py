"""The encoder family: published sizes, what starts as nothing, definitions against slow references (spec: other systems
3.2-3.5)."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import FeatureConfig, NetConfig, TrialConfig
from gonn_core.errors import SettingError
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import BLACK, EMPTY, SIZE, WHITE
from gonn_core.nets.cost import equal_start_share, multiply_adds, trainable_parameters
from gonn_core.nets.encoder.attention import offsets_at_pairs
from gonn_core.nets.encoder.net import arc_codes
from gonn_core.nets.init import ShapesOnly
from gonn_core.nets.registry import make_net
from gonn_core.settings.net import EncoderConfig
from tests.boards import parse_board
from tests.nets.examples import built, random_planes, weights

TINY = {"layers": 2, "heads": 2, "width": 8, "ffn": 12, "smolgen_sizes": (2, 6, 3)}
ENHANCEMENTS = {
    "plain": {},
    "input_gate": {"input_gate": True},
    "arc_code": {"arc_code": True},
    "smolgen": {"smolgen": "full"},
    "smolgen_relative": {"smolgen": "relative", "smolgen_activation": "relu"},
    "smolgen_unshared": {"smolgen": "full", "smolgen_shared": False},
    "square_relu": {"ffn_activation": "square_relu"},
    "swish": {"ffn_activation": "swish"},
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
    return make_net(NetConfig(family="encoder", encoder=EncoderConfig(**values)), PLANE_NAMES, ShapesOnly())


S = {"layers": 6, "heads": 6, "width": 192, "ffn": 256}
M = {**S, "layers": 10}
R = {"layers": 10, "heads": 8, "width": 384, "ffn": 512}


@pytest.mark.parametrize(
    "sizes, expected",
    [
        (S, 1_486_464),
        ({**S, "layers": 12}, 2_972_928),
        ({"layers": 6, "heads": 8, "width": 272, "ffn": 360}, 2_967_504),
        (M, 2_477_440),
        (R, 9_870_080),
        ({**R, "layers": 1}, 987_008),
    ],
    ids=["S", "S deep", "S wide", "M", "R", "a layer of R"],
)
def test_parameters_of_the_layers(sizes, expected):
    assert trainable_parameters(skeleton(**sizes).layers) == expected


def added(sizes, **values):
    return trainable_parameters(skeleton(**sizes, **values)) - trainable_parameters(skeleton(**sizes))


def test_parameters_of_enhancements():
    assert added(R, input_gate=True) == 361 * 384  # its addition is always there
    assert added(R, smolgen="full", smolgen_sizes=(8, 128, 32)) == pytest.approx(8.24e6, rel=0.001)
    assert added(S, smolgen="full", smolgen_sizes=(8, 64, 16)) == pytest.approx(3.24e6, rel=0.001)
    assert added(R, smolgen="full", smolgen_sizes=(32, 256, 256)) == pytest.approx(68.4e6, rel=0.001)  # the document's
    shared = added(R, smolgen="full", smolgen_sizes=(32, 256, 256))
    unshared = added(R, smolgen="full", smolgen_sizes=(32, 256, 256), smolgen_shared=False)
    assert unshared - shared == 9 * 256 * 361**2
    relative = added({**S, "layers": 10}, smolgen="relative", smolgen_sizes=(32, 32, 48))
    assert relative == 10 * (192 * 32 + 32 * 33 + 2 * 32 + 33 * 288 + 2 * 288) + 22_704
    assert added({**R, "layers": 1}, depthwise=9) == 147_840 + 768 + 31_104
    assert added(R, additive_gate="relative") == 10 * 8 * 37**2
    assert added({**R, "layers": 1}, additive_gate="absolute") == 8 * 361**2
    assert added(R, additive_gate="relative", multiplicative_gate=True) == 2 * 10 * 8 * 37**2
    assert added(R, arc_code=True) == 361 * 384
    assert added(R, ffn_activation="square_relu") == 0
    assert trainable_parameters(skeleton(**{**R, "heads": 24})) == trainable_parameters(skeleton(**R))


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


def test_depthwise_convolution_starts_as_the_identity():
    process = built(encoder(depthwise=9)).layers["1"].process
    x = torch.randn(2, 361, 8)
    y = process.dense(x).clamp(min=0) ** 2
    y = (y - y.mean(-1, keepdim=True)) / (y.var(-1, correction=0, keepdim=True) + 1e-3).sqrt()
    torch.testing.assert_close(process(x), y)


def test_depthwise_convolution_is_a_sum_over_near_points():
    process = built(encoder(depthwise=3)).layers["1"].process
    torch.nn.init.normal_(process.kernel)
    x = torch.randn(1, 361, 8)
    y = process.norm(process.dense(x).clamp(min=0) ** 2).unflatten(1, (SIZE, SIZE))
    near = sum(process.kernel[:, 0, 1 + a, 1 + b] * y[:, 9 + a, 4 + b] for a in (-1, 0, 1) for b in (-1, 0, 1))
    torch.testing.assert_close(process(x).unflatten(1, (SIZE, SIZE))[:, 9, 4], near)


@pytest.mark.parametrize("name", [name for name in ENHANCEMENTS if name != "plain"])
def test_what_is_shared_starts_equal(name):
    plain, other = weights(encoder()), weights(encoder(**ENHANCEMENTS[name]))
    assert set(plain) <= set(other)
    for parameter, values in plain.items():
        assert torch.equal(values, other[parameter]), parameter


def test_heads_leave_the_start_equal():
    for name, values in weights(encoder(heads=4)).items():
        assert torch.equal(values, weights(encoder())[name]), name


def test_a_planes_weights_do_not_depend_on_the_other_planes():
    kept = PLANE_NAMES[5::-2]
    expected = weights(encoder())["stem.kernel"][:, [PLANE_NAMES.index(name) for name in kept]]
    assert torch.equal(weights(encoder(), kept)["stem.kernel"], expected)


def test_initial_sizes():
    """Glorot for queries and keys, DeepNorm's beta as a factor of the variance for the rest (spec: other systems
    3.2)."""
    start = weights(NetConfig(family="encoder", encoder=EncoderConfig(layers=2, heads=4, width=96, ffn=160)))
    beta = 16**-0.25
    for name, variance in {"query": 1 / 96, "key": 1 / 96, "value": beta / 96, "out": beta / 96}.items():
        assert start[f"layers.1.attention.{name}.kernel"].var().item() == pytest.approx(variance, rel=0.05)
    assert start["layers.2.expand.kernel"].var().item() == pytest.approx(2 * beta / 256, rel=0.05)


def test_body_and_policies():
    net, planes = built(encoder(smolgen="full")), random_planes(2)
    body = net.body(planes)
    assert body.shape == (2, net.body_width, SIZE, SIZE)
    assert torch.equal(net.policies(body)[:, 0], net(planes))


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


def test_unshared_smolgen_turns_codes_by_the_layers_own_map():
    shared, own = (built(encoder(smolgen="full", smolgen_shared=shared)) for shared in (True, False))
    assert own.smolgen is None and shared.layers["1"].maps is None
    kernels = [own.layers[number].maps.kernel for number in ("1", "2")]
    assert not torch.equal(*kernels)
    x = torch.randn(2, 361, 8)
    for number, kernel in zip(("1", "2"), kernels, strict=True):
        torch.nn.init.zeros_(kernel) if number == "2" else shared.smolgen.kernel.data.copy_(kernel)
        layer, as_shared = own.layers[number], shared.layers[number]
        expected = as_shared(x, shared.smolgen.to_logits() if number == "1" else None)
        torch.testing.assert_close(layer(x, None), expected)


def test_relative_smolgen_depends_on_offsets_alone():
    net = built(encoder(smolgen="relative"))
    logits = net.smolgen.to_logits()(torch.randn(1, 2, 3))[0, 0].unflatten(0, (SIZE, SIZE)).unflatten(2, (SIZE, SIZE))
    assert logits[3, 4, 10, 2] == logits[5, 9, 12, 7] == logits[0, 2, 7, 0]
    assert logits[3, 4, 10, 2] != logits[3, 4, 10, 3]


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


def test_evaluation_changes_no_weight():
    net = built(encoder(input_gate=True)).eval()
    with torch.no_grad():
        net.embedding.gate.gamma[:] = -0.5
        net(random_planes(1))
    assert (net.embedding.gate.gamma == -0.5).all()


def test_multiplicative_gate_needs_a_form():
    with pytest.raises(SettingError, match="multiplicative_gate"):
        built(encoder(multiplicative_gate=True))


def test_share_that_starts_equal():
    features = FeatureConfig(ladders=False)
    arms = [TrialConfig(net=encoder(), features=part) for part in (FeatureConfig(), features)]
    total = sum(values.numel() for values in weights(encoder()).values())
    assert equal_start_share(*arms) == pytest.approx((total - 3 * 8) / total)  # three ladder planes, width 8
    assert equal_start_share(arms[0], TrialConfig(net=encoder(heads=4))) == 1.0
