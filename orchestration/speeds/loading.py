"""How fast one thread of this machine makes a configuration's planes, as a GPU takes them."""

import time

import numpy as np

from gonn_core.config import FeatureConfig
from gonn_core.features.planes import pack_planes, packed_bytes
from gonn_core.features.source import plane_source
from gonn_core.go.layout import MOVE

_ROWS = 256
_SECONDS = 0.2


def loader_rate(features: FeatureConfig, store) -> float:
    """Positions per second of one thread's CPU time, of rows of a store in random order. Compiles the kernels first,
    where they are not."""
    generator = np.random.default_rng(0)
    playable = np.flatnonzero(np.asarray(store.moves[:1_000_000])[:, MOVE] >= 0)
    source = plane_source(store)
    out, targets = np.empty((_ROWS, packed_bytes(features)), np.uint8), np.empty(_ROWS, np.int64)

    def once() -> None:
        rows = generator.choice(playable, _ROWS)
        turned, kept = (generator.integers(0, most, _ROWS).astype(np.uint8) for most in (8, 6))
        pack_planes(features, source, rows, turned, kept, out, targets)

    once()
    began, calls = time.thread_time(), 0
    while calls < 2 or time.thread_time() - began < _SECONDS:
        once()
        calls += 1
    return calls * _ROWS / (time.thread_time() - began)
