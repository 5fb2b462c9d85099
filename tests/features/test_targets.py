"""Targets beside the move played, against games replayed slowly and ends of games drawn by hand."""

import numpy as np
import pytest

from gonn_core.features.final_owner import certain_owners
from gonn_core.features.targets import CENSORED_PLIES, NAMES, REMOVAL_BINS, SCORE_CLASSES, Targets
from gonn_core.go.layout import COMPLETE, FLAGS, KO, LAST, MOVE, PLY, RESULT_COUNTED, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, EMPTY, POINTS, SYMMETRY, WHITE
from tests.boards import bitboards, colours_of, parse_board, points_of
from tests.features.slow_sets import ladder_states
from tests.trial.helpers import starter_data

POINTWISE = ("illegal", "ladders", "next_occupant", "removal_time", "ownership")


@pytest.fixture(scope="module")
def store():
    return starter_data().store


@pytest.fixture(scope="module")
def rows(store):
    with_move = np.flatnonzero(store.moves[:, MOVE] >= 0)
    ends = np.flatnonzero(store.moves[:, FLAGS] & LAST) - 1
    return np.unique(
        np.concatenate([np.random.default_rng(0).choice(with_move, 60, replace=False), ends[:20], ends[:20] - 25])
    )


def made(store, rows, name, symmetry=0):
    return Targets(store, (name,)).make(rows, np.full(len(rows), symmetry, np.uint8))[name]


def mover(store, row):
    return WHITE if store.moves[row, FLAGS] & WHITE_TO_MOVE else BLACK


def end_of(store, row):
    return next(at for at in range(row, len(store.moves)) if store.moves[at, FLAGS] & LAST)


def is_censored(store, row):
    game = store.games[store.game[row]]
    return (
        not (game["result"] == RESULT_COUNTED and game["end"] == COMPLETE)
        and end_of(store, row) - row <= CENSORED_PLIES
    )


def test_illegal_points_are_stones_and_the_ko_point(store):
    kos = np.flatnonzero(store.moves[:, KO] >= 0)[:10]
    rows = np.concatenate([kos, kos + 1])
    for row, illegal in zip(rows, made(store, rows, "illegal"), strict=True):
        expected = set(np.flatnonzero(colours_of(store.stones[row]))) | (
            {int(store.moves[row, KO])} if store.moves[row, KO] >= 0 else set()
        )
        assert set(np.flatnonzero(illegal)) == expected


def test_ladders_are_the_stones_of_laddered_chains(store, rows):
    rows = rows[::8]
    for row, laddered in zip(rows, made(store, rows, "ladders"), strict=True):
        board = colours_of(store.stones[row])
        assert set(np.flatnonzero(laddered)) == {p for p in points_of(store.ladders[row]) if board[p] != EMPTY}
        assert set(np.flatnonzero(laddered)) <= ladder_states(board.tolist()) or store.moves[row, KO] >= 0


@pytest.mark.parametrize("further", [1, 2])
def test_future_moves(store, rows, further):
    targets = Targets(store, ("future",) * further).make(rows, np.zeros(len(rows), np.uint8))["future"]
    assert targets.shape == (len(rows), further)
    for row, found in zip(rows, targets, strict=True):
        expected = [
            int(store.moves[at, MOVE]) if at < end_of(store, row) else -1 for at in range(row + 1, row + 1 + further)
        ]
        assert [max(move, -1) for move in expected] == found.tolist()


def test_next_occupants(store, rows):
    for row, found in zip(rows, made(store, rows, "next_occupant"), strict=True):
        if is_censored(store, row):
            assert (found == -1).all()
            continue
        expected, before = np.zeros(POINTS, int), colours_of(store.stones[row])
        for at in range(row + 1, end_of(store, row) + 1):
            after = colours_of(store.stones[at])
            for p in np.flatnonzero((before == EMPTY) & (after != EMPTY)):
                expected[p] = expected[p] or (1 if after[p] == mover(store, row) else 2)
            before = after
        assert found.tolist() == expected.tolist()


