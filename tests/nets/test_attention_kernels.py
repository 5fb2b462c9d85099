"""Attention for the CPU, value and gradients, against the formula in float64."""

import pytest
import torch

from gonn_core.nets.encoder.attention import attend

SHAPE = (3, 2, 19, 4)
"""Positions, heads, points, head size: the kernel takes any number of points."""
PAIRS = (19, 19)


def formula(query, key, value, bias, factor):
    logits = query.double() @ key.double().mT / SHAPE[-1] ** 0.5
    weights = (logits if bias is None else logits + bias).softmax(-1)
    return (weights if factor is None else weights * factor) @ value.double()


def drawn(*shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)), requires_grad=True)


@pytest.mark.parametrize("bias", [None, (3, 2, *PAIRS), (2, *PAIRS)], ids=["no bias", "a bias a position", "one bias"])
@pytest.mark.parametrize("factor", [None, (2, *PAIRS)], ids=["no factor", "factor"])
def test_values_and_gradients(bias, factor):
    query, key, value = (torch.randn(SHAPE, requires_grad=True) for _ in range(3))
    arguments = [query, key, value, *(None if shape is None else drawn(*shape) for shape in (bias, factor))]
    given = [argument for argument in arguments if argument is not None]
    made, slow = attend(*arguments), formula(*arguments)
    torch.testing.assert_close(made, slow.float(), rtol=1e-5, atol=1e-5)
    weight = torch.randn(SHAPE)
    for fast, true in zip(
        torch.autograd.grad((made * weight).sum(), given),
        torch.autograd.grad((slow * weight).sum(), given),
        strict=True,
    ):
        torch.testing.assert_close(fast, true, rtol=1e-4, atol=1e-5)


def test_bf16_is_near():
    query, key, value = (torch.randn(SHAPE) for _ in range(3))
    bias, factor = torch.randn(2, *PAIRS), torch.rand(2, *PAIRS)
    for extra in ((None, None), (bias, None), (bias, factor)):
        half = attend(query.bfloat16(), key.bfloat16(), value.bfloat16(), *extra)
        assert half.dtype == torch.bfloat16
        torch.testing.assert_close(half.float(), attend(query, key, value, *extra), rtol=0.1, atol=0.1)
