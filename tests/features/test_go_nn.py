"""go-NN's 21 planes, every bit, against its own feature writer; and what its toggles drop."""

import numpy as np
import pytest

from gonn_core.go.points import SYMMETRY
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
