"""Cazenave's ladder planes on drawn boards. X is to move unless said otherwise."""

import numpy as np

from gonn_core.features.sets import plane_names
from gonn_core.features.source import Position, plane_source, position_rows
from gonn_core.go.points import BLACK, WHITE
from tests.boards import bitboards, marked_points, parse_board
from tests.features.configs import CAZENAVE
from tests.features.helpers import make_set


def ladder_planes(drawing, mover=BLACK, ko=-1):
    """Points of each ladder plane of a drawn position, by name without `ladder_`."""
    position = Position(bitboards(parse_board(drawing)), mover, ko)
    arrays = position_rows([position])
    planes, _ = make_set(CAZENAVE, plane_source(arrays), arrays.rows)
    return {
        name.removeprefix("ladder_"): set(np.flatnonzero(plane).tolist())
        for name, plane in zip(plane_names(CAZENAVE), planes[0], strict=True)
        if name.startswith("ladder_")
    }


LADDER = """
    . . . . . . .
    . . . X . . .
    . . X O a . .
    . . X b . . .
    . . . . . . .
"""
"""The white stone has the liberties a and b. Black's atari at a drives it down, b to the right; the board is empty
there."""


def test_a_ladder_on_an_empty_board_works_from_both_sides():
    planes = ladder_planes(LADDER)
    assert planes["two_liberties"] == {2 * 19 + 3} and planes["atari"] == set()
    assert planes["capture"] <= marked_points(LADDER, "a") | marked_points(LADDER, "b") and planes["capture"]
    assert planes["escape"] == set()


def test_its_owner_escapes_by_running_or_by_a_ladder_breaker():
    planes = ladder_planes(LADDER, WHITE)
    assert planes["capture"] == set()  # it is not White who captures
    assert planes["escape"] >= marked_points(LADDER, "b")
    breakers = planes["escape"] - marked_points(LADDER, "a") - marked_points(LADDER, "b")
    assert breakers and max(breakers) // 19 > 8  # stones far down the diagonal
    for breaker in breakers:
        board = parse_board(LADDER)
        board[breaker] = WHITE
        arrays = position_rows([Position(bitboards(board), BLACK)])
        assert (
            make_set(CAZENAVE, plane_source(arrays), arrays.rows)[0][
                0, plane_names(CAZENAVE).index("ladder_two_liberties"), 2 * 19 + 3
            ]
            == 0
        )


def test_moves_into_atari_and_into_a_ladder_are_caught():
    drawing = """
        a O . .
        . . . .
        O . . .
    """
    planes = ladder_planes(drawing)
    assert planes["move_caught"] >= marked_points(drawing, "a")  # one liberty is left, and White takes
    assert planes["opponent_move_caught"].isdisjoint(marked_points(drawing, "a"))


def test_one_more_stone_threatens_a_ladder():
    """A white stone with three liberties: after an attachment that leaves two, a second black move catches it."""
    drawing = """
        . . . . . . .
        . . . a . . .
        . . X O . . .
        . . X . . . .
        . . . . . . .
    """
    planes = ladder_planes(drawing)
    assert planes["two_liberties"] == set() and planes["threat"] >= marked_points(drawing, "a")
    assert ladder_planes(drawing, WHITE)["opponent_threat"] >= marked_points(drawing, "a")


def test_a_stone_in_atari_at_the_edge_cannot_run():
    drawing = """
        . X O a .
        . . X . .
        . . . . .
    """
    planes = ladder_planes(drawing, WHITE)
    assert planes["atari"] == {2}
    assert planes["escape"] == set()
    assert planes["two_liberties"] == set()


def test_taking_a_ko_is_not_caught_at_once():
    """The stone that takes the ko has one liberty, but White may not take back. A banned point is no move."""
    drawing = """
        . X O . .
        X O a O .
        . X O . .
    """
    (a,) = marked_points(drawing, "a")
    assert a not in ladder_planes(drawing)["move_caught"]
    banned = ladder_planes(drawing, ko=a)
    assert all(a not in banned[name] for name in ("move_caught", "capture", "escape", "threat"))
