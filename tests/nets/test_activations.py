"""The own PReLU against PyTorch's."""

import pytest
import torch
import torch.nn.functional as F

from gonn_core.nets.parts.norm import activate

FORMATS = [torch.contiguous_format, torch.channels_last]


def both(x, slopes, weight):
    """(output, gradient of x, gradient of slopes) of our own function and of F.prelu, for the loss sum(weight *
    output)."""
    results = []
    for function in (activate, lambda x, slopes: F.prelu(x, slopes.to(x.dtype))):
        x_, slopes_ = x.detach().requires_grad_(), slopes.detach().requires_grad_()
        y = function(x_, slopes_)
        (y * weight).sum().backward()
        results.append((y.detach(), x_.grad, slopes_.grad))
    return results


@pytest.mark.parametrize("memory_format", FORMATS)
@pytest.mark.parametrize("shape", [(4, 12, 19, 19), (1, 1, 3, 3)])
def test_equals_torch(shape, memory_format):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(shape, generator=generator)
    x[0, 0, 0] = 0.0  # the kink belongs to the negative side
    x = x.contiguous(memory_format=memory_format)
    slopes = torch.rand(shape[1], generator=generator) - 0.5
    own, reference = both(x, slopes, torch.randn(shape, generator=generator))
    for a, b in zip(own, reference, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
    assert own[0].is_contiguous(memory_format=memory_format)


def test_gradients_by_differences():
    x = torch.randn(2, 3, 4, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    slopes = torch.tensor([-0.3, 0.0, 1.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(activate, (x, slopes), atol=1e-4)


def test_bfloat16_input_float32_slopes():
    generator = torch.Generator().manual_seed(2)
    x = torch.randn(4, 8, 19, 19, generator=generator).bfloat16()
    slopes = torch.rand(8, generator=generator)
    weight = torch.randn(x.shape, generator=generator).bfloat16()
    own, _ = both(x, slopes, weight)
    _, reference = both(x.float(), slopes, weight.float())
    assert [values.dtype for values in own] == [torch.bfloat16, torch.bfloat16, torch.float32]
    torch.testing.assert_close(own[0].float(), reference[0], rtol=0.01, atol=0.01)
    torch.testing.assert_close(own[1].float(), reference[1], rtol=0.02, atol=0.02)
    torch.testing.assert_close(own[2], reference[2], rtol=0.02, atol=0.1)


def test_slopes_that_start_at_zero_have_a_gradient():
    slopes = torch.zeros(3, requires_grad=True)
    activate(-torch.ones(2, 3, 19, 19), slopes).sum().backward()
    assert (slopes.grad == -722).all()
