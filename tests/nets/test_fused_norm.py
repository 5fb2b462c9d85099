"""Norm and activation of bfloat16 in one pass, against the same in float64 and against torch's operations."""

import hashlib

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from gonn_core import numerics
from gonn_core.config import NetConfig
from gonn_core.go.jit import kernel
from gonn_core.nets.parts import norm as norms
from gonn_core.nets.parts.fused import can_fuse, moments, rounded, widened
from gonn_core.nets.parts.norm import EPSILON, MOMENTUM, BatchNorm, make_norm, normed_activation

CHANNELS = 5


def example(gamma: bool, slopes: bool, seed: int = 0):
    """A norm in training, slopes, an image batch with means far from 0, and weights of the loss."""
    generator = torch.Generator().manual_seed(seed)
    norm = BatchNorm(CHANNELS, gamma)
    with torch.no_grad():
        norm.beta.copy_(torch.randn(CHANNELS, generator=generator))
        if norm.gamma is not None:
            norm.gamma.copy_(torch.rand(CHANNELS, generator=generator) + 0.5)
    own = torch.rand(CHANNELS, generator=generator).sub_(0.3).requires_grad_() if slopes else None
    x = torch.randn(4, CHANNELS, 19, 19, generator=generator) + torch.arange(CHANNELS)[:, None, None] * 3
    weight = torch.randn(x.shape, generator=generator).bfloat16()
    return norm, own, x.bfloat16().contiguous(memory_format=torch.channels_last), weight


def in_float64(norm, slopes, x, weight, training=True):
    """Output, running statistics and gradients (x, beta, gamma, slopes) of the same in float64, by the definition."""
    x = x.double().requires_grad_()
    beta, gamma, a = (
        None if p is None else p.detach().double().requires_grad_() for p in (norm.beta, norm.gamma, slopes)
    )
    mean, variance = (
        (x.mean((0, 2, 3)), x.var((0, 2, 3), correction=0))
        if training
        else (norm.mean.double(), norm.variance.double())
    )
    z = (x - mean[:, None, None]) / (variance[:, None, None] + EPSILON).sqrt()
    z = (z if gamma is None else z * gamma[:, None, None]) + beta[:, None, None]
    y = F.relu(z) if a is None else torch.where(z > 0, z, a[:, None, None] * z)
    (y * weight.double()).sum().backward()
    return y.detach(), [None if p is None else p.grad for p in (x, beta, gamma, a)]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize(("gamma", "slopes"), [(False, True), (True, True), (True, False)])
def test_equals_float64_but_for_one_rounding(gamma, slopes, training):
    norm, own, x, weight = example(gamma, slopes)
    norm.train(training)
    expected, gradients = in_float64(norm, own, x, weight, training)
    x_ = x.clone(memory_format=torch.preserve_format).requires_grad_()
    y = normed_activation(norm, x_, own)
    assert y.dtype == torch.bfloat16 and y.is_contiguous(memory_format=torch.channels_last)
    y.backward(weight)
    torch.testing.assert_close(y.double(), expected, rtol=2**-8, atol=1e-5)
    torch.testing.assert_close(x_.grad.double(), gradients[0], rtol=2**-8, atol=1e-4)
    for parameter, gradient in zip((norm.beta, norm.gamma, own), gradients[1:], strict=True):
        if parameter is not None:
            assert parameter.grad.dtype == torch.float32
            torch.testing.assert_close(parameter.grad.double(), gradient, rtol=1e-4, atol=1e-3)


def test_running_statistics_are_torchs():
    norm, _, x, _ = example(True, False)
    expected_mean, expected_variance = torch.zeros(CHANNELS), torch.ones(CHANNELS)
    F.batch_norm(x.float(), expected_mean, expected_variance, training=True, momentum=MOMENTUM)
    normed_activation(norm, x, None)
    torch.testing.assert_close(norm.mean, expected_mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(norm.variance, expected_variance, rtol=1e-5, atol=1e-6)
    before = norm.mean.clone()
    norm.eval()
    normed_activation(norm, x, None)
    assert torch.equal(norm.mean, before)


def test_a_large_mean_costs_no_digits():
    """Once the running mean is near, as it is after some hundred steps."""
    x = torch.randn(4096, 3, generator=torch.Generator().manual_seed(3)).bfloat16().float() * 0.25 + 64
    bits = x.bfloat16()
    mean, variance = np.empty((2, 3), np.float32)
    moments(bits.view(torch.int16).numpy().view(np.uint16), np.full(3, 63, np.float32), mean, variance)
    np.testing.assert_allclose(mean, bits.double().mean(0), rtol=1e-6)
    np.testing.assert_allclose(variance, bits.double().var(0, correction=0), rtol=1e-4)


def test_only_plain_bfloat16_with_channels_last_is_fused():
    norm, own, x, _ = example(True, True)
    assert can_fuse(x)
    assert not can_fuse(x.float()) and not can_fuse(x.contiguous()) and not can_fuse(x.to("meta"))
    free = make_norm(NetConfig(norm="none", norm_gamma=True), CHANNELS)
    assert torch.equal(normed_activation(free, x, own), norms.activate(free(x), own))


def test_fp32_is_torchs_to_the_last_bit():
    norm, own, x, _ = example(True, True)
    other = BatchNorm(CHANNELS, True)
    other.load_state_dict(norm.state_dict())
    expected = F.batch_norm(x.float(), other.mean, other.variance, other.gamma, other.beta, True, MOMENTUM, EPSILON)
    assert torch.equal(normed_activation(norm, x.float(), own), norms.activate(expected, own))
    assert torch.equal(norm.mean, other.mean)


BITS = {1: "398c9bd9d12468f3"}
"""`numerics.BF16` -> digest of output and gradients of one made-up layer, on any processor."""


def test_bits_are_those_of_this_version():
    """Should they change on purpose, raise the version and add a line."""
    count = 4 * CHANNELS * 361
    steps = torch.arange(count).reshape(4, 19, 19, CHANNELS).permute(0, 3, 1, 2)
    x, weight = ((steps * factor % 509 / 128 - 1.5).bfloat16() for factor in (37, 101))
    norm, own = BatchNorm(CHANNELS, True), (torch.arange(CHANNELS) / 8).requires_grad_()
    x.requires_grad_()
    y = normed_activation(norm, x, own)
    y.backward(weight)
    assert y.grad_fn is not None and x.is_contiguous(memory_format=torch.channels_last)
    digest = hashlib.sha256()
    for part in (y.detach(), x.grad):
        digest.update(part.contiguous().view(torch.int16).numpy().tobytes())
    for part in (norm.mean, norm.variance, norm.beta.grad, norm.gamma.grad, own.grad):
        digest.update(part.numpy().tobytes())
    assert digest.hexdigest()[:16] == BITS[numerics.BF16]


@kernel
def there_and_back(numbers, halves, back):
    for i in range(len(numbers)):
        halves[i] = rounded(numbers[i])
        back[i] = widened(halves[i])


@given(st.lists(st.floats(width=32), min_size=1, max_size=50))
def test_rounding_is_torchs(values):
    numbers = np.array(values, np.float32)
    halves, back = np.empty(len(numbers), np.uint16), np.empty(len(numbers), np.float32)
    there_and_back(numbers, halves, back)
    expected = torch.from_numpy(numbers).bfloat16()
    is_number = ~np.isnan(numbers)
    np.testing.assert_array_equal(halves[is_number], expected.view(torch.int16).numpy().view(np.uint16)[is_number])
    np.testing.assert_array_equal(back, expected.float().numpy())
