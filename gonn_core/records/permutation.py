"""A keyed permutation of range(n) that needs no memory: the order of an epoch.

A Feistel network permutes the smallest power of two >= n; values >= n are fed back until one is < n ("cycle walking",
fewer than two rounds on average). Its two halves may differ in width: even rounds change the left half by a hash of the
right one, odd rounds the reverse, and each step undoes itself, so it is a bijection for every n.
"""

import numpy as np

from gonn_core.go.jit import kernel
from gonn_core.records.hashing import draw, stream_key

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


@kernel
def _fill(key, n, positions, out):
    for i in range(positions.size):
        out[i] = permuted(key, n, positions[i])


def permute(positions: np.ndarray, n: int, *key_parts) -> np.ndarray:
    """Images (N,) int64 of `positions` (N,) int64 under the permutation of range(n) named by `key_parts`."""
    out = np.empty(positions.size, np.int64)
    _fill(stream_key(*key_parts), n, np.ascontiguousarray(positions, np.int64), out)
    return out
