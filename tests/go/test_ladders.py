"""Ladder bits against drawn ladders, published positions and the slow recursive solver."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gonn_core.go.board import Board
from gonn_core.go.ladder_search import CAPPED, NODES, find_ladders, ladder_bits, make_workspace
from gonn_core.go.layout import KO
from gonn_core.go.points import BLACK, EMPTY, WHITE
from gonn_core.go.rules import NOWHERE, PADDED_POINT, set_up
from tests.boards import bitboards, colours_of, named_points, parse_board, points_of
from tests.go import slow_board
from tests.go.oracles import replay, starter_games


def ladders_of(text: str, ko: int = -1) -> set[int]:
    return points_of(ladder_bits(bitboards(parse_board(text)), ko))


def test_the_first_attacking_move_obeys_the_ko_ban():
    text = """
    X X X O .
    X O a X O
    X X b O .
    . . X . .
    """
    at = named_points(text)
    board = parse_board(text)
    for ko in (-1, at["a"], at["b"]):
        got = ladders_of(text, ko)
        assert got == slow_board.ladder_points(board, ko)
        assert ko not in got


@pytest.fixture(scope="module")
def starter_rows():
    games = list(starter_games({"gnugo-1-00007.sgf", "gnugo-2-00011.sgf", "gnugo-2-00030.sgf"}).values())
    assert games
    return replay(games)


def test_real_positions_agree_with_the_slow_solver(starter_rows):
    """Every ninth position of a few games, ladders deep and short."""
    asked = 0
    for row in range(0, len(starter_rows.moves), 9):
        try:
            slow = slow_board.ladder_points(
                colours_of(starter_rows.stones[row]), int(starter_rows.moves[row, KO]), 2000
            )
        except slow_board.TooLong:
            continue
        asked += 1
        assert points_of(starter_rows.ladders[row]) == slow
    assert asked > 40


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 0.7))
def test_random_crowded_corners_agree_with_the_slow_solver(seed, density):
    """Random stones in a corner of 8x8: kos, snapbacks, throw-ins and captures on the way that games seldom show."""
    random = np.random.default_rng(seed)
    corner = np.where(random.random((8, 8)) < density, random.integers(1, 3, (8, 8)), EMPTY)
    colours = np.zeros((19, 19), np.uint8)
    colours[:8, :8] = corner
    colours[8, ::2], colours[9, 1::2] = BLACK, WHITE
    board = Board(bitboards(colours.reshape(-1)))
    empty = np.flatnonzero(board.colours() == EMPTY)
    ko = int(random.choice(empty)) if random.random() < 0.5 else -1
    try:
        slow = slow_board.ladder_points(board.colours(), ko, 4000)
    except slow_board.TooLong:
        assume(False)
    assert points_of(ladder_bits(board.stones(), ko)) == slow


def test_search_leaves_the_board_as_it_was(starter_rows):
    work = make_workspace()
    out = np.zeros(6, np.uint64)
    for row in range(0, len(starter_rows.moves), 25):
        stones = starter_rows.stones[row]
        set_up(work.board, work.undo, stones)
        before = work.board[PADDED_POINT].copy()
        find_ladders(work, stones, NOWHERE, out)
        assert (work.board[PADDED_POINT] == before).all()
        find_ladders(work, stones, NOWHERE, again := np.zeros(6, np.uint64))
        assert (again == out).all()


def test_a_capped_search_escapes_and_is_counted():
    text = """
    X X X . . .
    X O O . . .
    . X . . . .
    """
    stones = bitboards(parse_board(text))
    free, capped = make_workspace(), make_workspace(node_limit=10)
    assert points_of(ladder_bits(stones, workspace=free)) >= {20, 21}
    assert free.counters[CAPPED] == 0 and free.counters[NODES] > 40
    assert not points_of(ladder_bits(stones, workspace=capped)) & {20, 21}
    assert capped.counters[CAPPED] > 0
    assert (capped.board[PADDED_POINT] == parse_board(text)).all()
