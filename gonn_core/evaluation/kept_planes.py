"""Planes of positions that a net is shown again and again: made once, kept as bytes."""

from typing import Protocol

import numpy as np
import torch

from gonn_core.training.batches import Batch

MOST_BYTES = 2**26
"""Of planes that are kept; those beyond are made each time."""


class Maker(Protocol):
    """What makes the batches that an evaluation is made of: see `gonn_core.training.batches.PlaneMaker`."""

    def on_host(self, rows: np.ndarray, symmetries: np.ndarray, keep: np.ndarray) -> Batch: ...

    def on_device(self, batch: Batch) -> Batch: ...


class KeptPlanes:
    """A maker's batches, the same to the last bit, with planes made once for each batch of rows.

    A trial looks at the same positions at every point of its curve. Planes are zeros and ones, so that a byte holds
    what a float32 does; packed bits are kept as they are.
    """

    def __init__(self, maker: Maker, most_bytes: int = MOST_BYTES):
        self._maker, self._room = maker, most_bytes
        self._kept: dict[tuple[bytes, bytes, bytes], tuple[Batch, torch.dtype]] = {}

    def on_host(self, rows: np.ndarray, symmetries: np.ndarray, keep: np.ndarray) -> Batch:
        """As `PlaneMaker.on_host`; called from threads."""
        name = (rows.tobytes(), symmetries.tobytes(), keep.tobytes())
        if name in self._kept:
            kept, kind = self._kept[name]
            return kept if kind == torch.uint8 else kept._replace(planes=kept.planes.to(kind))
        made = self._maker.on_host(rows, symmetries, keep)
        if made.planes.numel() <= self._room:
            self._room -= made.planes.numel()
            self._kept[name] = made._replace(planes=made.planes.to(torch.uint8)), made.planes.dtype
        return made

    def on_device(self, batch: Batch) -> Batch:
        """As `PlaneMaker.on_device`."""
        return self._maker.on_device(batch)
