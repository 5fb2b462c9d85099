"""Softmax attention with a bias on the logits and a factor on the weights: PyTorch's kernels, and one of our own for the CPU."""

import torch
import torch.nn.functional as F
from torch.autograd.function import once_differentiable


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, bias: torch.Tensor | None, factor: torch.Tensor | None) -> torch.Tensor:
    """(softmax(query key / sqrt(D) + bias) factor) value for query, key, value (N, heads, 361, D) -> the same shape.

    bias: (N, heads, 361, 361), or without N for one that all positions share; factor: without N.
    """
    query = query * query.shape[-1] ** -0.5
    if query.device.type == "cpu" and query.dtype == torch.float32:
        return CpuAttention.apply(query, key, value, bias, factor)
    if factor is None:
        return F.scaled_dot_product_attention(query, key, value, None if bias is None else bias.to(query.dtype), scale=1.0)
    logits = query @ key.mT
    weights = torch.softmax((logits if bias is None else logits + bias).float(), -1) * factor
    return weights.to(value.dtype) @ value


class CpuAttention(torch.autograd.Function):
    """`attend` for queries already scaled, float32.

    One position at a time: its 361x361 matrices stay in a core's cache, where PyTorch's fused kernel, made for long sequences of
    wide heads, and its plain one, which sends every matrix of the batch through memory, take two to three times as long.
    """

    @staticmethod
    def forward(ctx, query, key, value, bias, factor):
        count, heads, points, _ = query.shape
        weights = query.new_empty(count, heads, points, points)
        out = torch.empty_like(value, memory_format=torch.contiguous_format)
        for n in range(count):
            logits = torch.bmm(query[n], key[n].mT)
            if bias is not None:
                logits += bias[n] if bias.dim() == 4 else bias
            torch.softmax(logits, -1, out=weights[n])
            torch.bmm(weights[n] if factor is None else torch.mul(weights[n], factor, out=logits), value[n], out=out[n])
        ctx.save_for_backward(query, key, value, weights, factor)
        ctx.bias_shape = None if bias is None or not ctx.needs_input_grad[3] else bias.shape
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        query, key, value, weights, factor = ctx.saved_tensors
        grads = [torch.empty_like(values, memory_format=torch.contiguous_format) for values in (query, key, value)]
        grad_bias = None if ctx.bias_shape is None else query.new_zeros(ctx.bias_shape)
        grad_factor = None if factor is None else torch.zeros_like(factor)
        for n in range(len(query)):
            grad_weights = torch.bmm(grad[n], value[n].mT)
            if factor is None:
                torch.bmm(weights[n].mT, grad[n], out=grads[2][n])
            else:
                torch.bmm((weights[n] * factor).mT, grad[n], out=grads[2][n])
                grad_factor.addcmul_(grad_weights, weights[n])
                grad_weights *= factor
            grad_logits = torch._softmax_backward_data(grad_weights, weights[n], -1, torch.float32)
            torch.bmm(grad_logits, key[n], out=grads[0][n])
            torch.bmm(grad_logits.mT, query[n], out=grads[1][n])
            if grad_bias is not None:
                if grad_bias.dim() == 4:
                    grad_bias[n] = grad_logits
                else:
                    grad_bias += grad_logits
        return *grads, grad_bias, grad_factor
