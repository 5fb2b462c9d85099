"""Planes of rows in the plainest call, and planes turned after they were made."""

import numpy as np

from gonn_core.features.gonn import PACKED_BYTES, PLANES, gonn_planes, packed_planes
from gonn_core.features.planes import make_planes, pack_planes, packed_bytes
from gonn_core.features.sets import computed_planes
from gonn_core.go.points import POINTS, SYMMETRY


def make(store, rows, symmetry=0, keep=5, dtype=np.uint8):
    """(planes (B, 26, 361), targets (B,)) of rows of `store` (stones, ladders, moves); symmetry and keep may be
    arrays."""
    count = len(rows)
    out, targets = np.full((count, PLANES, POINTS), 7, dtype), np.full(count, 7)
    symmetries, keeps = np.broadcast_to(symmetry, count).astype(np.uint8), np.broadcast_to(keep, count).astype(np.uint8)
    gonn_planes(*store, np.asarray(rows, np.int64), symmetries, keeps, out, targets)
    return out, targets


def make_packed(store, rows, symmetry=0, keep=5):
    """(packed planes (B, 1174), targets (B,)), otherwise as `make`."""
    count = len(rows)
    out, targets = np.full((count, PACKED_BYTES), 7, np.uint8), np.full(count, 7)
    symmetries, keeps = np.broadcast_to(symmetry, count).astype(np.uint8), np.broadcast_to(keep, count).astype(np.uint8)
    packed_planes(*store, np.asarray(rows, np.int64), symmetries, keeps, out, targets)
    return out, targets


def turned(planes, symmetry):
    """(B, 26, 361) planes with every point moved to its image."""
    out = np.zeros_like(planes)
    out[..., SYMMETRY[symmetry]] = planes
    return out


def make_set(features, source, rows, symmetry=0, keep=5, dtype=np.uint8):
    """(planes (B, P, 361), targets (B,)) that `features` makes of rows of a source; symmetry and keep may be arrays."""
    count = len(rows)
    out, targets = np.full((count, len(computed_planes(features)), POINTS), 7, dtype), np.full(count, 7)
    symmetries, keeps = np.broadcast_to(symmetry, count).astype(np.uint8), np.broadcast_to(keep, count).astype(np.uint8)
    make_planes(features, source, np.asarray(rows, np.int64), symmetries, keeps, out, targets)
    return out, targets


def pack_set(features, source, rows, symmetry=0, keep=5):
    """(packed planes (B, bytes), targets (B,)), otherwise as `make_set`."""
    count = len(rows)
    out, targets = np.full((count, packed_bytes(features)), 7, np.uint8), np.full(count, 7)
    symmetries, keeps = np.broadcast_to(symmetry, count).astype(np.uint8), np.broadcast_to(keep, count).astype(np.uint8)
    pack_planes(features, source, np.asarray(rows, np.int64), symmetries, keeps, out, targets)
    return out, targets
