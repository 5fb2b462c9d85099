"""Softmax attention with a bias on the logits and a factor on the weights: PyTorch's kernels, and one of our own for
the CPU."""

import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable


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

    One head of one position at a time, the weights made anew for the gradient: its 361x361 matrices stay in a core's
    cache. PyTorch's fused kernel, made for long sequences of wide heads, and its plain one, which sends every matrix of
    the batch through memory, take two to three times as long.
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
