"""Plain convolutional nets: counts as published, symmetry, layers against slow references, what is refused, what starts
equal."""

import copy

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import FeatureConfig, NetConfig, TrialConfig, parse_model
from gonn_core.errors import SettingError
from gonn_core.features.sets import padding, plane_names
from gonn_core.go.points import BLACK, SYMMETRY, WHITE
from gonn_core.nets import build_net, decayed, gradient_factors, multiply_adds, trial_net
from gonn_core.nets.conv.layers import PUBLISHED_PLANES
from gonn_core.nets.conv.net import Dropout
from tests.boards import parse_board
from tests.nets.examples import random_colours

FULL = [[7, 64], [5, 64], [5, 64], [5, 48], [5, 48], [5, 32], [5, 32]]
MEDIUM = [[7, 48], [5, 32], [5, 32], [5, 32]]
SMALL = [[5, 6], [3, 4]]
CLARK = FeatureConfig(set="clark", liberties=3, liberties_after=0, history=0, ladders=False, ones=False, edge="channel")


def conv(activation="relu", **settings) -> NetConfig:
    return parse_model(NetConfig, {"family": "conv", "activation": activation, "conv": settings}, "net")


def clark(net: NetConfig, init_seed: int = 0, **features) -> torch.nn.Module:
    chosen = CLARK.model_copy(update=features)
    return build_net(net, plane_names(chosen), init_seed, padding(chosen))


def turned(x: torch.Tensor, symmetry: int) -> torch.Tensor:
    """(…, 361) as it stands on the board under a symmetry."""
    there = torch.empty_like(x)
    there[..., torch.from_numpy(SYMMETRY[symmetry]).long()] = x
    return there


def clark_planes(*boards) -> torch.Tensor:
    """(N, 8, 19, 19): stones by liberties as far as a test needs it: the stones' places alternate over the planes of
    their side."""
    planes = np.zeros((len(boards), 8, 361), np.float32)
    for planes_of, colours in zip(planes, boards, strict=True):
        for side, colour in enumerate((BLACK, WHITE)):
            for place, point in enumerate(np.flatnonzero(colours == colour)):
                planes_of[3 * side + place % 3, point] = 1
        planes_of[6, np.flatnonzero(colours == 0)[0]] = 1
    return torch.from_numpy(planes.reshape(-1, 8, 19, 19))


# Counts (spec: other systems 1.4, 2.3)


def test_tying_changes_no_operations():
    free, tied = (conv(layers=MEDIUM, head="full", tied=tied) for tied in (False, True))
    assert (
        multiply_adds(tied, 8)
        == multiply_adds(free, 8)
        == 361 * (49 * 8 * 48 + 25 * 48 * 32 + 2 * 25 * 32 * 32) + 361 * 32 * 361
    )


def test_operations_of_a_shrinking_board():
    net = conv(layers=[[5, 6], [3, 4], [3, 5]], head="full", hidden_padding="valid", head_hidden=[7])
    assert multiply_adds(net, 2) == 361 * 25 * 2 * 6 + 17**2 * 9 * 6 * 4 + 15**2 * 9 * 4 * 5 + 15**2 * 5 * 7 + 7 * 361


# Symmetry (spec: other systems 2.4)


@pytest.mark.parametrize(
    "settings",
    [
        {"layers": FULL, "head": "full"},
        {"layers": SMALL, "head": "conv", "position_bias": "all", "head_hidden": [3], "activation": "elu"},
        {"layers": SMALL, "head": "full", "position_bias": "all", "head_hidden": [361, 722]},
        {"layers": [*SMALL, [3, 4]], "head": "full", "hidden_padding": "valid", "activation": "tanh"},
    ],
    ids=["clark_full", "conv_head", "full_layers", "valid"],
)
def test_a_turned_board_has_the_turned_answer(settings):
    """At the start and after some steps on boards that are not symmetric themselves."""
    net = clark(conv(**settings, tied=True, init="fan_in"))
    boards = clark_planes(*random_colours(4))
    moves = torch.tensor([3, 77, 180, 200])
    optimiser = torch.optim.SGD(net.parameters(), lr=0.001)
    for step in range(4):
        with torch.no_grad():
            usual = net(boards)
            for symmetry in range(8) if step in (0, 3) else ():
                found = net(turned(boards.flatten(2), symmetry).view_as(boards))
                assert (found - turned(usual, symmetry)).abs().max() < 1e-4
        optimiser.zero_grad()
        F.cross_entropy(net(boards), moves).backward()
        optimiser.step()
    assert (net(boards) - usual).abs().max() > 3e-4
    assert (turned(usual, 1) - usual).abs().max() > 1e-3


