"""Every bit of GoNN's own planes, from the games alone: replay, ladders, planes, under all eight symmetries."""

import numpy as np
import pytest

from gonn_core.go.layout import MOVE
from gonn_core.go.points import SYMMETRY
from tests.features.helpers import make, make_packed, turned
from tests.go import oracles


def _replayed(path, games):
    """(oracle, store arrays, indices of its rows) of an oracle's games, named in its order."""
    oracle = oracles.load_oracle(path)
    rows = oracles.replay([games[name] for name in oracle.files])
    index = oracles.sample_rows(rows)
    assert np.array_equal(rows.moves[index, MOVE], oracle.move)
    return oracle, (rows.stones, rows.ladders, rows.moves), index


@pytest.fixture(scope="module")
def starter():
    oracle = oracles.load_oracle(oracles.STARTER_ORACLE)
    return _replayed(oracles.STARTER_ORACLE, oracles.starter_games(set(oracle.files)))


@pytest.mark.parametrize("symmetry", range(8))
def test_starter_games_bit_for_bit(starter, symmetry):
    oracle, store, index = starter
    planes, targets = make(store, index, symmetry)
    assert np.array_equal(planes, turned(oracle.planes, symmetry))
    assert np.array_equal(targets, SYMMETRY[symmetry][oracle.move])


@pytest.mark.parametrize("symmetry", range(8))
def test_kgs_games_bit_for_bit(symmetry, kgs):
    oracle, store, index = kgs
    planes, targets = make(store, index, symmetry)
    assert np.array_equal(planes, turned(oracle.planes, symmetry))
    assert np.array_equal(targets, SYMMETRY[symmetry][oracle.move])


@pytest.fixture(scope="module")
def kgs():
    if not oracles.KGS_ORACLE.exists():
        pytest.skip(f"no {oracles.KGS_ORACLE.name} beside the repository")
    names = oracles.load_oracle(oracles.KGS_ORACLE).files
    return _replayed(
        oracles.KGS_ORACLE, {name: oracles.read_sgf((oracles.KGS_GAMES / name).read_bytes()) for name in names}
    )


def test_all_kinds_of_output_agree(starter):
    """float32, uint8 and packed bits; (B, 26, 19, 19) and (B, 26, 361); arrays and read-only maps."""
    oracle, store, index = starter
    rng = np.random.default_rng(0)
    symmetry, keep = rng.integers(0, 8, len(index)), rng.integers(0, 6, len(index))
    planes, targets = make(store, index, symmetry, keep)
    numbers, number_targets = make(store, index, symmetry, keep, np.float32)
    assert np.array_equal(numbers, planes) and np.array_equal(number_targets, targets)
    packed, packed_targets = make_packed(store, index, symmetry, keep)
    assert np.array_equal(packed, np.packbits(planes.reshape(len(planes), -1), axis=1))
    assert np.array_equal(packed_targets, targets)


def test_works_on_read_only_maps(starter, tmp_path):
    _, store, index = starter
    maps = []
    for k, array in enumerate(store):
        np.save(tmp_path / f"{k}.npy", array)
        maps.append(np.load(tmp_path / f"{k}.npy", mmap_mode="r"))
    assert np.array_equal(make(maps, index)[0], make(store, index)[0])
