"""The ladder cache may not change a bit: kept answers against fresh searches.

The oracles cannot see a wrong footprint (a wrong rule once passed all their rows and erred in 33 of 120,487 others), so
the long run here goes over fifty thousand positions of real games.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.ladder_search import REUSED, ladder_bits
from gonn_core.go.layout import KO
from gonn_core.go.points import BLACK, PASS, WHITE
from gonn_core.go.replay import make_workspace, replay_game
from tests.boards import colours_of, draw
from tests.go import slow_board
from tests.go.oracles import Game, kgs_games, replay, starter_games


def assert_equal_to_fresh_searches(rows) -> int:
    """Compares every row; returns how many there were."""
    work = make_workspace()
    compared = 0
    for first, count in zip(rows.row_offsets, rows.rows, strict=True):
        for row in range(first, first + count):
            fresh = ladder_bits(rows.stones[row], int(rows.moves[row, KO]), work)
            assert (fresh == rows.ladders[row]).all(), f"row {row}\n{draw(colours_of(rows.stones[row]))}"
            compared += 1
    return compared


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(5, 9))
def test_random_games_in_a_corner(seed, size):
    """Random moves and some passes in a corner: many captures, kos and chains that die and come back."""
    random = np.random.default_rng(seed)
    board, ko, colour = (0,) * 361, -1, BLACK
    moves, colours = [], []
    for _ in range(150):
        choice = [int(row) * 19 + int(col) for row, col in random.integers(0, size, (12, 2))]
        after = None
        for p in choice:
            after = slow_board.play(board, ko, p, colour)
            if after is not None:
                break
        if after is None or random.random() < 0.03:
            p, after = PASS, (board, -1)
        board, ko = after
        moves.append(p)
        colours.append(colour)
        colour = BLACK + WHITE - colour
    game = Game(np.array([], np.int16), np.array(moves, np.int16), np.array(colours, np.uint8))
    assert assert_equal_to_fresh_searches(replay([game])) == len(moves) + 1


def test_most_answers_are_kept():
    game = next(iter(starter_games({"gnugo-1-00001.sgf"}).values()))
    work, room = make_workspace(), len(game.moves) + 1
    outs = [np.zeros((room, width), dtype) for width, dtype in ((12, np.uint64), (6, np.uint64), (4, np.int16))]
    replay_game(game.setup, game.moves, game.colours, *outs, True, work)
    assert work.counters[REUSED] > 2 * room


@pytest.mark.slow
def test_many_real_positions():
    assert assert_equal_to_fresh_searches(replay(kgs_games(320))) >= 50_000
