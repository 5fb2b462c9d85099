"""Dropout whose masks are a pure function of (init_seed, passes so far, layer): a resumed run draws what an
uninterrupted one does."""

import hashlib
import json

import torch
from torch import nn


class Dropout(nn.Module):
    """In training a share of the numbers becomes 0 and the rest grows by 1/(1 - share); otherwise the identity.

    `passes` counts the training passes begun; as a buffer it is part of every checkpoint. The host counts along, so
    that no pass waits for the device to tell it. Masks on a CPU and on a GPU differ, and those of two GPU models may:
    their generators give each multiprocessor its share of the numbers.
    """

    passes: torch.Tensor

    def __init__(self, share: float, init_seed: int):
        super().__init__()
        self.share, self.init_seed, self._pass = share, init_seed, 0
        self.register_buffer("passes", torch.zeros((), dtype=torch.int64))
        self._begun: int | None = 0
        """What `passes` holds; None: not known, after a checkpoint was loaded."""

    def begin(self) -> None:
        """A new pass through the net begins."""
        if self.training:
            if not torch.compiler.is_compiling():  # there the operation that draws reads it
                self._pass = int(self.passes) if self._begun is None else self._begun
                self._begun = self._pass + 1
            self.passes += 1

    def _load_from_state_dict(self, *arguments) -> None:
        super()._load_from_state_dict(*arguments)
        self._begun = None

    def forward(self, x: torch.Tensor, layer: str) -> torch.Tensor:
        """x after dropout; `layer` is a stable name."""
        if not self.training:
            return x
        if torch.compiler.is_compiling():
            return x * compiled_mask(x.detach(), self.passes, self.share, self.init_seed, layer)
        return x * _mask(x, self._pass, self.share, self.init_seed, layer)


def _mask(x: torch.Tensor, passes: int, share: float, init_seed: int, layer: str) -> torch.Tensor:
    """What x is multiplied by: 0 or 1/(1 - share)."""
    key = json.dumps([init_seed, "dropout", layer, passes]).encode()
    seed = int.from_bytes(hashlib.blake2b(key, digest_size=7).digest(), "little")
    generator = torch.Generator(x.device).manual_seed(seed)
    return torch.empty_like(x).bernoulli_(1 - share, generator=generator).div_(1 - share)


@torch.library.custom_op("gonn::dropout_mask", mutates_args=())
def compiled_mask(x: torch.Tensor, begun: torch.Tensor, share: float, init_seed: int, layer: str) -> torch.Tensor:
    """`_mask` as one operation to a compiler; begun: passes begun, this one included."""
    return _mask(x, int(begun) - 1, share, init_seed, layer)


@compiled_mask.register_fake
def _(x: torch.Tensor, begun: torch.Tensor, share: float, init_seed: int, layer: str) -> torch.Tensor:
    return torch.empty_like(x)
