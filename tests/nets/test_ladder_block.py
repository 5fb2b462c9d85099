"""Scans along diagonals and the block made of them, against loops (spec: GoNN 3.2)."""

import math
from functools import partial

import pytest
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.nets.gonn import ladder_block
from gonn_core.nets.gonn.ladder_block import LadderBlock, _skew, _unskew, exponential_mean, plain_mean, scan_diagonals
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.board import BoardReader
from tests.boards import parse_board
from tests.nets.examples import board_planes, random_colours

NET = NetConfig(activation="prelu", prelu_init=0.2, norm_gamma=True, trunk=TrunkConfig(width=24))
READ = BoardReader(("own_stone", "opponent_stone"), ())
STEPS = ((1, -1), (-1, 1), (1, 1), (-1, -1))
"""(rows, columns) of one step in each group's direction: [R-forward, R-reverse, L-forward, L-reverse]."""


def values(count, channels, seed=0):
    return torch.randn(count, channels, 19, 19, generator=torch.Generator().manual_seed(seed))


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


def test_skew_as_the_document_draws_it():
    x = torch.arange(1, 17).reshape(4, 4)
    assert _skew(x).tolist() == [
        [1, 2, 3, 4, 0, 0, 0],
        [0, 5, 6, 7, 8, 0, 0],
        [0, 0, 9, 10, 11, 12, 0],
        [0, 0, 0, 13, 14, 15, 16],
    ]
    assert torch.equal(_unskew(_skew(x)), x)


@pytest.mark.parametrize("scale", [1e-4, 0.3, 1.5])
def test_scan_equals_the_slow_one(scale):
    a, b = values(1, 8), scale * torch.rand(1, 8, 19, 19, generator=torch.Generator().manual_seed(1)) + 1e-4
    torch.testing.assert_close(scan_diagonals(a, b), slow_scan(a, b), rtol=1e-4, atol=1e-4)


def test_plain_scan_equals_the_slow_one():
    a, b = values(1, 8), torch.rand(1, 8, 19, 19, generator=torch.Generator().manual_seed(1)) + 1e-4
    torch.testing.assert_close(scan_diagonals(a, b, plain_mean), slow_scan(a, b, plain=True), rtol=1e-4, atol=1e-4)


def test_weak_points_pass_on_the_last_strong_value():
    """One strong point on an else transparent board: its value is seen along one diagonal, in one direction, up to the
    edge."""
    a, b = torch.zeros(1, 4, 19, 19), torch.full((1, 4, 19, 19), 1e-4)
    a[:, :, 9, 9], b[:, :, 9, 9] = 1.0, 1.5
    found = scan_diagonals(a, b)[0]
    for group, (down, right) in enumerate(STEPS):
        reached = {(9 + k * down, 9 + k * right) for k in range(10)}
        assert {tuple(point) for point in (found[group] > 0.5).nonzero().tolist()} == reached
        assert found[group, 9 + 9 * down, 9 + 9 * right] > 0.99


def test_a_strong_point_hides_what_lies_behind():
    a, b = torch.zeros(1, 4, 19, 19), torch.full((1, 4, 19, 19), 1e-4)
    a[0, 2, 3, 3], a[0, 2, 8, 8], b[0, 2, 3, 3], b[0, 2, 8, 8] = -1.0, 1.0, 1.5, 1.5
    diagonal = scan_diagonals(a, b)[0, 2].diagonal()
    assert (diagonal[3:8] < -0.99).all() and (diagonal[8:] > 0.6).all() and (diagonal[:3] == 0).all()


def test_a_constant_stays_what_it_is():
    """Means of equal numbers, with the largest exponents that there are: weights reach exp(28.5)."""
    found = scan_diagonals(torch.full((1, 4, 19, 19), 2.5), torch.full((1, 4, 19, 19), 1.5001))
    torch.testing.assert_close(found, torch.full_like(found, 2.5))


@pytest.mark.parametrize("mean", [exponential_mean, plain_mean])
def test_sums_as_on_a_gpu_agree_with_those_of_a_cpu(mean, monkeypatch):
    """A product with a triangle of ones in place of a scan: values and gradients, to what rounding does to weights of
    up to exp(19 * 1.5)."""
    a, b = values(2, 4), 1.5 * torch.sigmoid(values(2, 4, seed=1)) + 1e-4

    def run():
        leaves = [x.clone().requires_grad_() for x in (a, b)]
        found = scan_diagonals(*leaves, mean)
        (found * values(2, 4, seed=2)).sum().backward()
        return [found, *(leaf.grad for leaf in leaves)]

    on_cpu = run()
    monkeypatch.setattr(ladder_block, "running_sum", ladder_block._product_with_triangle)
    for found, expected in zip(run(), on_cpu, strict=True):
        torch.testing.assert_close(found, expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("mean", [exponential_mean, plain_mean])
def test_gradients_are_those_of_the_formula(mean):
    torch.manual_seed(0)
    a, b = torch.randn(1, 4, 19, 19, dtype=torch.float64), 1.5 * torch.rand(1, 4, 19, 19, dtype=torch.float64) + 1e-4
    a, b = a.requires_grad_(), b.requires_grad_()
    assert torch.autograd.gradcheck(partial(scan_diagonals, mean=mean), (a, b), fast_mode=True)


def test_extreme_exponents_have_finite_gradients():
    for level in (1e-4, 1.5001):
        a, b = values(2, 4).requires_grad_(), torch.full((2, 4, 19, 19), level, requires_grad=True)
        scan_diagonals(a, b).square().sum().backward()
        assert torch.isfinite(a.grad).all() and torch.isfinite(b.grad).all()


def normalised(x):
    return F.batch_norm(x, None, None, training=True, eps=1e-3)


def test_block():
    boards, slope = READ(board_planes(parse_board("X"), *random_colours(1, share=0.03))), torch.tensor(0.2)
    block, x = LadderBlock(Draws(0), "inserted.ladder_block", NET), values(2, 24)
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
    block, x = LadderBlock(Draws(0), "inserted.ladder_block", net), values(1, 24)
    z = F.prelu(normalised(x), slope)
    a = F.prelu(normalised(F.conv2d(z, block.values_conv, padding=1)), slope)
    before = normalised(F.conv2d(z, block.exponents_conv, padding=1))
    if weights == "biased":
        before = before - 2.0 * (~boards.stones.any(1, keepdim=True))
    scanned = slow_scan(a.detach(), (1.5 * torch.sigmoid(before) + 1e-4).detach(), plain=mean == "plain")
    torch.testing.assert_close(block(x, boards), x + F.conv2d(scanned, block.mix), rtol=1e-4, atol=1e-4)


def test_block_under_autocast_keeps_the_scan_in_float32():
    boards = READ(board_planes(*random_colours(2)))
    block, x = LadderBlock(Draws(0), "b", NET), values(2, 24)
    exact = block(x, boards) - x
    with torch.autocast("cpu", torch.bfloat16):
        rounded = block(x, boards) - x
    assert torch.isfinite(rounded).all()
    assert (rounded - exact).std() < 0.02 * exact.std()
