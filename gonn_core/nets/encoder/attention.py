"""Attention among the 361 points, with what is added to its logits or multiplies its weights (spec: other systems 3.2,
3.4, 3.5); and what the whole encoder is made of: dense maps at every token, layer normalisation, Keras' initial
weights.
"""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.init import TRUNCATED_DEVIATION, Draws, constant, parameter
from gonn_core.settings.net import EncoderConfig


def fan_average(
    draws: Draws, name: str, shape: tuple[int, ...], fans: int, scale: float = 1.0, part: str = ""
) -> np.ndarray:
    """Truncated normal draws of variance 2 scale / fans, fans = fan-in + fan-out (float64 array). Scale 1 is
    Glorot's. Keras divides by the deviation of a cut normal, so that a draw has the variance it names."""
    return draws.he(name, shape, fans * TRUNCATED_DEVIATION**2 / scale, part)


class Dense(nn.Module):
    """(…, in_features) -> (…, out_features): kernel (out_features, in_features) and, unless `bias` is False, a
    bias that starts at 0.

    `scale` is that of `fan_average`. `times`: how often a sample applies it, for counting operations.
    """

    def __init__(
        self,
        draws: Draws,
        name: str,
        *,
        in_features: int,
        out_features: int,
        bias: bool = True,
        scale: float = 1.0,
        times: int = POINTS,
    ):
        super().__init__()
        shape = (out_features, in_features)
        self.kernel = parameter(fan_average(draws, f"{name}.kernel", shape, in_features + out_features, scale))
        self.bias = constant(out_features, 0.0) if bias else None
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(x, self.kernel, self.bias)

    def multiply_adds(self) -> int:
        return self.times * self.kernel.numel()


class LayerNorm(nn.Module):
    """gamma (x - mean) / sqrt(variance + epsilon) + beta over the last axis; computed in float32, of x's type, whatever
    autocast would make of it: its list for CUDA holds this norm, its list for a CPU does not."""

    def __init__(self, width: int, epsilon: float):
        super().__init__()
        self.gamma = constant(width, 1.0)
        self.beta = constant(width, 0.0)
        self.epsilon = epsilon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        wide = x if x.device.type == "cpu" else x.float()  # CUDA's kernel takes x and parameters of one type alone
        with torch.autocast(x.device.type, enabled=False):
            return F.layer_norm(wide, self.gamma.shape, self.gamma, self.beta, self.epsilon).to(x.dtype)


def square_relu(x: torch.Tensor) -> torch.Tensor:
    """max(x, 0)^2."""
    return F.relu(x).square()


ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "square_relu": square_relu,
    "swish": F.silu,
    "swiglu": F.silu,
}
"""By the names in `EncoderConfig`."""


def factor_not_negative(module: nn.Module, values: torch.Tensor) -> torch.Tensor:
    """`values`, a parameter of `module` that multiplies, kept from falling below 0.

    In training it is clamped in place before it is used: the same as clamping after each step (Keras' NonNeg), so that
    a factor at 0 still has a gradient and can rise again. Otherwise the parameter is left alone.
    """
    if not module.training:
        return values.clamp(min=0)
    with torch.no_grad():
        values.clamp_(min=0)
    return values


THETA = 100.0
"""Of the rotations' frequencies (KataGo: 100, for a board of 19 lines)."""


