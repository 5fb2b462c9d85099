"""The three sets other than gonn: a slow reference implementation, symmetry, packed bits, golden numbers, arguments."""

import hashlib
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings

from gonn_core import numerics
from gonn_core.features.planes import make_planes, packed_bytes
from gonn_core.features.sets import LADDER_PLANES, plane_names
from gonn_core.features.source import PlaneSource, Position, plane_source, position_rows
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE
from gonn_core.go.points import BLACK, SYMMETRY
from tests.features.configs import CAZENAVE, CLARK, GO_NN, GONN
from tests.features.helpers import make_set, pack_set, turned
from tests.features.slow_sets import slow_set
from tests.features.stores import open_games, sample_rows
from tests.features.test_gonn import _random_rows
from tests.go import oracles

NO_LADDERS = CAZENAVE.model_copy(update={"ladders": False})
PLAIN = CLARK.model_copy(update={"liberties": 0, "edge": "none"})
GO_NN_3 = GO_NN.model_copy(update={"liberties": 3})
OTHERS = {"gonn": GONN, "go_nn": GO_NN, "clark": CLARK, "cazenave": CAZENAVE}


@pytest.fixture(scope="module")
def starter(tmp_path_factory):
    """Source and samples of games bundled first, those with a ko point and from the first moves well represented."""
    store = open_games(oracles.first_games(tmp_path_factory.mktemp("starter")))
    samples = sample_rows(store)
    rng = np.random.default_rng(0)
    with_ko, early = samples[store.moves[samples, KO] >= 0], store.games["first_row"][:200]
    rows = np.concatenate([rng.choice(samples, 200), rng.choice(with_ko, 60), early])
    return plane_source(store), rng.permutation(rows)


def assert_equals_the_reference(features, source, rows, keep):
    planes, _ = make_set(features, source, rows, keep=keep)
    for j, row in enumerate(rows):
        slow = slow_set(features, source, int(row), min(int(keep[j]), features.history))
        for name, plane in zip(plane_names(features), planes[j], strict=True):
            assert set(np.flatnonzero(plane).tolist()) == slow.get(name, set()), (name, int(row))


@pytest.mark.parametrize("features", [GO_NN, GO_NN_3, CLARK, PLAIN, NO_LADDERS], ids=str)
def test_equals_the_reference_on_real_positions(features, starter):
    source, rows = starter
    assert_equals_the_reference(features, source, rows[:80], np.arange(80) % 6)


@pytest.mark.parametrize("features", [GO_NN, CLARK, NO_LADDERS], ids=lambda features: features.set)
@given(arrays=_random_rows())
@settings(max_examples=6)
def test_equals_the_reference_on_random_boards(features, arrays):
    assert_equals_the_reference(features, plane_source(arrays), arrays.rows, np.full(len(arrays.rows), 5))


def test_ladder_planes_equal_the_reference(starter):
    source, rows = starter
    assert_equals_the_reference(CAZENAVE, source, rows[:12], np.full(12, 5))


@pytest.mark.slow
def test_ladder_planes_equal_the_reference_on_many_positions(starter):
    """Of each ladder plane four positions in which it is not empty, where the reference would see a point too many or
    too few: all eight planes of each are compared."""
    source, rows = starter
    rows = rows[12:200]
    planes, _ = make_set(CAZENAVE, source, rows)
    names = plane_names(CAZENAVE)
    chosen = [np.flatnonzero(planes[:, names.index(name)].any(1))[:4] for name in LADDER_PLANES]
    assert min(len(some) for some in chosen) == 4
    rows = rows[np.unique(np.concatenate(chosen))]
    assert_equals_the_reference(CAZENAVE, source, rows, np.full(len(rows), 5))


@pytest.mark.slow
def test_ladder_planes_equal_the_reference_in_ko_fights_of_people():
    if not oracles.KGS_GAMES.exists():
        pytest.skip(f"no {oracles.KGS_GAMES.name} next to the repository")
    store = open_games(oracles.KGS_GAMES)
    samples, rng = sample_rows(store), np.random.default_rng(4)
    rows = np.concatenate([rng.choice(samples[store.moves[samples, KO] >= 0], 6), rng.choice(samples, 2)])
    assert_equals_the_reference(CAZENAVE, plane_source(store), rows, np.full(8, 5))


def turned_source(source, rows, symmetry) -> PlaneSource:
    """The positions at `rows` turned, without their past."""

    def turn(words):
        bits = oracles.unpack_bits(words)
        out = np.zeros_like(bits)
        out[:, SYMMETRY[symmetry]] = bits
        return oracles.pack_bits(out)

    moves = source.moves[rows].copy()
    moves[:, FLAGS] |= FIRST
    for column in (KO, MOVE):
        there = moves[:, column] >= 0
        moves[there, column] = SYMMETRY[symmetry][moves[there, column]]
    stones = np.concatenate([turn(source.stones[rows, :6]), turn(source.stones[rows, 6:])], axis=1)
    return plane_source(SimpleNamespace(stones=stones, ladders=turn(source.ladders[rows]), moves=moves))


