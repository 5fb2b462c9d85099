"""go-NN's 21 planes, every bit, against its own feature writer; and what its toggles drop."""

import numpy as np
import pytest

from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.go.points import SYMMETRY
from gonn_core.records.build import GameSource, prepare_store
from tests.features.configs import GO_NN
from tests.features.helpers import make_set, turned
from tests.features.stores import known_planes
from tests.go import oracles

STARTER_21 = oracles.STARTER_ORACLE.with_name("oracle_gonn21_starter.npz")
KGS_21 = oracles.KGS_ORACLE.with_name("oracle_gonn21_go_nn_kgs2003.npz")


@pytest.fixture(scope="module")
def starter():
    return known_planes(STARTER_21, oracles.STARTER_GAMES, 21)


@pytest.fixture(scope="module")
def kgs():
    if not KGS_21.exists():
        pytest.skip(f"no {KGS_21.name} beside the repository")
    return known_planes(KGS_21, oracles.KGS_GAMES, 21)


@pytest.mark.parametrize("symmetry", range(8))
@pytest.mark.parametrize("games", ["starter", "kgs"])
def test_bit_for_bit(games, symmetry, request):
    known = request.getfixturevalue(games)
    planes, targets = make_set(GO_NN, known.source, known.rows, symmetry)
    assert np.array_equal(planes, turned(known.planes, symmetry))
    assert np.array_equal(targets, SYMMETRY[symmetry][known.moves])


SGF = "(;SZ[19]PB[a]PW[b]AB[aa][bb]AW[dd][cc]{more};W[ee];B[];W[ff];B[gg];W[hh];B[ii])"


def history(tmp_path, more=""):
    """Points (0 = first line) of the four history planes of each row of a small game, -1 for an empty plane."""
    (tmp_path / "game.sgf").write_text(SGF.replace("{more}", more))
    store = prepare_store([GameSource(tmp_path)], tmp_path / "stores")
    planes, _ = make_set(GO_NN, plane_source(store), np.arange(len(store)))
    first = plane_names(GO_NN).index("history_1")
    return [[int(plane.argmax()) // 20 if plane.any() else -1 for plane in row[first : first + 4]] for row in planes]


def test_setup_stones_are_history_in_file_order_and_passes_leave_their_planes_empty(tmp_path):
    rows = history(tmp_path)
    a, b, c, d, e, f, g, h, i = range(9)
    assert rows[:4] == [[c, d, b, a], [e, c, d, b], [-1, e, c, d], [f, -1, e, c]]
    assert rows[4:] == [[g, f, -1, e], [h, g, f, -1], [i, h, g, f]]


def test_a_stone_taken_off_is_no_move(tmp_path):
    rows = history(tmp_path, "AE[dd]")
    assert rows[:2] == [[2, 3, 1, 0], [4, 2, 3, 1]]  # the same four stones were put down


def test_fewer_kept_moves_keep_fewer_setup_stones(starter):
    rows = starter.rows[:200]
    full, _ = make_set(GO_NN, starter.source, rows)
    first = plane_names(GO_NN).index("history_1")
    for keep in range(5):
        some, _ = make_set(GO_NN, starter.source, rows, keep=keep)
        assert not some[:, first + keep : first + 4].any()
        some[:, first + keep : first + 4] = full[:, first + keep : first + 4]
        assert np.array_equal(some, full)
