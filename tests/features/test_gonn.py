"""GoNN's planes of stones, liberties, ko and ladders against a slow reference implementation; golden numbers."""

import hashlib
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core import numerics
from gonn_core.features.source import Position, position_rows
from gonn_core.go.layout import FLAGS, HANDICAP_MOVE, MOVE
from gonn_core.go.points import POINTS
from tests.boards import bitboard, bitboards
from tests.features.configs import GONN
from tests.features.helpers import make, pack_set, source_of, turned
from tests.features.slow_planes import slow_planes_of_row
from tests.go import oracles


@st.composite
def _random_rows(draw):
    """Store arrays of a few random boards: any density, clumped or scattered, dead chains too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    empty_share = draw(st.sampled_from([0.02, 0.1, 0.2, 0.35, 0.6, 0.9]))
    positions = []
    for _ in range(3):
        colours = rng.choice(3, POINTS, p=[empty_share, *rng.dirichlet((3, 3)) * (1 - empty_share)]).reshape(19, 19)
        for _ in range(rng.integers(0, 3)):  # let stones take the colour of a neighbour: larger chains
            takes = rng.random((19, 19)) < 0.4
            colours = np.where(takes, np.roll(colours, rng.choice([-1, 1]), rng.integers(0, 2)), colours)
        ladders = bitboard(np.flatnonzero(rng.random(POINTS) < 0.1))
        stones = bitboards(colours.reshape(-1).astype(np.uint8))
        history = tuple(rng.integers(-1, POINTS, rng.integers(0, 7)).tolist())
        positions.append(Position(stones, int(rng.integers(1, 3)), int(rng.integers(-1, POINTS)), history, ladders))
    return position_rows(positions)


@settings(max_examples=20)
@given(_random_rows(), st.integers(0, 7), st.integers(0, 5))
def test_equals_the_reference_on_random_boards(arrays, symmetry, keep):
    *store, rows = arrays
    slow = np.stack([slow_planes_of_row(*store, int(row), keep) for row in rows])
    assert np.array_equal(make(store, rows, symmetry, keep)[0], turned(slow, symmetry))


def _store_of(games):
    """(store arrays, the rows that hold a position) of replayed games."""
    replayed = oracles.replay(games)
    written = np.concatenate(
        [np.arange(first, first + count) for first, count in zip(replayed.row_offsets, replayed.rows, strict=True)]
    )
    return (replayed.stones, replayed.ladders, replayed.moves), written


@cache
def _starter_store():
    return _store_of(list(oracles.starter_games(most=120).values()))


def _assert_equals_the_reference(store, written, count):
    rng = np.random.default_rng(1)
    rows, keep = rng.choice(written, count, replace=False), rng.integers(0, 6, count)
    slow = np.stack([slow_planes_of_row(*store, int(row), k) for row, k in zip(rows, keep, strict=True)])
    assert np.array_equal(make(store, rows, keep=keep)[0], slow)


def test_equals_the_reference_on_rows_of_real_games():
    _assert_equals_the_reference(*_starter_store(), 150)


@pytest.mark.slow
def test_equals_the_reference_on_rows_of_kgs_games():
    _assert_equals_the_reference(*_store_of(oracles.kgs_games(200)), 400)


GOLDEN = {1: "d39d400fd9166c36af69eb96c74975c3a31f4010049c278900bc32abfe124c72"}
"""sha256 over the packed planes and targets of 50 fixed positions, by numerics version."""


def test_golden_planes():
    """When this fails and the new planes are right, raise gonn_core.numerics.FEATURES and add a line to GOLDEN."""
    store, written = _starter_store()
    sample = written[(store[2][written, MOVE] >= 0) & (store[2][written, FLAGS] & HANDICAP_MOVE == 0)]
    rows = sample[np.arange(50) * 7919 % len(sample)]
    packed, targets = pack_set(GONN, source_of(store), rows, np.arange(50) % 8, np.arange(50) % 6)
    digest = hashlib.sha256(packed.tobytes() + targets.astype("<i8").tobytes()).hexdigest()
    assert digest == GOLDEN[numerics.FEATURES]