# Layers against slow references


def test_tied_layers_equal_averaged_free_ones():
    """A free net whose weights are the tied ones spread out gives the same logits."""
    settings = {"layers": SMALL, "head": "full", "head_hidden": [722], "position_bias": "all"}
    tied, free = (clark(conv(**settings, tied=tied)) for tied in (True, False))
    with torch.no_grad():
        for layer, other in ((tied.stem, free.stem), (tied.layers["2"], free.layers["2"])):
            layer.bias.normal_()
            other.kernel.copy_(layer.taps.spread(layer.kernel, 2).view_as(other.kernel))
            other.bias.copy_(layer.points.spread(layer.bias, 1).view_as(other.bias))
        # free: unit j * 2 + m of the hidden layer is a number of its own; the last layer reads them in that order
        hidden, last = tied.head["1"], tied.last
        free.head["1"].matrix.copy_(
            hidden.pairs.spread(hidden.matrix, 0).view(361, 361, 2, 4).transpose(1, 2).reshape(722, 361, 4)
        )
        free.last.matrix.copy_(last.pairs.spread(last.matrix, 0).reshape(361, 1, 722))
        boards = clark_planes(*random_colours(2))
        torch.testing.assert_close(free(boards), tied(boards), rtol=1e-4, atol=1e-5)


DRAWING = """
    . . . . . . . . . . . . . . . . . . .
    . X O . . . . . . . . . . . . . . . .
    . O . . . . . . . . . . . . . . . . X
"""


@pytest.mark.parametrize("edge, beyond", [("channel", 7), ("as_opponent", 5)])
def test_beyond_the_edge(edge, beyond):
    """The first convolution, point by point, with the board drawn on a larger one."""
    net = clark(conv(layers=[[7, 3], [3, 2]], head="full"), edge=edge)
    planes = clark_planes(parse_board(DRAWING))[:, : 8 if edge == "channel" else 7]
    large = np.zeros((planes.shape[1], 25, 25), np.float32)
    large[beyond] = 1
    large[:, 3:-3, 3:-3] = planes[0]
    kernel = net.stem.kernel.detach().numpy()
    with torch.no_grad():
        net.layers["2"].kernel.zero_()[:, :, 1, 1] = torch.eye(2, 3)
        body = net.body(planes)[0].numpy()
    for row, column in ((0, 0), (0, 18), (2, 17), (9, 9), (18, 4)):
        window = large[:, row : row + 7, column : column + 7]
        expected = np.maximum((kernel[:2] * window).sum((1, 2, 3)), 0)
        np.testing.assert_allclose(body[:, row, column], expected, rtol=1e-4, atol=1e-5)


# Options


@pytest.mark.parametrize("settings", [{}, {"tied": True, "position_bias": "all"}])
def test_residual_pairs(settings):
    """As go-NN's code has it: inputs + conv(elu(conv(elu(inputs)))), nothing after the first layer or before the last
    one."""
    layers, boards = [[5, 6], *[[3, 6]] * 4], clark_planes(*random_colours(2))[:, :7]
    made = clark(conv("elu", layers=layers, residual=True, **settings), edge="none")
    x = made.stem(boards)
    for first, second in (("2", "3"), ("4", "5")):
        x = x + made.layers[second](F.elu(made.layers[first](F.elu(x))))
    torch.testing.assert_close(made.body(boards), x)
    torch.testing.assert_close(made(boards), made.last(x).flatten(1))
    plain = clark(conv("elu", layers=layers, **settings), edge="none").state_dict()
    assert made.state_dict().keys() == plain.keys()
    assert all(torch.equal(values, plain[name]) for name, values in made.state_dict().items())


