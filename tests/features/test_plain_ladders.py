"""Cazenave's ladder planes against the plain kernel that tries every legal move: all marks, and node for node the same
searches, so that their limit decides the same."""

from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.plain_ladders import mark_ladders_plainly
from gonn_core.features.cazenave_ladders import PLANES, make_workspaces, mark_ladders
from gonn_core.features.marks import ROOM
from gonn_core.features.source import plane_source
from gonn_core.go.layout import FLAGS, KO, WHITE_TO_MOVE
from gonn_core.go.points import POINTS
from tests.boards import bitboards
from tests.trial.helpers import starter_data

POSITIONS = 600


def thrown_boards(count: int):
    """Boards of stones thrown at random, thin to full, some with a ko point."""
    generator = np.random.default_rng(0)
    stones, moves = np.zeros((count, 12), np.uint64), np.zeros((count, 4), np.int16)
    for row in range(count):
        share = generator.uniform(0.05, 0.95)
        board = np.where(generator.random(POINTS) < share, generator.integers(1, 3, POINTS), 0)
        stones[row] = bitboards(board)
        empty = np.flatnonzero(board == 0)
        moves[row, KO] = generator.choice(empty) if len(empty) and row % 3 == 0 else -1
        moves[row, FLAGS] = WHITE_TO_MOVE * (row % 2)
    return plane_source(SimpleNamespace(stones=stones, ladders=np.zeros((count, 6), np.uint64), moves=moves))


def marks_of(mark, source, rows, symmetries):
    work = make_workspaces()
    marks, counts = np.zeros((len(rows), ROOM), np.uint16), np.zeros(len(rows), np.int64)
    mark(source, rows, symmetries, np.arange(PLANES) * POINTS, *work, marks, counts)
    return [np.sort(row[:count]) for row, count in zip(marks, counts, strict=True)], work[0].counters


@pytest.mark.system
@pytest.mark.parametrize("kind", ["games", "thrown boards"])
def test_the_moves_left_out_do_not_matter(kind):
    source = plane_source(starter_data().store) if kind == "games" else thrown_boards(POSITIONS)
    generator = np.random.default_rng(1)
    rows = generator.integers(0, len(source.stones), POSITIONS) if kind == "games" else np.arange(POSITIONS)
    symmetries = generator.integers(0, 8, POSITIONS).astype(np.uint8)
    marks, searched = marks_of(mark_ladders, source, rows, symmetries)
    plain, plainly = marks_of(mark_ladders_plainly, source, rows, symmetries)
    assert all(np.array_equal(*pair) for pair in zip(marks, plain, strict=True))
    assert searched.tolist() == plainly.tolist() and searched[0] > 10_000
