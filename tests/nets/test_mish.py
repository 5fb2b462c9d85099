"""Mish of float32 on a CPU, against PyTorch's in float64."""

import hashlib

import pytest
import torch
import torch.nn.functional as F

from gonn_core.nets.parts.mish import mish


def numbers(layout=torch.channels_last):
    """(2, 6, 19, 19) from -120 to 120, most of them near 0."""
    evenly = (torch.arange(2 * 6 * 361) - 2166) / 2166
    return (evenly * evenly * evenly * 120).view(2, 6, 19, 19).contiguous(memory_format=layout)


@pytest.mark.parametrize("layout", [torch.channels_last, torch.contiguous_format])
def test_equals_float64(layout):
    x = numbers(layout).requires_grad_()
    exact = x.detach().double().requires_grad_()
    weight = torch.linspace(-2, 3, x.numel()).view_as(x)
    y, expected = mish(x), F.mish(exact)
    torch.testing.assert_close(y.double(), expected, rtol=1e-6, atol=1e-30)
    (y * weight).sum().backward()
    (expected * weight).sum().backward()
    torch.testing.assert_close(x.grad.double(), exact.grad, rtol=1e-6, atol=1e-6)


def test_same_bits_on_every_processor():
    assert hashlib.sha256(mish(numbers()).numpy().tobytes()).hexdigest()[:16] == "740ca0137deced8c"


def test_a_number_that_is_none_stays_none_and_other_types_are_torchs():
    assert mish(torch.full((1, 1, 1, 2), torch.nan)).isnan().all()
    x = numbers().bfloat16()
    assert torch.equal(mish(x), F.mish(x))
