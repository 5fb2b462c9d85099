"""Keyed integer hashing: the only source of chance for data order, symmetries and history dropping.

A draw is `mix64` of a key and a counter, so it depends on nothing but its arguments: not on threads, order of calls or
library versions. The mixer is splitmix64's finaliser (Steele, Lea & Flood 2014).
"""

import hashlib

import numpy as np

from gonn_core.go.jit import inlined

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
    x = (counters.astype(np.uint64) + np.uint64(1)) * _GOLDEN + key
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)