@pytest.mark.parametrize("tied", [False, True])
def test_initial_weights(tied):
    """Deviations of free and tied weights alike: sqrt(2/fan-in) and sqrt(1/fan-in) before the cut at 2 sigma, 0.01
    after it."""
    cut = 0.8796
    for init, stem, deeper, last in (
        ("he", 2 / (49 * PUBLISHED_PLANES), 2 / (25 * 48), 2 / (361 * 32)),
        ("fan_in", 1 / (49 * PUBLISHED_PLANES), 1 / (25 * 48), 1 / (361 * 32)),
    ):
        net = clark(conv(layers=MEDIUM, head="full", tied=tied, init=init))
        for values, variance in ((net.stem.kernel, stem), (net.layers["2"].kernel, deeper), (net.last.matrix, last)):
            assert values.detach().std() == pytest.approx(cut * variance**0.5, rel=0.05)
    net = clark(conv(layers=MEDIUM, head="full", tied=tied, init="normal"))
    for name, values in net.named_parameters():
        if name.endswith("bias"):
            assert (values == 0).all()
        else:
            assert values.detach().std() == pytest.approx(0.01, rel=0.05) and values.abs().max() < 0.023


REFUSED = [
    ({"layers": [[4, 8]]}, "odd side"),
    ({"head": "full", "head_kernel": 5}, "no head_kernel"),
    ({"head": "full", "position_bias": "last"}, "position_bias none or all"),
    ({"head": "full", "tied": True, "head_hidden": [360]}, "multiples of 361"),
    ({"layers": []}, "needs head full"),
    ({"layers": [], "head": "full", "dropout": 0.1}, "head_hidden"),
    ({"hidden_padding": "valid"}, "needs head full"),
    ({"layers": [[3, 4]], "head": "full", "hidden_padding": "valid"}, "two layers or more"),
    ({"layers": [[3, 4], [19, 4], [3, 4]], "head": "full", "hidden_padding": "valid"}, "leave nothing"),
    ({"layers": [[5, 4], [3, 4]], "residual": True}, "an odd number of layers"),
    ({"layers": [[5, 4], [3, 4], [3, 6]], "residual": True}, "layers of one width"),
    ({"layers": [[5, 4], [3, 4], [3, 4]], "residual": True, "head": "full", "hidden_padding": "valid"}, "one width"),
]


@pytest.mark.parametrize("settings, message", REFUSED)
def test_what_does_not_fit_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        conv(**settings)


@pytest.mark.parametrize("settings", [{"layers": [[1, 4]], "head": "full"}, {"layers": [], "head": "full"}])
def test_an_edge_that_no_kernel_reaches_is_refused(settings):
    with pytest.raises(SettingError, match="no first convolution reaches"):
        trial_net(TrialConfig(features=CLARK, net=conv(**settings)))
    assert clark(conv(**settings), edge="none")(torch.zeros(1, 7, 19, 19)).shape == (1, 361)


def test_biases_are_not_decayed():
    net = clark(conv(layers=SMALL, head="full", head_hidden=[361], tied=True))
    assert set(decayed(net)) == {"stem.kernel", "layers.2.kernel", "head.1.matrix", "last.matrix"}
    assert gradient_factors(net, TrialConfig().training.optimiser) == {}


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
    net, planes = clark(conv(layers=SMALL, dropout=0.2)), clark_planes(*random_colours(2))
    net.eval()
    assert torch.equal(net(planes), net(planes)) and net.dropout.passes == 0
    net.train()
    assert not torch.equal(net(planes), net(planes)) and net.dropout.passes == 2


# Precision and memory


@pytest.mark.parametrize(
    "settings",
    [
        {"head": "full", "tied": True, "position_bias": "all"},
        {"layers": [[5, 8], [3, 8], [3, 8]], "residual": True, "activation": "elu"},
    ],
    ids=["tied", "residual"],
)
@torch.no_grad()
def test_bfloat16_and_channels_last_are_close(settings):
    net, planes = clark(conv(**{"layers": SMALL, **settings})), clark_planes(*random_colours(4))
    exact = net(planes)
    torch.testing.assert_close(net(planes.contiguous(memory_format=torch.channels_last)), exact, rtol=1e-4, atol=1e-4)
    with torch.autocast("cpu", torch.bfloat16):
        rounded = net(planes)
    assert rounded.dtype == torch.float32 and (rounded - exact).std() < 0.05 * exact.std()
