"""Dropout whose masks are a pure function of (init_seed, passes so far, layer): a resumed run draws what an
uninterrupted one does."""

import hashlib
import json

import torch
from torch import nn


class Dropout(nn.Module):
    """In training a share of the numbers becomes 0 and the rest grows by 1/(1 - share); otherwise the identity.

    `passes` counts the training passes begun; as a buffer it is part of every checkpoint. On a CUDA device reading it
    waits for the device once a pass. Masks on a CPU and on a CUDA device differ.
    """

    passes: torch.Tensor

    def __init__(self, share: float, init_seed: int):
        super().__init__()
        self.share, self.init_seed, self._pass = share, init_seed, 0
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))

    def begin(self) -> None:
        """A new pass through the net begins."""
        if self.training:
            self._pass = int(self.passes)
            self.passes += 1

    def forward(self, x: torch.Tensor, layer: str) -> torch.Tensor:
        """x after dropout; `layer` is a stable name."""
        if not self.training:
            return x
        key = json.dumps([self.init_seed, "dropout", layer, self._pass]).encode()
        seed = int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "little")
        generator = torch.Generator(x.device).manual_seed(seed)
        mask = torch.empty_like(x).bernoulli_(1 - self.share, generator=generator)
        return x * mask.div_(1 - self.share)
