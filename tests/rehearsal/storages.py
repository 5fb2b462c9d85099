"""Bytes of the tensors that are alive on a device, by the lifetimes of their storages."""

import weakref

import torch

BLOCK = 512
"""CUDA's allocator hands out multiples of so many bytes."""


class Storages:
    """Counts storages from when they are seen until they are freed."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self._seen: dict[int, weakref.ref] = {}

    def see(self, tensor: torch.Tensor) -> None:
        """A tensor on the device; several of one storage count once."""
        storage = tensor.untyped_storage()
        key = id(storage)
        if key in self._seen:
            return
        size = -(-storage.nbytes() // BLOCK) * BLOCK
        self._seen[key] = weakref.ref(storage, lambda _: self._freed(key, size))
        self.now += size
        self.peak = max(self.peak, self.now)

    def forget_peak(self) -> None:
        """The peak from here on."""
        self.peak = self.now

    def _freed(self, key: int, size: int) -> None:
        del self._seen[key]
        self.now -= size
