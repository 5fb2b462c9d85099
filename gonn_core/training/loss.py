"""Losses, in nats, averaged over the batch."""

import torch


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Mean of -log softmax(logits)[target] over the batch, in fp32 (spec: GoNN 4.3).

    logits (N, 361) of any floating type, targets (N,) int64 in 0..360.
    """
    return torch.nn.functional.cross_entropy(logits.float(), targets)
