"""Stem, blocks, pooling and head against explicit arithmetic."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import HeadConfig, NetConfig, StemConfig, TrunkConfig
from gonn_core.nets.gonn.blocks import GlobalBlock, GonnStem, PreactivationBlock
from gonn_core.nets.gonn.net import GonnPolicyHead
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.norm import BatchNorm, make_norm, pool_board
from tests.nets.examples import normalised, random_planes, trunk_values

WIDTH = 12
NET = NetConfig(activation="prelu", prelu_init=0.2, norm_gamma=True, trunk=TrunkConfig(width=WIDTH))


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize("size", [3, 5])
def test_stem_centre_kernel_is_a_second_convolution(size):
    names = ("a", "b", "c")
    stem = GonnStem(Draws(0), "stem", StemConfig(kernel=size, center_kernel=True), WIDTH, names)
    planes = random_planes(2, 3)
    plain = GonnStem(Draws(0), "stem", StemConfig(kernel=size), WIDTH, names)
    close(stem(planes), plain(planes) + F.conv2d(planes, stem.center))
    stem(planes).square().sum().backward()
    close(stem.center.grad[:, :, 0, 0], stem.kernel.grad[:, :, size // 2, size // 2])


def test_ordinary_block():
    block, x = PreactivationBlock(Draws(0), "blocks.1", NET), trunk_values()
    slopes = torch.full((WIDTH,), 0.2)
    y = F.conv2d(F.prelu(normalised(x), slopes), block.conv1, padding=1)
    close(block(x), x + F.conv2d(F.prelu(normalised(y), slopes), block.conv2, padding=1))


def test_dilated_block():
    block, x = PreactivationBlock(Draws(0), "blocks.2", NET, dilated=4, dilation=3), trunk_values()
    slopes = torch.full((WIDTH,), 0.2)
    y = F.prelu(normalised(x), slopes)
    y = torch.cat((F.conv2d(y, block.conv1[:8], padding=1), F.conv2d(y, block.conv1[8:], padding=3, dilation=3)), 1)
    close(block(x), x + F.conv2d(F.prelu(normalised(y), slopes), block.conv2, padding=1))


def test_global_block():
    block, x = GlobalBlock(Draws(0), "blocks.3", NET, pooled=4), trunk_values()
    slope = torch.tensor(0.2)
    y = F.conv2d(F.prelu(normalised(x), slope), block.conv1, padding=1)
    pooled = F.prelu(normalised(y[:, 8:]), slope).flatten(2)
    bias = torch.cat((pooled.mean(2), pooled.max(2).values), 1) @ block.pooled.matrix.T
    y = F.prelu(normalised(y[:, :8] + bias[:, :, None, None]), slope)
    close(block(x), x + F.conv2d(y, block.conv2, padding=1))


def test_statistics_of_a_drawn_board():
    x = torch.zeros(1, 2, 19, 19)
    x[0, 0, 3, 15] = 361.0  # one point alone
    x[0, 1] = -2.0  # the same everywhere
    mean, maximum, stdev = pool_board(x, ("mean", "max", "stdev")).reshape(3, 2)
    assert mean.tolist() == pytest.approx([1, -2])
    assert maximum.tolist() == [361, -2]
    assert stdev.tolist() == pytest.approx([(360 + 1e-4) ** 0.5, 0.01])  # variance 361 - 1


POOLED = {"none": [], "mean": [0], "max": [1], "mean_max": [0, 1], "mean_max_stdev": [0, 1, 2]}
"""Pooling of the head -> which of mean, maximum and standard deviation."""


@pytest.mark.parametrize("pooling, statistics", POOLED.items())
def test_head(pooling, statistics):
    net = NetConfig(trunk=TrunkConfig(width=WIDTH), head=HeadConfig(pooling=pooling))
    head, t = GonnPolicyHead(Draws(0), "head", net), trunk_values()
    z = F.conv2d(t, head.conv, padding=1)
    if statistics:
        pooled = F.relu(normalised(F.conv2d(t, head.pooled_conv, padding=1))).flatten(2)
        all_three = (pooled.mean(2), pooled.amax(2), (pooled.var(2, unbiased=False) + 1e-4).sqrt())
        assert head.pooled.matrix.shape == (4, 4 * len(statistics))
        z = z + (torch.cat([all_three[number] for number in statistics], 1) @ head.pooled.matrix.T)[:, :, None, None]
    else:
        assert head.pooled is None and head.pooled_conv is None
    z = normalised(z)
    close(head(t), F.conv2d(torch.cat((F.relu(z), F.relu(-z)), 1), head.out, padding=2).reshape(3, 361))


def test_head_with_relu():
    net = NetConfig(trunk=TrunkConfig(width=WIDTH), head=HeadConfig(activation="relu"))
    head, t = GonnPolicyHead(Draws(0), "head", net), trunk_values()
    z = normalised(F.conv2d(t, head.conv, padding=1))
    assert head.out.shape == (1, 4, 5, 5)
    close(head(t), F.conv2d(F.relu(z), head.out, padding=2).reshape(3, 361))


@pytest.mark.parametrize("gamma", [True, False])
def test_norm_and_its_running_statistics(gamma):
    norm, x = BatchNorm(WIDTH, gamma), 3 * trunk_values() + 1
    close(norm(x), normalised(x))
    close(norm.mean, 0.01 * x.mean((0, 2, 3)))
    close(norm.variance, 0.99 + 0.01 * x.var((0, 2, 3)))
    assert [name for name, _ in norm.named_parameters()] == (["gamma", "beta"] if gamma else ["beta"])
    assert list(norm.state_dict()) == (["gamma", "beta"] if gamma else ["beta"]) + ["mean", "variance"]
    close(norm.eval()(x), (x - norm.mean.view(1, -1, 1, 1)) / (norm.variance.view(1, -1, 1, 1) + 1e-3).sqrt())


@pytest.mark.parametrize("gamma", [True, False])
def test_without_a_norm_scale_and_shift_stay(gamma):
    x, net = trunk_values(), NetConfig(norm="none", norm_gamma=gamma)
    norm = make_norm(net, WIDTH)
    assert isinstance(make_norm(net.model_copy(update={"norm": "batch"}), WIDTH), BatchNorm)
    assert [name for name, _ in norm.named_parameters()] == (["gamma", "beta"] if gamma else ["beta"])
    assert list(norm.state_dict()) == [name for name, _ in norm.named_parameters()]
    assert torch.equal(norm(x), x)
    with torch.no_grad():
        for number, values in enumerate(norm.parameters(), 2):
            values.copy_(torch.arange(WIDTH) * 0.1 * number)
    channel = torch.arange(WIDTH).view(1, -1, 1, 1)
    close(norm(x), x * 0.2 * channel + 0.3 * channel if gamma else x + 0.2 * channel)
    assert torch.equal(norm.eval()(x[:1]), norm(x)[:1])
