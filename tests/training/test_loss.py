"""Losses against slow obvious references."""

import math

import pytest
import torch

from gonn_core.training.objective import (
    NONE,
    PLANE_WEIGHTS,
    cross_entropy,
    future_counts,
    future_losses,
    legal_only,
    squared_error,
)
from tests.boards import named_points, parse_board

BOARD = """
    . X O . .
    X O a O .
    . X O b .
"""


def logits(*shape):
    return 3 * torch.randn(*shape, generator=torch.Generator().manual_seed(5))


def slow_squared_error(row, target):
    p = torch.exp(row.double()) / torch.exp(row.double()).sum()
    return sum((p[i].item() - (i == target)) ** 2 for i in range(len(row)))


def test_uniform_logits_cost_the_logarithm_of_the_board():
    logits = torch.zeros(4, 361, dtype=torch.bfloat16)
    loss = cross_entropy(logits, torch.tensor([0, 5, 100, 360]))
    assert loss.dtype == torch.float32
    assert math.isclose(loss.item(), math.log(361), rel_tol=1e-6)


def test_squared_error_sums_over_points_and_averages_over_the_batch():
    rows, targets = logits(5, 361), torch.tensor([0, 17, 360, 17, 200])
    slow = [slow_squared_error(row, target) for row, target in zip(rows, targets.tolist(), strict=True)]
    assert squared_error(rows, targets, "none").tolist() == pytest.approx(slow, rel=1e-5)
    assert squared_error(rows, targets).item() == pytest.approx(sum(slow) / 5, rel=1e-5)
    assert squared_error(rows.bfloat16(), targets).dtype == torch.float32
    certain = torch.full((1, 361), -50.0).index_fill(1, torch.tensor([3]), 50.0)
    assert squared_error(certain, torch.tensor([3])).item() == pytest.approx(0, abs=1e-6)
    assert squared_error(certain, torch.tensor([4])).item() == pytest.approx(2, abs=1e-6)


def test_illegal_points_get_neither_probability_nor_gradient():
    illegal = torch.from_numpy(parse_board(BOARD) != 0)[None]
    points = named_points(BOARD)
    illegal[0, points["b"]] = True  # as if a ko were there
    rows, targets = logits(1, 361).requires_grad_(), torch.tensor([points["a"]])
    legal = rows.detach()[~illegal].double()
    for loss, slow in ((cross_entropy, None), (squared_error, slow_squared_error)):
        rows.grad = None
        value = loss(legal_only(rows, illegal, targets), targets)
        place = (~illegal[0]).nonzero().flatten().tolist().index(points["a"])
        expected = slow(legal, place) if slow else -torch.log_softmax(legal, 0)[place].item()
        assert value.item() == pytest.approx(expected, rel=1e-5)
        value.backward()
        assert not rows.grad[illegal].any() and torch.isfinite(rows.grad).all()


@pytest.mark.parametrize("kind, loss", [("cross_entropy", cross_entropy), ("squared_error", squared_error)])
def test_later_moves_are_averaged_over_the_positions_that_have_them(kind, loss):
    rows = logits(4, 2, 361)
    future = torch.tensor([[3, 7], [9, NONE], [NONE, NONE], [3, NONE]])
    found = future_losses(kind, rows, future, future_counts({"future": future}))
    assert found[0].item() == pytest.approx(
        sum(loss(rows[i, :1], torch.tensor([t])).item() for i, t in ((0, 3), (1, 9), (3, 3))) / 3
    )
    assert found[1].item() == pytest.approx(loss(rows[:1, 1], torch.tensor([7])).item())
    nowhere = torch.full((4, 2), NONE)
    assert [value.item() for value in future_losses(kind, rows, nowhere, future_counts({"future": nowhere}))] == [0, 0]


def test_weights_of_the_planes():
    assert PLANE_WEIGHTS["mean"](3) == [1 / 3] * 3 and PLANE_WEIGHTS["sum"](3) == [1, 1, 1]
    assert PLANE_WEIGHTS["harmonic"](3) == [1, 1 / 2, 1 / 3] and PLANE_WEIGHTS["mean"](1) == [1]
