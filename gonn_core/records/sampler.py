"""Which positions a batch holds, how they are turned, and how much history they keep: a pure function of names and numbers.

Sample i of a run (batch k holds samples k*B .. k*B+B-1) is the same whatever was drawn before it, by whichever thread and in
whichever process, so arms with the same seeds see the same samples and a resumed run goes on where it stopped.
"""

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator
from typing import Literal, NamedTuple

from gonn_core.go.jit import kernel

from .hashing import draw, stream_key, unit
from .permutation import permuted

GONN_KEEP = (0.90, 0.95, 0.95, 0.98, 0.98)
"""Probability that each of the last five moves is kept, given that the later ones were (spec: GoNN 1.3)."""


class SamplerConfig(BaseModel):
    """How samples are drawn.

    sampling      `epochs`: without replacement, each epoch in an order of its own; `replacement`: uniformly (Cazenave 4.1)
    augmentation  `batch`: one random symmetry for the whole batch (GoNN 1.4); `sample`: one each; `none`: as recorded
    keep          keep probabilities of the last 1, 2, … moves, nested (GoNN 1.3); empty: all history is kept
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    sampling: Literal["epochs", "replacement"] = "epochs"
    augmentation: Literal["batch", "sample", "none"] = "batch"
    keep: tuple[float, ...] = Field(default=(), max_length=8)

    @field_validator("keep", mode="before")
    @classmethod
    def _tuple(cls, value):
        return tuple(value) if isinstance(value, list) else value

    @field_validator("keep")
    @classmethod
    def _probabilities(cls, value):
        if not all(0.0 <= p <= 1.0 for p in value):
            raise ValueError("keep probabilities lie in 0..1")
        return value


KEEP_ALL = 255
"""`keep` of a row whose history is not dropped: more than any plane set has."""


class Batch(NamedTuple):
    """rows (B,) int64 into the store; symmetries (B,) uint8 0..7; keep (B,) uint8: how many earlier moves may be shown."""

    rows: np.ndarray
    symmetries: np.ndarray
    keep: np.ndarray


@kernel
def _kept(key, counter, probabilities):
    if probabilities.size == 0:
        return KEEP_ALL
    own_key = draw(key, counter)
    for i in range(probabilities.size):
        if unit(draw(own_key, np.uint64(i))) >= probabilities[i]:
            return i
    return probabilities.size


@kernel
def _fill_batch(order_key, symmetry_key, keep_key, n, k, replacement, augmentation, probabilities, view_rows, rows, symmetries, keep):
    size = rows.size
    for j in range(size):
        sample = k * size + j
        counter = np.uint64(sample)
        if replacement:
            index = np.int64(unit(draw(order_key, counter)) * n)
        else:
            index = permuted(draw(order_key, np.uint64(sample // n)), n, sample % n)
        rows[j] = view_rows[index]
        if augmentation == 1:
            symmetries[j] = draw(symmetry_key, np.uint64(k)) >> np.uint64(61)
        elif augmentation == 2:
            symmetries[j] = draw(symmetry_key, counter) >> np.uint64(61)
        else:
            symmetries[j] = 0
        keep[j] = _kept(keep_key, counter, probabilities)


@kernel
def _fill_keep(key, rows, probabilities, keep):
    for i in range(rows.size):
        keep[i] = _kept(key, np.uint64(rows[i]), probabilities)


class Sampler:
    """Batches of one run: `Sampler(view, batch_size, data_seed, config).batch(k)`; safe to call from many threads.

    `view` needs `rows` ((n,) integers into the store, may be memory-mapped) and `digest`.
    """

    def __init__(self, view, batch_size: int, data_seed: int, config: SamplerConfig = SamplerConfig()):
        if batch_size < 1 or data_seed < 0:
            raise ValueError(f"batch_size {batch_size}, data_seed {data_seed}: valid are >= 1, >= 0")
        if len(view.rows) == 0:
            raise ValueError("the view has no positions")
        self.view, self.batch_size, self.data_seed, self.config = view, batch_size, data_seed, config
        # Streams have keys of their own, so that e.g. turning augmentation off leaves the order of positions as it was.
        self._keys = tuple(stream_key(purpose, data_seed, view.digest) for purpose in ("order", "symmetry", "keep"))
        self._augmentation = ("none", "batch", "sample").index(config.augmentation)
        self._probabilities = np.array(config.keep, np.float64)
        # A plain array view: numba has one compiled version for it, not another for np.memmap.
        self._rows = np.asarray(view.rows)

    def batch(self, k: int) -> Batch:
        """Batch number k >= 0."""
        size = self.batch_size
        rows, symmetries, keep = np.empty(size, np.int64), np.empty(size, np.uint8), np.empty(size, np.uint8)
        _fill_batch(
            *self._keys, self._rows.size, k, self.config.sampling == "replacement", self._augmentation, self._probabilities,
            self._rows, rows, symmetries, keep,
        )  # fmt: skip
        return Batch(rows, symmetries, keep)


def batch(data_seed: int, k: int, view, batch_size: int, config: SamplerConfig = SamplerConfig()) -> Batch:
    """Batch k of a run as one call; a loop keeps a `Sampler`."""
    return Sampler(view, batch_size, data_seed, config).batch(k)


def keep_for_rows(rows: np.ndarray, seed: int, keep_probabilities) -> np.ndarray:
    """(N,) uint8: history kept of each row, drawn by row number alone.

    For evaluation as published: GoNN's test rows lost history once, when they were written (spec: GoNN 0.6, 1.3).
    """
    keep = np.empty(len(rows), np.uint8)
    _fill_keep(stream_key("keep-rows", seed), np.ascontiguousarray(rows, np.int64), np.array(keep_probabilities, np.float64), keep)
    return keep
