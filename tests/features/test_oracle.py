"""Every bit of GoNN's and go-NN's planes against their own feature writers, from the games alone: replay, ladders,
planes, under symmetries; and what go-NN's toggles drop."""

import numpy as np
import pytest

from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.go.points import SYMMETRY
from gonn_core.records.build import GameSource, prepare_store
from tests.features.configs import GO_NN, GONN
from tests.features.helpers import make_set, turned
from tests.features.stores import known_planes
from tests.go import oracles

KNOWN = {
    "gonn starter": (GONN, oracles.STARTER_ORACLE, oracles.STARTER_GAMES, 26),
    "gonn kgs": (GONN, oracles.KGS_ORACLE, oracles.KGS_GAMES, 26),
    "go_nn starter": (GO_NN, oracles.STARTER_ORACLE.with_name("oracle_gonn21_starter.npz"), oracles.STARTER_GAMES, 21),
    "go_nn kgs": (GO_NN, oracles.KGS_ORACLE.with_name("oracle_gonn21_go_nn_kgs2003.npz"), oracles.KGS_GAMES, 21),
}


@pytest.mark.parametrize("name", KNOWN)
def test_bit_for_bit(name):
    features, oracle, games, planes = KNOWN[name]
    if not oracle.exists():
        pytest.skip(f"no {oracle.name} next to the repository")
    known = known_planes(oracle, games, planes)
    for symmetry in range(8):  # all rows as they are recorded, a seventh of them under each other symmetry
        some = slice(None) if symmetry == 0 else slice(symmetry, None, 7)
        made, targets = make_set(features, known.source, known.rows[some], symmetry)
        assert np.array_equal(made, turned(known.planes[some], symmetry))
        assert np.array_equal(targets, SYMMETRY[symmetry][known.moves[some]])


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
