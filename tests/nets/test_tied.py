"""Weights tied under the symmetries against averages over all eight, and the whole net turned with its board."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.points import SYMMETRY
from gonn_core.nets.conv.layers import Orbits, pair_symmetries, symmetries


def averaged(values: torch.Tensor, images: np.ndarray) -> torch.Tensor:
    """The slow, obvious form: mean over the symmetries of `values` (…, cells) at the images of each cell."""
    return torch.stack([values[..., torch.from_numpy(image)] for image in images]).mean(0)


def test_squares_turn_as_the_board_does():
    assert (symmetries(19) == SYMMETRY).all()


@pytest.mark.parametrize("side, free", [(1, 1), (3, 3), (5, 6), (7, 10), (9, 15), (19, 55)])
def test_free_weights_of_a_kernel(side, free):
    assert len(Orbits(symmetries(side))) == free


@pytest.mark.parametrize("side, free", [(19, 16_471), (13, 7_750), (7, 2_278), (1, 55)])
def test_free_weights_of_a_full_layer(side, free):
    """Burnside: (pairs + 4 * pairs on an axis + 3 * pairs of centres) / 8."""
    assert (361 * side**2 + 4 * 19 * side + 3) / 8 == free
    assert len(Orbits(pair_symmetries(19, side))) == free


@settings(max_examples=20)
@given(
    st.sampled_from([symmetries(3), symmetries(5), symmetries(6), pair_symmetries(3, 5)]),
    st.integers(0, 1000),
    st.sampled_from([0, 1, 2]),
)
def test_spread_is_tied_and_its_gradient_the_mean(images, seed, dim):
    orbits = Orbits(images)
    generator = torch.Generator().manual_seed(seed)
    shape = [2, 2, 2]
    shape[dim] = len(orbits)
    values = torch.randn(shape, generator=generator).requires_grad_()
    cells = orbits.spread(values, dim)
    tied = cells.movedim(dim, -1)
    torch.testing.assert_close(averaged(tied, images), tied)
    assert torch.equal(tied[..., torch.from_numpy(orbits.first)], values.movedim(dim, -1))
    slope = torch.randn(cells.shape, generator=generator)
    (cells * slope).sum().backward()
    expected = averaged(slope.movedim(dim, -1), images)[..., torch.from_numpy(orbits.first)]
    torch.testing.assert_close(values.grad.movedim(dim, -1), expected)


def test_a_step_is_that_of_step_then_average():
    """One step of gradient descent on the numbers of the orbits, and one on free weights that are averaged
    afterwards."""
    images = symmetries(5)
    orbits = Orbits(images)
    tied = torch.randn(
        3, 4, len(orbits), generator=torch.Generator().manual_seed(1), dtype=torch.float64
    ).requires_grad_()
    free = orbits.spread(tied, 2).detach().requires_grad_()
    x = torch.randn(2, 4, 9, 9, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    for kernel in (orbits.spread(tied, 2), free):
        torch.nn.functional.conv2d(x, kernel.unflatten(2, (5, 5))).square().sum().backward()
    with torch.no_grad():
        averaged_step = averaged(free - 0.1 * free.grad, images)
        torch.testing.assert_close(orbits.spread(tied - 0.1 * tied.grad, 2), averaged_step)
