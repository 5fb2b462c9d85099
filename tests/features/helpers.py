"""Planes of rows in the plainest call, and planes turned after they were made."""

from types import SimpleNamespace

import numpy as np

from gonn_core.features.planes import make_planes, packed_bytes
from gonn_core.features.sets import computed_planes
from gonn_core.features.source import plane_source
from gonn_core.go.points import POINTS, SYMMETRY
from tests.features.configs import GONN


def make(store, rows, symmetry=0, keep=5, dtype=np.uint8):
    """GoNN's planes (B, 26, 361) and targets (B,) of rows of `store` (stones, ladders, moves); symmetry and keep may be
    arrays."""
    return make_set(GONN, source_of(store), rows, symmetry, keep, dtype)


def source_of(store):
    return plane_source(SimpleNamespace(stones=store[0], ladders=store[1], moves=store[2]))


def turned(planes, symmetry):
    """(B, C, 361) planes with every point moved to its image."""
    out = np.zeros_like(planes)
    out[..., SYMMETRY[symmetry]] = planes
    return out


def make_set(features, source, rows, symmetry=0, keep=5, dtype=np.uint8):
    """(planes (B, P, 361), targets (B,)) that `features` makes of rows of a source; symmetry and keep may be arrays."""
    out = np.full((len(rows), len(computed_planes(features)), POINTS), 7, dtype)
    return _filled(features, source, rows, symmetry, keep, out)


def pack_set(features, source, rows, symmetry=0, keep=5):
    """(packed planes (B, bytes), targets (B,)), otherwise as `make_set`."""
    out = np.full((len(rows), packed_bytes(features)), 7, np.uint8)
    return _filled(features, source, rows, symmetry, keep, out)


def _filled(features, source, rows, symmetry, keep, out):
    targets = np.full(len(rows), 7)
    symmetries, keeps = (np.broadcast_to(value, len(rows)).astype(np.uint8) for value in (symmetry, keep))
    make_planes(features, source, np.asarray(rows, np.int64), symmetries, keeps, out, targets)
    return out, targets
