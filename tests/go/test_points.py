"""Points, names and symmetries."""

import numpy as np
import pytest

from gonn_core.go.jit import lowest_bit
from gonn_core.go.points import PASS, POINTS, SYMMETRY, point, point_name
from tests.go import slow_board


def test_names_there_and_back():
    assert point("A19") == 0 and point("T1") == 360 and point("q16") == 3 * 19 + 15
    assert all(point(point_name(p)) == p for p in range(POINTS)) and point_name(PASS) == "pass"


@pytest.mark.parametrize("name", ["", "I5", "A0", "A20", "U3", "Q", "Q-4", "Q 4"])
def test_bad_names_are_errors(name):
    with pytest.raises(ValueError, match="A1 .. T19"):
        point(name)


def test_symmetries_are_permutations_that_keep_neighbours():
    for symmetry in range(8):
        image = SYMMETRY[symmetry]
        assert sorted(image) == list(range(POINTS))
        assert any((back[image] == np.arange(POINTS)).all() for back in SYMMETRY)
        for p in range(POINTS):
            assert {int(image[q]) for q in slow_board.neighbours(p)} == set(slow_board.neighbours(int(image[p])))
    assert (SYMMETRY[0] == np.arange(POINTS)).all() and len({tuple(image) for image in SYMMETRY}) == 8


def test_lowest_bit():
    from gonn_core.go.jit import numba

    call = numba.njit(lambda word: lowest_bit(word))
    assert [call(np.uint64(1) << np.uint64(i)) for i in range(64)] == list(range(64))
    assert call(np.uint64(0b101000)) == 3