def rotations(size: int) -> torch.Tensor:
    """(361, size/2) float32 angles of the pairs of a head's `size` numbers at each point: the first half of the pairs
    by row, the second by column, k-th frequency THETA^(-4k/size)."""
    frequencies = THETA ** (-torch.arange(size // 4, dtype=torch.float64) / (size // 4))
    row, column = torch.arange(POINTS) // SIZE, torch.arange(POINTS) % SIZE
    return torch.cat([axis[:, None] * frequencies for axis in (row, column)], 1).float()


def rotated(values: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """(…, 361, size) with each pair (k, k + size/2) turned by its angle."""
    first, second = values.chunk(2, -1)
    cos, sin = (of.to(values.dtype) for of in (angles.cos(), angles.sin()))
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


OFFSETS = 2 * SIZE - 1
"""Offsets along one axis: -18 … 18."""


def table(form: str, heads: int, start: float) -> nn.Parameter:
    """Trainable numbers, all equal at start: (heads, 37, 37) for "relative", (heads, 361, 361) for "absolute"."""
    return nn.Parameter(torch.full((heads, OFFSETS, OFFSETS) if form == "relative" else (heads, POINTS, POINTS), start))


def table_at_pairs(values: torch.Tensor) -> torch.Tensor:
    """A `table` of either form -> (heads, 361, 361): [h, from, to]."""
    return values if values.shape[-1] == POINTS else offsets_at_pairs(values)


def offsets_at_pairs(values: torch.Tensor) -> torch.Tensor:
    """(…, 37, 37), by row and column offset + 18 -> (…, 361, 361): [from, to] is the value at the offset (to -
    from)."""
    return _Windows.apply(values)


class _Windows(torch.autograd.Function):
    """`offsets_at_pairs`: from a point, all offsets that stay on the board are a 19x19 window of the 37x37 values.

    In two steps of slices, columns before rows: three times as fast on a CPU as an index per pair, and the gradient is
    summed in one order on every device.
    """

    @staticmethod
    def forward(ctx, values):
        lead = values.shape[:-2]
        columns = values.unfold(-1, SIZE, 1).flip(-2)  # (…, row offset, from column, to column)
        pairs = values.new_empty(*lead, SIZE, SIZE, SIZE, SIZE)  # from row, from column, to row, to column
        for row in range(SIZE):
            pairs[..., row, :, :, :] = columns.narrow(-3, SIZE - 1 - row, SIZE).transpose(-3, -2)
        return pairs.reshape(*lead, POINTS, POINTS)

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        lead = grad.shape[:-2]
        pairs = grad.reshape(*lead, SIZE, SIZE, SIZE, SIZE)
        columns = grad.new_zeros(*lead, OFFSETS, SIZE, SIZE)
        for row in range(SIZE):
            columns.narrow(-3, SIZE - 1 - row, SIZE).add_(pairs[..., row, :, :, :].transpose(-3, -2))
        values = grad.new_zeros(*lead, OFFSETS, OFFSETS)
        for column in range(SIZE):
            values.narrow(-1, SIZE - 1 - column, SIZE).add_(columns[..., column, :])
        return values


def attend(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None, factor: torch.Tensor | None
) -> torch.Tensor:
    """(softmax(query key / sqrt(D) + bias) factor) value for query, key, value (N, heads, 361, D) -> the same shape.

    bias: (N, heads, 361, 361), or without N for one that all positions share; factor: without N.
    """
    query = query * query.shape[-1] ** -0.5
    # one head at a time would be one operation each to a compiler: thousands
    if query.device.type == "cpu" and query.dtype == torch.float32 and not torch.compiler.is_compiling():
        return CpuAttention.apply(query, key, value, bias, factor)
    if factor is None:
        return F.scaled_dot_product_attention(
            query, key, value, None if bias is None else bias.to(query.dtype), scale=1.0
        )
    logits = query @ key.mT
    weights = torch.softmax((logits if bias is None else logits + bias).float(), -1) * factor
    return weights.to(value.dtype) @ value


class CpuAttention(torch.autograd.Function):
    """`attend` for queries already scaled, float32.

    One head of one position at a time, the weights computed again for the gradient: its 361x361 matrices stay in a
    core's cache. PyTorch's fused kernel, made for long sequences of wide heads, and its plain one, which sends every
    matrix of the batch through memory, take two to three times as long.
    """

    @staticmethod
    def forward(ctx, query, key, value, bias, factor):
        query, key, value = (values.contiguous() for values in (query, key, value))
        out = torch.empty_like(value)
        weights_of = _Weights(query, key, bias)
        for n, h in np.ndindex(query.shape[:2]):
            weights = weights_of(n, h)
            if factor is not None:
                weights *= factor[h]
            torch.mm(weights, value[n, h], out=out[n, h])
        ctx.save_for_backward(query, key, value, bias, factor)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        query, key, value, bias, factor = ctx.saved_tensors
        grad_query, grad_key, grad_value = (torch.empty_like(values) for values in (query, key, value))
        grad_bias = torch.zeros_like(bias) if ctx.needs_input_grad[3] else None
        grad_factor = None if factor is None else torch.zeros_like(factor)
        weights_of = _Weights(query, key, bias)
        for n, h in np.ndindex(query.shape[:2]):
            weights = used = weights_of(n, h)
            grad_weights = grad[n, h] @ value[n, h].T
            if factor is not None:
                used = weights * factor[h]
                assert grad_factor is not None
                grad_factor[h].addcmul_(grad_weights, weights)
                grad_weights *= factor[h]
            torch.mm(used.T, grad[n, h], out=grad_value[n, h])
            grad_logits = torch._softmax_backward_data(grad_weights, weights, -1, torch.float32)
            torch.mm(grad_logits, key[n, h], out=grad_query[n, h])
            torch.mm(grad_logits.T, query[n, h], out=grad_key[n, h])
            if grad_bias is not None:
                _of_head(grad_bias, n, h).add_(grad_logits)
        return grad_query, grad_key, grad_value, grad_bias, grad_factor


class _Weights:
    """Attention weights (361, 361) of one head of one position, in a buffer that the next call writes anew."""

    def __init__(self, query: torch.Tensor, key: torch.Tensor, bias: torch.Tensor | None):
        self.query, self.key, self.bias = query, key, bias
        self.logits, self.weights = query.new_empty(2, query.shape[2], key.shape[2])

    def __call__(self, n: int, h: int) -> torch.Tensor:
        if self.bias is None:
            torch.mm(self.query[n, h], self.key[n, h].T, out=self.logits)
        else:
            torch.addmm(_of_head(self.bias, n, h), self.query[n, h], self.key[n, h].T, out=self.logits)
        return torch.softmax(self.logits, -1, out=self.weights)


def _of_head(bias: torch.Tensor, n: int, h: int) -> torch.Tensor:
    """A bias (N, heads, 361, 361), or (heads, 361, 361) for all positions, at one head of one position."""
    return bias[n, h] if bias.dim() == 4 else bias[h]


class Attention(nn.Module):
    """(N, 361, width) -> the same shape: softmax(q k / sqrt(head size) + biases) v of each head, then a dense map.

    bias (N, heads, 361, 361), if given, is made from the position. The additive gate's table starts at 0, the
    multiplicative one's at 1: at start they change nothing. The factor applies after the softmax, and what it makes of
    the weights is not normalised again.
    """

    angles: torch.Tensor | None

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig, value_scale: float):
        super().__init__()
        width = encoder.width
        self.heads = encoder.heads
        self.query = Dense(draws, f"{name}.query", in_features=width, out_features=width)
        self.key = Dense(draws, f"{name}.key", in_features=width, out_features=width)
        self.value = Dense(draws, f"{name}.value", in_features=width, out_features=width, scale=value_scale)
        self.out = Dense(draws, f"{name}.out", in_features=width, out_features=width, scale=value_scale)
        angles = rotations(width // self.heads) if encoder.rotary else None
        self.register_buffer("angles", angles, persistent=False)
        form = encoder.additive_gate
        self.beta = None if form == "none" else table(form, self.heads, 0.0)
        self.gamma = table(form, self.heads, 1.0) if encoder.multiplicative_gate else None

    def forward(self, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        query, key, value = (
            dense(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for dense in (self.query, self.key, self.value)
        )
        if self.angles is not None:
            query, key = rotated(query, self.angles), rotated(key, self.angles)
        if self.beta is not None:
            static = table_at_pairs(self.beta)
            bias = static if bias is None else bias + static
        factor = None if self.gamma is None else table_at_pairs(factor_not_negative(self, self.gamma))
        return self.out(attend(query, key, value, bias, factor).transpose(1, 2).flatten(2))

    def multiply_adds(self) -> int:
        """Of the dense maps, and of the products of queries with keys and of weights with values."""
        dense = (self.query, self.key, self.value, self.out)
        return sum(part.multiply_adds() for part in dense) + 2 * POINTS**2 * self.query.kernel.shape[0]
