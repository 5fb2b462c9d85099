"""Ladder bits against drawn ladders, published positions and the slow recursive solver."""

import json

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gonn_core.go.board import Board
from gonn_core.go.ladder_search import find_ladders, ladder_bits
from gonn_core.go.layout import FLAGS, KO, LAST
from gonn_core.go.points import BLACK, EMPTY, POINTS, SYMMETRY, WHITE, point
from gonn_core.go.rules import NOWHERE, PADDED_POINT
from gonn_core.go.setup import set_up
from gonn_core.go.workspace import CAPPED, NODES, make_workspace
from tests.boards import bitboards, colours_of, marked_points, named_points, parse_board, points_of
from tests.go import slow_board
from tests.go.oracles import REPOSITORY, pack_bits, replay, starter_games, unpack_bits

POSITIONS = json.loads((REPOSITORY / "tests" / "fixtures" / "gonn_positions.json").read_text())


def ladders_of(text: str, ko: int = -1) -> set[int]:
    return points_of(ladder_bits(bitboards(parse_board(text)), ko))


def test_a_stone_in_atari_that_can_run_escapes():
    assert (
        ladders_of("""
    . . . . . .
    . . X . . .
    . X O b . .
    . . X . . .
    """)
        == set()
    )  # White plays b and has three liberties


def test_ladder_towards_the_edge_works():
    text = """
    . . . . . .
    . . . . . .
    . X X . . .
    X O O a . .
    X X b . . .
    """
    # White has two liberties; from either of them Black may start, only some first moves work: ask the slow solver
    board = parse_board(text)
    assert ladders_of(text) == slow_board.ladder_points(board, -1) != set()


def test_a_ladder_breaker_saves_the_chain():
    ladder = [
        "X X X . . . . . . . . . . . . . . . .",
        "X O O . . . . . . . . . . . . . . . .",
        ". X . . . . . . . . . . . . . . . . .",
    ] + [". . . . . . . . . . . . . . . . . . ."] * 16
    free = "\n".join(ladder)
    broken = [row.split() for row in ladder]
    for row, col in ((10, 10), (10, 11), (11, 10), (9, 9), (8, 8)):
        broken[row][col] = "O"
    broken = "\n".join(" ".join(row) for row in broken)
    chain = {20, 21}
    assert chain <= ladders_of(free)
    assert not chain & ladders_of(broken)
    for text in (free, broken):
        assert ladders_of(text) == slow_board.ladder_points(parse_board(text), -1)


def test_capturing_an_attacker_in_atari_saves_the_chain():
    dies = """
    . X b X .
    X O a X .
    . X X . .
    """  # O runs to a, where b is its last liberty
    lives = """
    . O O . .
    O X b X .
    X O a X .
    . X X . .
    """  # now b captures the X above O
    assert 1 * 19 + 1 in ladders_of(dies)
    assert 2 * 19 + 1 not in ladders_of(lives)
    for text in (dies, lives):
        assert ladders_of(text) == slow_board.ladder_points(parse_board(text), -1)


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


def test_chains_without_liberties_are_ignored():
    assert (
        ladders_of("""
    O X .
    X . .
    """)
        == set()
    )


def test_marks_are_read_from_drawings():
    assert marked_points("a . a\n. b .", "a") == {0, 2}


@pytest.mark.parametrize("name", sorted(POSITIONS))
def test_published_positions(name):
    """Planes 23 to 25 of the documents' test positions (spec: gonn_positions.json)."""
    position = POSITIONS[name]
    colours = np.zeros(POINTS, np.uint8)
    colours[[point(p) for p in position["black"]]] = BLACK
    colours[[point(p) for p in position["white"]]] = WHITE
    ko = point(position["ko"]) if position["ko"] else -1
    board = Board(bitboards(colours), ko)
    marked = points_of(board.ladders())
    planes = ("ladder_atari_plane23", "ladder_twolib_plane24", "ladder_workingmove_plane25")
    atari, two, moves = ({point(p) for p in position[plane]} for plane in planes)
    assert {p for p in marked if board.liberties(p) == 1} == atari
    assert {p for p in marked if board.liberties(p) == 2} == two
    assert {p for p in marked if colours[p] == EMPTY} == moves


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


def test_symmetric_positions_have_symmetric_ladders(starter_rows):
    rows = np.arange(0, len(starter_rows.moves), 7)
    ladders = unpack_bits(starter_rows.ladders[rows])
    stones = [unpack_bits(starter_rows.stones[rows][:, 6 * side : 6 * side + 6]) for side in range(2)]
    for symmetry in range(8):
        source = np.argsort(SYMMETRY[symmetry])
        turned = np.concatenate([pack_bits(side[:, source]) for side in stones], axis=1)
        want = pack_bits(ladders[:, source])
        for i, row in enumerate(rows):
            ko = int(starter_rows.moves[row, KO])
            got = ladder_bits(turned[i], int(SYMMETRY[symmetry][ko]) if ko >= 0 else -1)
            assert (got == want[i]).all()


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


def test_last_rows_have_ladders_too(starter_rows):
    last = np.flatnonzero(starter_rows.moves[:, FLAGS] & LAST)
    for row in last:
        want = ladder_bits(starter_rows.stones[row], int(starter_rows.moves[row, KO]))
        assert (starter_rows.ladders[row] == want).all()
