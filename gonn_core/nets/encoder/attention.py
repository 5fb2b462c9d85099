"""Attention among the 361 points, with what is added to its logits or multiplies its weights (spec: other systems 3.2,
3.4, 3.5)."""

import torch
from torch import nn

from gonn_core.go.points import POINTS
from gonn_core.nets.encoder.attention_kernels import attend
from gonn_core.nets.encoder.attention_tables import table, table_at_pairs
from gonn_core.nets.encoder.parts import Dense, factor_not_negative
from gonn_core.nets.init import Draws
from gonn_core.settings.net import EncoderConfig


class Attention(nn.Module):
    """(N, 361, width) -> the same shape: softmax(q k / sqrt(head size) + biases) v of each head, then a dense map.

    bias (N, heads, 361, 361), if given, is made from the position. The additive gate's table starts at 0, the
    multiplicative one's at 1: at start they change nothing. The factor applies after the softmax, and what it makes of
    the weights is not normalised again.
    """

    def __init__(self, draws: Draws, name: str, encoder: EncoderConfig, value_scale: float):
        super().__init__()
        width = encoder.width
        self.heads = encoder.heads
        self.query = Dense(draws, f"{name}.query", in_features=width, out_features=width)
        self.key = Dense(draws, f"{name}.key", in_features=width, out_features=width)
        self.value = Dense(draws, f"{name}.value", in_features=width, out_features=width, scale=value_scale)
        self.out = Dense(draws, f"{name}.out", in_features=width, out_features=width, scale=value_scale)
        form = encoder.additive_gate
        self.beta = None if form == "none" else table(form, self.heads, 0.0)
        self.gamma = table(form, self.heads, 1.0) if encoder.multiplicative_gate else None

    def forward(self, x: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        query, key, value = (
            dense(x).unflatten(2, (self.heads, -1)).transpose(1, 2) for dense in (self.query, self.key, self.value)
        )
        if self.beta is not None:
            static = table_at_pairs(self.beta)
            bias = static if bias is None else bias + static
        factor = None if self.gamma is None else table_at_pairs(factor_not_negative(self, self.gamma))
        return self.out(attend(query, key, value, bias, factor).transpose(1, 2).flatten(2))

    def multiply_adds(self) -> int:
        """Of the dense maps, and of the products of queries with keys and of weights with values."""
        dense = (self.query, self.key, self.value, self.out)
        return sum(part.multiply_adds() for part in dense) + 2 * POINTS**2 * self.query.kernel.shape[0]
