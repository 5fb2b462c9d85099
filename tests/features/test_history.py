"""The five history planes: whose moves they are, where they stop, what passes and dropping do (spec: GoNN 1.3,
ORACLES)."""

import numpy as np

from gonn_core.go.layout import FIRST, FLAGS, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, WORDS, point
from tests.features.helpers import make
from tests.go.oracles import Game, replay


def _play(*games):
    """Store arrays of games given as texts like "B Q16, W D4, B pass"; `setup` codes may come first in a pair."""
    built = []
    for text in games:
        colours, names = zip(*(move.split() for move in text.split(", ")), strict=True)
        moves = [PASS if name == "pass" else point(name) for name in names]
        sides = [BLACK if colour == "B" else WHITE for colour in colours]
        built.append(Game(np.zeros(0, np.int16), np.array(moves, np.int16), np.array(sides, np.uint8)))
    rows = replay(built)
    return (rows.stones, rows.ladders, rows.moves), rows.row_offsets, rows.rows


def _history(store, row, keep=5):
    """The planes history_1 … history_5 of a row as point names, "-" for an empty one."""
    planes, _ = make(store, [row], keep=keep)
    names = {point(f"{column}{line}"): f"{column}{line}" for column in "ABCDEFGHJKLMNOPQRST" for line in range(1, 20)}
    points = [np.flatnonzero(plane) for plane in planes[0, 18:23]]
    assert all(len(p) <= 1 for p in points)
    return " ".join(names[p[0]] if len(p) else "-" for p in points)


def test_a_pass_leaves_its_plane_empty_and_does_not_stop_the_chain():
    store, _, _ = _play("B Q16, W D4, B pass, W D16, B C3, W pass")
    assert _history(store, 3) == "- D4 Q16 - -"
    assert _history(store, 5) == "C3 D16 - D4 Q16"
    assert _history(store, 6) == "- C3 D16 - D4"


def test_stops_before_the_first_row_whose_mover_breaks_alternation():
    """Rows made by hand: B, W, W, B, W, B to move. Looking back from the last, the second W breaks the order."""
    moves = np.zeros((6, 4), np.int16)
    moves[:, MOVE] = [10, 11, 12, 13, 14, 15]
    moves[:, 1] = -1
    moves[[1, 2, 4], FLAGS] = WHITE_TO_MOVE
    moves[0, FLAGS] |= FIRST
    store = np.zeros((6, 2 * WORDS), np.uint64), np.zeros((6, WORDS), np.uint64), moves
    planes, _ = make(store, [5])
    assert [np.flatnonzero(plane).tolist() for plane in planes[0, 18:23]] == [[14], [13], [12], [], []]


def test_targets_are_the_moves_and_none_for_passes_and_the_last_row():
    store, _, _ = _play("B Q16, W pass, B Q4")
    for symmetry in range(8):
        planes, targets = make(store, range(4), symmetry)
        assert targets[1] == targets[3] == -1 and 0 <= targets[0] < POINTS
        assert planes[1, 18, targets[0]] == 1  # the row after has the move, turned in the same way, in history_1
