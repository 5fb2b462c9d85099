"""Which positions a batch holds, how they are turned, and how much history they keep: a pure function of names and
numbers.

Sample i of a run (batch k holds samples k*B .. k*B+B-1) is the same whatever was drawn before it, by whichever thread
and in whichever process, so arms with the same seeds see the same samples and a resumed run continues where it stopped.

The order of an epoch is a keyed permutation of range(n) that needs no memory: a Feistel network permutes the smallest
power of two >= n; values >= n are fed back until one is < n ("cycle walking", fewer than two rounds on average). Its
two halves may differ in width: even rounds change the left half by a hash of the right one, odd rounds the reverse, and
each step undoes itself, so it is a bijection for every n.

A draw is a mix of a key and a counter (splitmix64's finaliser; Steele, Lea & Flood 2014), so it depends on nothing but
its arguments: not on threads, order of calls or library versions.
"""

import hashlib
from typing import NamedTuple

import numpy as np

from gonn_core.go.jit import inlined, kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / (1 << 53)


def stream_key(*parts) -> np.uint64:
    """Key of a stream of draws: a uint64 from any strings and integers that name it, e.g. `stream_key("symmetry", seed,
    digest)`."""
    text = "\0".join(map(str, parts))
    return np.uint64(int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little"))


@inlined
def draw(key, counter):
    """The uint64 number `counter` (uint64) of the stream `key` (uint64)."""
    x = key + (counter + np.uint64(1)) * _GOLDEN
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)


@inlined
def unit(bits):
    """A float64 in [0, 1) from the upper 53 bits of a draw."""
    return np.float64(bits >> _S11) * _UNIT


def draws(key: np.uint64, counters: np.ndarray) -> np.ndarray:
    """`draw` for an array of counters, in plain numpy: (N,) uint64 -> (N,) uint64."""
    return draw.py_func(key, counters.astype(np.uint64))


GONN_KEEP = (0.90, 0.95, 0.95, 0.98, 0.98)
"""Probability that each of the last five moves is kept, given that the later ones were (spec: GoNN 1.3)."""
KEEP_ALL = (1.0,) * 5

SAMPLINGS = ("epochs", "replacement")
"""Without replacement, each epoch in an order of its own; or uniformly (Cazenave 4.1)."""
AUGMENTATIONS = ("none", "batch", "sample")
"""As recorded; one random symmetry for the whole batch (GoNN 1.4); one for each sample."""


class RowBatch(NamedTuple):
    """rows (B,) int64 into the store; symmetries (B,) uint8 0..7; keep (B,) uint8: how many earlier moves may be
    shown."""

    rows: np.ndarray
    symmetries: np.ndarray
    keep: np.ndarray


@kernel
def _moves_shown(key, counter, probabilities):
    own_key = draw(key, counter)
    for i in range(probabilities.size):
        if unit(draw(own_key, np.uint64(i))) >= probabilities[i]:
            return i
    return probabilities.size


@kernel
def _fill_batch(
    order_key, symmetry_key, keep_key, n, k, replacement, augmentation, frozen, probabilities, view_rows,
    rows, symmetries, keep,
):  # fmt: skip
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
        keep[j] = _moves_shown(keep_key, np.uint64(rows[j]) if frozen else counter, probabilities)


@kernel
def _fill_keep(key, rows, probabilities, keep):
    for i in range(rows.size):
        keep[i] = _moves_shown(key, np.uint64(rows[i]), probabilities)


class Sampler:
    """Batches of one run: `Sampler(view, batch_size, data_seed).batch(k)`; safe to call from many threads.

    `view` needs `rows` ((n,) integers into the store, may be memory-mapped) and `digest`. `sampling`, `augmentation`,
    `history_keep` and `history_frozen` are those of `gonn_core.config.DataConfig`: one of SAMPLINGS, one of
    AUGMENTATIONS, the probability that the move 1, 2, … ago is shown, given that the later ones are, and whether that
    is drawn once for each row of the store, by (data_seed, row) alone.
    """

    def __init__(
        self,
        view,
        batch_size: int,
        data_seed: int,
        sampling="epochs",
        augmentation="batch",
        history_keep=KEEP_ALL,
        history_frozen=False,
    ):
        if batch_size < 1 or data_seed < 0:
            raise ValueError(f"batch_size {batch_size}, data_seed {data_seed}: valid are >= 1, >= 0")
        if len(view.rows) == 0:
            raise ValueError("the view has no positions")
        if not all(0 <= p <= 1 for p in history_keep):
            raise ValueError(f"history_keep {history_keep}: valid are probabilities")
        self.view, self.batch_size, self.data_seed = view, batch_size, data_seed
        self._replacement = bool(SAMPLINGS.index(sampling))
        self._augmentation = AUGMENTATIONS.index(augmentation)
        self._history_keep = np.array(history_keep, np.float64)
        # Streams have keys of their own, so that e.g. turning augmentation off leaves the order of positions as it was.
        self._keys = [stream_key(purpose, data_seed, view.digest) for purpose in ("order", "symmetry", "keep")]
        self._frozen = bool(history_frozen)
        if self._frozen:  # a row keeps its history in whatever view it stands
            self._keys[2] = stream_key("keep-frozen", data_seed)
        # A plain array: numba then has one compiled version, not another for np.memmap.
        self._rows = np.asarray(view.rows)

    def batch(self, k: int) -> RowBatch:
        """Batch number k >= 0."""
        size = self.batch_size
        rows, symmetries, keep = np.empty(size, np.int64), np.empty(size, np.uint8), np.empty(size, np.uint8)
        _fill_batch(
            *self._keys, self._rows.size, k, self._replacement, self._augmentation, self._frozen, self._history_keep,
            self._rows, rows, symmetries, keep,
        )  # fmt: skip
        return RowBatch(rows, symmetries, keep)


def keep_for_rows(rows: np.ndarray, seed: int, history_keep) -> np.ndarray:
    """(N,) uint8: history kept of each row, drawn by row number alone.

    For evaluation as published: GoNN's test rows lost history once, when they were written (spec: GoNN 0.6, 1.3).
    """
    keep = np.empty(len(rows), np.uint8)
    _fill_keep(
        stream_key("keep-rows", seed), np.ascontiguousarray(rows, np.int64), np.array(history_keep, np.float64), keep
    )
    return keep


_ROUNDS = 8
_ONE = np.uint64(1)


@kernel
def permuted(key, n, position):
    """Image of `position` (int64 in 0..n-1) under the permutation `key` (uint64) of range(n)."""
    bits = 0
    while (1 << bits) < n:
        bits += 1
    right_bits = np.uint64(bits - bits // 2)
    left_mask = (_ONE << np.uint64(bits // 2)) - _ONE
    right_mask = (_ONE << right_bits) - _ONE
    bound = np.uint64(n)
    x = np.uint64(position)
    while True:
        left, right = x >> right_bits, x & right_mask
        for i in range(_ROUNDS):
            round_key = draw(key, np.uint64(i))
            if i & 1:
                right ^= draw(round_key, left) & right_mask
            else:
                left ^= draw(round_key, right) & left_mask
        x = (left << right_bits) | right
        if x < bound:
            return np.int64(x)
