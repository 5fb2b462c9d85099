"""Scans along diagonals and the block made of them, against loops (spec: GoNN 3.2)."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.nets.gonn import inserted
from gonn_core.nets.gonn.inserted import LadderBlock, exponential_mean, plain_mean, scan_diagonals
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.board import BoardReader
from tests.boards import parse_board
from tests.nets.examples import board_planes, normalised, random_colours, trunk_values

NET = NetConfig(activation="prelu", prelu_init=0.2, norm_gamma=True, trunk=TrunkConfig(width=24))
READ = BoardReader(("own_stone", "opponent_stone"), ())
STEPS = ((1, -1), (-1, 1), (1, 1), (-1, -1))
"""(rows, columns) of one step in each group's direction: [R-forward, R-reverse, L-forward, L-reverse]."""


def slow_scan(values, exponents, plain=False):
    """Walks to every point from the edge behind it, one weight at a time, in Python's numbers."""
    a, b = values.tolist(), exponents.tolist()
    result = torch.zeros_like(values)
    for n in range(len(a)):
        for channel in range(len(a[n])):
            down, right = STEPS[channel * 4 // len(a[n])]
            for row in range(19):
                for col in range(19):
                    path = [(row, col)]
                    while 0 <= path[-1][0] - down < 19 and 0 <= path[-1][1] - right < 19:
                        path.append((path[-1][0] - down, path[-1][1] - right))
                    total, above, below = 0.0, 0.0, 0.0
                    for i, j in reversed(path):
                        weight = math.exp(total + b[n][channel][i][j]) - math.exp(total)
                        weight = b[n][channel][i][j] if plain else weight
                        total += b[n][channel][i][j]
                        above += weight * a[n][channel][i][j]
                        below += weight
                    result[n, channel, row, col] = above / below
    return result


@pytest.mark.parametrize("scale", [1e-4, 0.3, 1.5])
def test_scan_equals_the_slow_one(scale):
    a, b = trunk_values(1, 8), scale * torch.rand(1, 8, 19, 19, generator=torch.Generator().manual_seed(1)) + 1e-4
    torch.testing.assert_close(scan_diagonals(a, b), slow_scan(a, b), rtol=1e-4, atol=1e-4)


def test_plain_scan_equals_the_slow_one():
    a, b = trunk_values(1, 8), torch.rand(1, 8, 19, 19, generator=torch.Generator().manual_seed(1)) + 1e-4
    torch.testing.assert_close(scan_diagonals(a, b, plain_mean), slow_scan(a, b, plain=True), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mean", [exponential_mean, plain_mean])
def test_sums_as_on_a_gpu_agree_with_those_of_a_cpu(mean, monkeypatch):
    """A product with a triangle of ones in place of a scan: values and gradients, to what rounding does to weights of
    up to exp(19 * 1.5)."""
    a, b = trunk_values(2, 4), 1.5 * torch.sigmoid(trunk_values(2, 4, seed=1)) + 1e-4

    def run():
        leaves = [x.clone().requires_grad_() for x in (a, b)]
        found = scan_diagonals(*leaves, mean)
        (found * trunk_values(2, 4, seed=2)).sum().backward()
        return [found, *(leaf.grad for leaf in leaves)]

    on_cpu = run()
    monkeypatch.setattr(inserted, "running_sum", inserted._product_with_triangle)
    for found, expected in zip(run(), on_cpu, strict=True):
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("mean", [exponential_mean, plain_mean])
def test_gradients_are_those_of_the_formula(mean):
    torch.manual_seed(0)
    a, b = torch.randn(1, 4, 19, 19, dtype=torch.float64), 1.5 * torch.rand(1, 4, 19, 19, dtype=torch.float64) + 1e-4
    a, b = a.requires_grad_(), b.requires_grad_()
    assert torch.autograd.gradcheck(partial(scan_diagonals, mean=mean), (a, b), fast_mode=True)


def test_block():
    boards, slope = READ(board_planes(parse_board("X"), *random_colours(1, share=0.03))), torch.tensor(0.2)
    block, x = LadderBlock(Draws(0), "inserted.ladder_block", NET), trunk_values(2, 24)
    z = F.prelu(normalised(x), slope)
    a = F.prelu(normalised(F.conv2d(z, block.values_conv, padding=1)), slope)
    b = 1.5 * torch.sigmoid(normalised(F.conv2d(z, block.exponents_conv, padding=1))) * boards.near + 1e-4
    assert a.shape[1] == 4
    scanned = slow_scan(a.detach(), b.detach())
    torch.testing.assert_close(block(x, boards), x + F.conv2d(scanned, block.mix), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mean", ["exponential", "plain"])
@pytest.mark.parametrize("weights", ["biased", "free"])
def test_block_in_its_earlier_forms(weights, mean):
    boards, slope = READ(board_planes(*random_colours(1, share=0.1))), torch.tensor(0.2)
    net = NET.model_copy(
        update={"trunk": NET.trunk.model_copy(update={"ladder_weights": weights, "ladder_mean": mean})}
    )
    block, x = LadderBlock(Draws(0), "inserted.ladder_block", net), trunk_values(1, 24)
    z = F.prelu(normalised(x), slope)
    a = F.prelu(normalised(F.conv2d(z, block.values_conv, padding=1)), slope)
    before = normalised(F.conv2d(z, block.exponents_conv, padding=1))
    if weights == "biased":
        before = before - 2.0 * (~boards.stones.any(1, keepdim=True))
    scanned = slow_scan(a.detach(), (1.5 * torch.sigmoid(before) + 1e-4).detach(), plain=mean == "plain")
    torch.testing.assert_close(block(x, boards), x + F.conv2d(scanned, block.mix), rtol=1e-4, atol=1e-4)


def test_block_under_autocast_keeps_the_scan_in_float32():
    boards = READ(board_planes(*random_colours(2)))
    block, x = LadderBlock(Draws(0), "b", NET), trunk_values(2, 24)
    exact = block(x, boards) - x
    with torch.autocast("cpu", torch.bfloat16):
        rounded = block(x, boards) - x
    assert torch.isfinite(rounded).all()
    assert (rounded - exact).std() < 0.02 * exact.std()
