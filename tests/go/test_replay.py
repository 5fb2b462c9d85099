"""Games to rows: bit for bit against GoNN's own planes, and the rules for handicap, passes and bad moves."""

import numpy as np
import pytest

from gonn_core.go.layout import (
    COMPLETE,
    FIRST,
    HANDICAP_MOVE,
    ILLEGAL_MOVE,
    LAST,
    MOVE,
    NONE,
    SAME_PLAYER,
    WHITE_TO_MOVE,
)
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from tests.boards import colours_of, named_points, parse_board
from tests.go.oracles import Game, replay, starter_games


def game_of(text: str, moves: str, setup: str = "") -> Game:
    """A game on a drawing of named points: `moves` as in "Ba Wb B-" (- is a pass), `setup` as in "Ba Wb .a"."""
    at = named_points(text)
    colour = {".": 0, "B": BLACK, "W": WHITE}
    points = [PASS if word[1] == "-" else at[word[1]] for word in moves.split()]
    return Game(
        np.array([colour[word[0]] * POINTS + at[word[1]] for word in setup.split()], np.int16),
        np.array(points, np.int16),
        np.array([colour[word[0]] for word in moves.split()], np.uint8),
    )


def rows_of(game: Game):
    """(rows as a list of (MOVE, KO, PLY, FLAGS), colours of each row, end)."""
    rows = replay([game])
    count = rows.rows[0]
    assert rows.moves[count - 1, MOVE] == NONE
    boards = [colours_of(stones) for stones in rows.stones[:count]]
    return [tuple(int(x) for x in row) for row in rows.moves[:count]], boards, int(rows.ends[0])


NAMES = """
a b c d
e f g h
i j k l
"""
AT = named_points(NAMES)


def test_moves_and_passes_are_rows():
    rows, boards, end = rows_of(game_of(NAMES, "Ba W- Bl"))
    assert end == COMPLETE
    assert rows == [
        (AT["a"], -1, 0, FIRST),
        (PASS, -1, 1, WHITE_TO_MOVE),
        (AT["l"], -1, 2, 0),
        (NONE, -1, 3, LAST | WHITE_TO_MOVE),
    ]
    assert (boards[3] == parse_board("X . . .\n. . . .\n. . . X")).all()


KO_SETUP = "Bb Be Bj Wc Wf Wh Wk"


def test_ko_stands_in_the_next_row_and_its_retake_ends_the_game():
    rows, boards, end = rows_of(game_of(NAMES, "Bg Wf", setup=KO_SETUP))
    assert (boards[0] == parse_board(". X O .\nX O . O\n. X O .")).all()
    assert rows[1] == (NONE, AT["f"], 1, LAST | WHITE_TO_MOVE) and end == ILLEGAL_MOVE and len(rows) == 2
    assert boards[1][AT["f"]] == 0


def test_a_pass_clears_the_ko():
    rows, _, end = rows_of(game_of(NAMES, "Bg W- B- Wf", setup=KO_SETUP))
    assert [row[1] for row in rows] == [-1, AT["f"], -1, -1, AT["g"]] and end == COMPLETE


@pytest.mark.parametrize("moves, rows_left", [("Ba Wa Bb", 2), ("Bb Wc Be Wa", 4)])
def test_occupied_points_and_suicide_end_the_game_before_them(moves, rows_left):
    rows, _, end = rows_of(game_of(NAMES, moves))
    assert end == ILLEGAL_MOVE and len(rows) == rows_left and rows[-1][2] == rows_left - 1


def test_a_second_move_in_a_row_ends_the_game_before_it():
    rows, boards, end = rows_of(game_of(NAMES, "Ba Wb Wc Bd"))
    assert end == SAME_PLAYER and [row[0] for row in rows] == [AT["a"], AT["b"], NONE]
    assert rows[-1] == (NONE, -1, 2, LAST) and boards[-1][AT["c"]] == 0


def test_black_moves_at_the_start_are_handicap():
    rows, boards, end = rows_of(game_of(NAMES, "Ba Bc Wd Be"))
    assert end == COMPLETE
    assert rows == [
        (AT["a"], -1, 0, FIRST | HANDICAP_MOVE),
        (AT["c"], -1, 1, HANDICAP_MOVE),
        (AT["d"], -1, 2, WHITE_TO_MOVE),
        (AT["e"], -1, 3, 0),
        (NONE, -1, 4, LAST | WHITE_TO_MOVE),
    ]
    assert boards[2][AT["a"]] == boards[2][AT["c"]] == BLACK


def test_an_illegal_handicap_move_is_skipped_but_counted():
    rows, _, end = rows_of(game_of(NAMES, "Ba Ba Bb Wc"))
    assert end == COMPLETE
    assert [(row[0], row[2]) for row in rows] == [(AT["a"], 0), (AT["b"], 2), (AT["c"], 3), (NONE, 4)]
    only = rows_of(game_of(NAMES, "Ba Ba"))
    assert [(row[0], row[2]) for row in only[0]] == [(AT["a"], 0), (NONE, 2)] and only[2] == COMPLETE


def test_later_setup_stones_overwrite_earlier_ones_and_dead_chains_go():
    _, boards, _ = rows_of(game_of(NAMES, "", setup="Ba Wa Bb .b Bc"))
    assert (boards[0] == parse_board("O . X .")).all()
    _, boards, _ = rows_of(game_of(NAMES, "", setup="Wa Bb Be"))
    assert (boards[0] == parse_board(". X . .\nX")).all()


def test_games_in_a_batch_do_not_touch_each_other():
    games = list(starter_games({f"gnugo-1-0000{i}.sgf" for i in range(1, 6)}).values())
    together = replay(games)
    for g, game in enumerate(games):
        alone = replay([game])
        span = slice(together.row_offsets[g], together.row_offsets[g] + together.rows[g])
        assert (alone.rows[0], alone.ends[0]) == (together.rows[g], together.ends[g])
        for one, other in zip(alone[:3], together[:3], strict=True):
            assert (one[: alone.rows[0]] == other[span]).all()


def test_without_ladders_the_rest_is_the_same():
    games = list(starter_games({f"gnugo-1-0000{i}.sgf" for i in range(1, 4)}).values())
    with_ladders, without = replay(games), replay(games, want_ladders=False)
    assert (with_ladders.stones == without.stones).all() and (with_ladders.moves == without.moves).all()
    assert with_ladders.ladders.any() and not without.ladders.any()