def test_removal_times(store, rows):
    upper = [1, 2, 4, 8, 16, 32]
    for row, found in zip(rows, made(store, rows, "removal_time"), strict=True):
        if is_censored(store, row):
            assert (found == -1).all()
            continue
        start = colours_of(store.stones[row])
        expected = np.where(start == EMPTY, -1, len(REMOVAL_BINS) - 1)
        standing = {p for p in range(POINTS) if start[p] != EMPTY}
        turns = {BLACK: 0, WHITE: 0}
        for at in range(row, end_of(store, row)):
            turns[mover(store, at)] += 1
            after = colours_of(store.stones[at + 1])
            gone = {p for p in standing if after[p] == EMPTY}
            for p in gone:
                expected[p] = sum(turns[BLACK + WHITE - start[p]] > bound for bound in upper)
            standing -= gone
        assert found.tolist() == expected.tolist()


def test_values_and_moves_left(store, rows):
    for row, value, left in zip(rows, made(store, rows, "value"), made(store, rows, "moves_left"), strict=True):
        game = store.games[store.game[row]]
        assert value == (-1 if game["winner"] == 0 else int(game["winner"] == mover(store, row)))
        assert left == game["recorded_moves"] - store.moves[row, PLY]
        if game["end"] == COMPLETE:
            assert left == end_of(store, row) - row


def test_scores_are_classes_of_five_points_as_the_mover_sees_them(store, rows):
    bounds = [-95 + 5 * k for k in range(SCORE_CLASSES - 1)]  # the lower end of each class but the first
    found = made(store, rows, "score")
    for row, score in zip(rows, found, strict=True):
        game = store.games[store.game[row]]
        if game["result"] != RESULT_COUNTED:
            assert score == -1
            continue
        points = float(game["margin"]) * (1 if game["winner"] == mover(store, row) else -1)
        assert score == sum(points >= bound for bound in bounds)
    assert (found >= 0).any() and (found < 0).any()


def test_targets_turn_with_the_planes(store, rows):
    for name in POINTWISE:
        plain, turned = made(store, rows, name), made(store, rows, name, 6)
        assert np.array_equal(turned[:, SYMMETRY[6]], plain), name
    plain, turned = made(store, rows, "future"), made(store, rows, "future", 5)
    assert np.array_equal(turned, np.where(plain >= 0, SYMMETRY[5][plain], -1))


def test_ownership_is_the_movers_view_of_the_end(store, rows):
    owners = certain_owners(
        np.asarray(store.stones), np.array([end_of(store, row) for row in rows]), np.ones(len(rows), bool)
    )
    for row, found, owned in zip(rows, made(store, rows, "ownership"), owners, strict=True):
        game = store.games[store.game[row]]
        expected = np.full(POINTS, -1)
        if game["result"] == RESULT_COUNTED and game["end"] == COMPLETE:
            colours = colours_of(owned)
            expected = np.where(colours == EMPTY, -1, colours == mover(store, row))
        assert found.tolist() == expected.tolist()


def owned(text: str) -> tuple[set[int], set[int]]:
    words = certain_owners(bitboards(parse_board(text))[None], np.zeros(1, np.int64), np.ones(1, bool))[0]
    return points_of(words[:6]), points_of(words[6:])


TWO_EYES = """
. X . X O
X X X X O
O O O O O
"""
FALSE_EYE = """
. X O X .
X O O X X
O O X X O
. O O O O
"""
DEAD_INSIDE = """
. X . O . X O
X X X X X X O
O O O O O O O
"""
LARGE_REGION = """
. X . O . . X O
X X . . . . X O
O X X X X X X O
O O O O O O O O
"""


def test_two_eyes_live():
    black, white = owned(TWO_EYES)
    assert black == {0, 1, 2, 3, 19, 20, 21, 22}
    assert not white, "its only region is the rest of the board"


def test_one_real_eye_does_not_live():
    assert owned(FALSE_EYE)[0] == set()


def test_stones_in_a_small_region_are_the_owners():
    black, _ = owned(DEAD_INSIDE)
    assert {2, 3, 4} <= black, "all empty points beside the dead stone are Black's liberties"


def test_stones_in_a_large_region_leave_it_open():
    assert owned(LARGE_REGION)[0] == set()


def test_unknown_names_and_rows_are_refused(store):
    with pytest.raises(ValueError, match="valid are"):
        Targets(store, ("futures",))
    with pytest.raises(ValueError, match="out of range"):
        Targets(store, NAMES).make(np.array([len(store)]), np.zeros(1, np.uint8))
