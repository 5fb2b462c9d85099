"""Moves, captures, ko and undo against drawn boards and against the slow board."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.board import Board
from gonn_core.go.ladder_search import make_workspace
from gonn_core.go.points import BLACK, EMPTY, FROM_PADDED, PASS, POINTS, WHITE
from gonn_core.go.rules import BOTTOM, HEAD, LIBERTIES, NOWHERE, PADDED_POINT, clear_board, is_legal, play, take_back
from tests.boards import bitboards, named_points, parse_board
from tests.go import slow_board


def board_of(text: str, ko: int = -1) -> tuple[Board, dict[str, int]]:
    return Board(bitboards(parse_board(text)), ko), named_points(text)


def test_capturing_one_stone_by_a_lone_stone_in_atari_is_ko():
    board, at = board_of("""
    . O X .
    O a O X
    . O X .
    . . . .""")
    taken = 1 * 19 + 2
    board.play(at["a"], BLACK)
    assert board.ko == taken and board.colour(taken) == EMPTY
    assert not board.legal(taken, WHITE) and not board.legal(taken, BLACK)
    with pytest.raises(ValueError, match="illegal"):
        board.play(taken, WHITE)
    board.play(PASS, WHITE)
    assert board.ko == -1 and board.legal(taken, WHITE)


def test_capturing_two_stones_is_no_ko():
    board, at = board_of("""
    . . O X .
    . O a O X
    . . O X .""")
    board.play(at["a"], BLACK)
    assert board.ko == at["a"] + 1  # one stone: a ko
    board, at = board_of("""
    . . O X X .
    . O a O O X
    . . O X X .""")
    board.play(at["a"], BLACK)
    assert board.ko == -1 and board.liberties(at["a"]) == 1 and board.colour(at["a"] + 2) == EMPTY


def test_setup_chains_without_liberties_are_taken_off_together():
    board, _ = board_of("""
    O X .
    X X O
    O O .
    """)
    assert board.colour(0) == EMPTY and board.colour(1) == BLACK
    both, _ = board_of("\n".join(["X" * 19] * 9 + ["O" * 19] * 10))
    assert not both.colours().any()


@pytest.mark.parametrize("point", [-2, 361])
def test_points_off_the_board_are_errors(point):
    with pytest.raises(ValueError, match="0..360"):
        Board().colour(point)


corner_heavy_points = st.one_of(st.integers(0, POINTS - 1), st.integers(0, 24).map(lambda i: i // 5 * 19 + i % 5))


@settings(max_examples=40)
@given(st.lists(st.tuples(corner_heavy_points, st.sampled_from([BLACK, WHITE])), min_size=20, max_size=120))
def test_random_moves_agree_with_the_slow_board(moves):
    board, slow, ko = Board(), (EMPTY,) * POINTS, slow_board.NO_KO
    for p, colour in moves:
        after = slow_board.play(slow, ko, p, colour)
        assert board.legal(p, colour) == (after is not None)
        if after is None:
            continue
        slow, ko = after
        board.play(p, colour)
        assert board.ko == ko and board.colours().tolist() == list(slow)
        for q in range(POINTS):
            if slow[q] != EMPTY:
                stones, liberties = slow_board.chain_and_liberties(slow, q)
                assert board.liberties(q) == len(liberties) and board.chain(q) == sorted(stones)


def _picture(board) -> tuple:
    """Colours, and for each stone the stones of its head and its liberties."""
    padded = board.astype(int)
    heads = [padded[int(HEAD) + int(p)] if padded[int(p)] else 0 for p in PADDED_POINT]
    liberties = [padded[int(LIBERTIES) + head] if head else 0 for head in heads]
    return padded[PADDED_POINT].tolist(), heads, liberties


@settings(max_examples=40)
@given(st.lists(st.tuples(corner_heavy_points, st.sampled_from([BLACK, WHITE])), min_size=20, max_size=120))
def test_taking_back_restores_every_position(moves):
    work = make_workspace()
    clear_board(work.board)
    top, ko, history = BOTTOM, NOWHERE, []
    for p, colour in moves:
        p, colour = PADDED_POINT[p], np.uint64(colour)
        if is_legal(work.board, p, colour, np.uint64(ko)):
            history.append((top, _picture(work.board)))
            top, ko, _ = play(work.board, work.undo, np.uint64(top), p, colour)
    for height, picture in reversed(history):
        top = take_back(work.board, work.undo, np.uint64(top))
        assert top == height and _picture(work.board) == picture
    assert not work.board[PADDED_POINT].any() and FROM_PADDED[int(NOWHERE)] == -1