@pytest.mark.parametrize("name", OTHERS)
def test_turning_the_position_turns_the_planes(name, starter):
    """No direction of the board is special; and the symmetry asked for is that turn."""
    source, rows = starter
    features, rows = OTHERS[name], rows[:20]
    plain, moves = make_set(features, source, rows, keep=0)
    for symmetry in range(1, 8):
        planes, targets = make_set(features, turned_source(source, rows, symmetry), np.arange(len(rows)), keep=0)
        asked, asked_targets = make_set(features, source, rows, symmetry, keep=0)
        assert np.array_equal(planes, turned(plain, symmetry)) and np.array_equal(asked, planes)
        assert np.array_equal(targets, SYMMETRY[symmetry][moves]) and np.array_equal(asked_targets, targets)


@pytest.mark.parametrize("name", OTHERS)
def test_numbers_and_packed_bits_agree(name, starter):
    source, rows = starter
    features, rows = OTHERS[name], rows[:50]
    symmetry, keep = rows % 8, rows % 6
    planes, targets = make_set(features, source, rows, symmetry, keep)
    numbers, number_targets = make_set(features, source, rows, symmetry, keep, np.float32)
    packed, packed_targets = pack_set(features, source, rows, symmetry, keep)
    assert (
        np.array_equal(numbers, planes)
        and np.array_equal(number_targets, targets)
        and np.array_equal(packed_targets, targets)
    )
    assert np.array_equal(packed, np.packbits(planes.reshape(len(planes), -1), axis=1))


@pytest.mark.parametrize(
    "full, change",
    [
        *(
            (GO_NN, change)
            for change in ({"liberties": 0}, {"history": 2}, {"ko": False}, {"ones": False}, {"captures": False})
        ),
        *((CLARK, change) for change in ({"history": 0}, {"ko": False}, {"edge": "none"}, {"edge": "as_opponent"})),
        *((CAZENAVE, {name: 0}) for name in ("liberties", "liberties_after", "history")),
        *((CAZENAVE, {name: False}) for name in ("ladders", "third_line", "zeros", "ko_flag", "ko", "ones")),
    ],
    ids=str,
)
def test_a_plane_is_the_same_whatever_others_there_are(full, change, starter):
    source, rows = starter
    fewer = full.model_copy(update=change)
    kept = [plane_names(full).index(name) for name in plane_names(fewer)]
    assert np.array_equal(make_set(fewer, source, rows[:15])[0], make_set(full, source, rows[:15])[0][:, kept])


GOLDEN = {
    ("go_nn", 1): "a805ee6702c950254b29a24518a7067fdc18c7f9cb06e4e371bd87b9eef2a203",
    ("clark", 1): "153e7f42c115fd32e998b83af8756c1fe8edd321bc06826a6bc176b2e265a1cc",
    ("cazenave", 1): "0f8face526b907a1a36edcfbaeecc8e40a53f16a571c58665995ad20419ba487",
}
"""sha256 over the packed planes and targets of 50 fixed positions, by set and numerics version."""


@pytest.mark.parametrize("features", [GO_NN, CLARK, CAZENAVE], ids=lambda features: features.set)
def test_golden_planes(features, tmp_path):
    """When this fails and the new planes are right, raise gonn_core.numerics.FEATURES and add a line to GOLDEN."""
    store = open_games(oracles.first_games(tmp_path))
    samples = sample_rows(store)
    rows = samples[np.arange(50) * 7919 % len(samples)]
    packed, targets = pack_set(features, plane_source(store), rows, np.arange(50) % 8, np.arange(50) % 6)
    digest = hashlib.sha256(packed.tobytes() + targets.astype("<i8").tobytes()).hexdigest()
    assert digest == GOLDEN[features.set, numerics.FEATURES]


@pytest.mark.parametrize(
    "name, value",
    [
        ("rows", np.array([0, 2])),
        ("symmetries", np.array([0, 8])),
        ("keep", np.array([6, 0])),
        ("keep", np.zeros(3, np.uint8)),
        ("out", np.zeros((2, 21, 19, 19))),
        ("out", np.zeros((2, 22, 361), np.float32)),
        ("out", np.zeros((2, 21, 361, 2), np.float32)[..., 0]),
        ("targets", np.zeros(2, np.int32)),
    ],
)
def test_wrong_arguments_are_refused_before_any_kernel_runs(name, value):
    arguments = {
        "rows": np.zeros(2, np.int64),
        "symmetries": np.zeros(2, np.uint8),
        "keep": np.zeros(2, np.uint8),
        "out": np.zeros((2, 21, 361), np.float32),
        "targets": np.zeros(2, np.int64),
    }
    source = plane_source(position_rows([Position(np.zeros(12, np.uint64), BLACK)] * 2))
    make_planes(GO_NN, source, **arguments)
    with pytest.raises(ValueError, match=f"^{name}: "):
        make_planes(GO_NN, source, **{**arguments, name: value})
    if name == "out":
        with pytest.raises(ValueError, match="^out: .* packed in uint8"):
            make_planes(GO_NN, source, **{**arguments, "out": np.zeros((2, packed_bytes(GO_NN) + 1), np.uint8)})


def test_a_source_of_other_arrays_is_refused():
    arrays = position_rows([Position(np.zeros(12, np.uint64), BLACK)])._asdict()
    with pytest.raises(ValueError, match="^ladders: "):
        plane_source(SimpleNamespace(**{**arrays, "ladders": np.zeros((3, 6), np.uint64)}))
    with pytest.raises(ValueError, match="^game: int64"):
        plane_source(SimpleNamespace(**arrays, game=np.zeros(1, np.int64)))
