"""The planes about stones, liberties, ko and ladders: drawn boards, a slow twin, symmetry, bad arguments, golden
numbers."""

import hashlib
import itertools
import tarfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core import numerics
from gonn_core.features.gonn import PACKED_BYTES, PLANE_NAMES, PLANES, gonn_planes, packed_planes
from gonn_core.features.source import Position, position_rows
from gonn_core.go.layout import FLAGS, HANDICAP_MOVE, MOVE
from gonn_core.go.points import BLACK, POINTS, SYMMETRY, WHITE
from tests.boards import bitboard, bitboards, marked_points, parse_board
from tests.features.helpers import make, make_packed, turned
from tests.features.slow_planes import slow_planes_of_row
from tests.go import oracles

NO_LADDERS = np.zeros(6, np.uint64)


def _planes(drawing, mover=BLACK, ladders=NO_LADDERS):
    """(26, 361) planes of a drawn position, by name."""
    *store, rows = position_rows([Position(bitboards(parse_board(drawing)), mover, ladders=ladders)])
    return dict(zip(PLANE_NAMES, make(store, rows)[0][0], strict=True))


def _points(plane):
    return set(np.flatnonzero(plane).tolist())


def test_names():
    assert PLANES == 26 and PACKED_BYTES == 1174 and len(set(PLANE_NAMES)) == 26
    assert (
        PLANE_NAMES[11] == "own_liberties_after_1"
        and PLANE_NAMES[22] == "history_5"
        and PLANE_NAMES[25] == "ladder_moves"
    )


def test_empty_board():
    planes = _planes("")
    assert planes["on_board"].all()
    assert {name for name, plane in planes.items() if plane.any()} == {
        "on_board",
        *(f"{side}_liberties_after_{k}" for side in ("own", "opponent") for k in (2, 3)),
    }
    assert _points(planes["own_liberties_after_2"]) == {0, 18, 342, 360}
    assert planes["opponent_liberties_after_3"].sum() == 4 * 17


def test_stones_are_seen_from_the_side_to_move():
    drawing = "X O\n. X"
    black, white = _planes(drawing), _planes(drawing, WHITE)
    assert _points(black["own_stone"]) == _points(white["opponent_stone"]) == {0, 20}
    assert _points(black["opponent_stone"]) == _points(white["own_stone"]) == {1}


def test_liberties_mark_whole_chains_and_end_at_four():
    planes = _planes("""
        X X O . X . . . .
        O O . . . . . . .
        . . . X . . X X .
        . . O O . . . . .
    """)
    assert _points(planes["own_liberties_1"]) == set()
    assert _points(planes["own_liberties_3"]) == {4, 2 * 19 + 3}
    assert _points(planes["opponent_liberties_2"]) == {2}
    assert _points(planes["opponent_liberties_3"]) == {19, 20}
    assert _points(planes["opponent_liberties_4"]) == set()
    marked = set().union(
        *(_points(planes[f"{side}_liberties_{k}"]) for side in ("own", "opponent") for k in (1, 2, 3, 4))
    )
    assert marked == {2, 4, 19, 20, 2 * 19 + 3}  # black A19 B19 have none; G17 H17 and C16 D16 have five or more


def _own_after(drawing):
    """Liberties after Black plays the point drawn as `a`: 1, 2, 3, or None when it stands in none of the planes."""
    planes = _planes(drawing)
    (a,) = marked_points(drawing, "a")
    marked = [k for k in (1, 2, 3) if planes[f"own_liberties_after_{k}"][a]]
    assert len(marked) <= 1
    return marked[0] if marked else None


def test_liberties_after_joining_count_shared_liberties_once():
    drawing = """
        X a X O
        X . X O
        O . O .
    """
    assert _own_after(drawing) == 1


def test_liberties_after_a_capture_count_the_captured_stones_that_touch_the_new_chain():
    drawing = """
        O O a X O
        X X O X O
        . X X O .
    """
    assert _own_after(drawing) == 2  # B19 and C18; A19 is captured too, but touches a chain that is not joined


def test_liberties_after_suicide_there_is_no_plane():
    drawing = """
        . O . . .
        O a O . .
        . O X . .
    """
    assert _own_after(drawing) is None


def test_liberties_after_taking_a_ko_banned_or_not():
    drawing = """
        . X O . .
        X O a O .
        . X O . .
    """
    assert _own_after(drawing) == 1


def test_ladder_bits_go_to_the_plane_of_what_is_there():
    drawing = """
        X O . . .
        . X . O .
        . . . . X
    """
    everywhere = bitboard(range(POINTS))
    planes = _planes(drawing, ladders=everywhere)
    colours = parse_board(drawing)
    liberties = {k: _points(planes[f"own_liberties_{k}"]) | _points(planes[f"opponent_liberties_{k}"]) for k in (1, 2)}
    assert _points(planes["ladder_atari"]) == liberties[1] != set()
    assert _points(planes["ladder_two_liberties"]) == liberties[2]
    assert _points(planes["ladder_moves"]) == set(np.flatnonzero(colours == 0).tolist())


@st.composite
def _random_rows(draw):
    """Store arrays of a few random boards: any density, clumped or scattered, dead chains too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    empty_share = draw(st.sampled_from([0.02, 0.1, 0.2, 0.35, 0.6, 0.9]))
    positions = []
    for _ in range(3):
        colours = rng.choice(3, POINTS, p=[empty_share, *rng.dirichlet((3, 3)) * (1 - empty_share)]).reshape(19, 19)
        for _ in range(rng.integers(0, 3)):  # let stones take the colour of a neighbour: larger chains
            takes = rng.random((19, 19)) < 0.4
            colours = np.where(takes, np.roll(colours, rng.choice([-1, 1]), rng.integers(0, 2)), colours)
        ladders = bitboard(np.flatnonzero(rng.random(POINTS) < 0.1))
        stones = bitboards(colours.reshape(-1).astype(np.uint8))
        history = tuple(rng.integers(-1, POINTS, rng.integers(0, 7)).tolist())
        positions.append(Position(stones, int(rng.integers(1, 3)), int(rng.integers(-1, POINTS)), history, ladders))
    return position_rows(positions)


@settings(max_examples=120)
@given(_random_rows(), st.integers(0, 7), st.integers(0, 5))
def test_equals_the_slow_twin_on_random_boards(arrays, symmetry, keep):
    *store, rows = arrays
    slow = np.stack([slow_planes_of_row(*store, int(row), keep) for row in rows])
    assert np.array_equal(make(store, rows, symmetry, keep)[0], turned(slow, symmetry))


def _store_of(games):
    """(store arrays, the rows that hold a position) of replayed games."""
    replayed = oracles.replay(games)
    written = np.concatenate(
        [np.arange(first, first + count) for first, count in zip(replayed.row_offsets, replayed.rows, strict=True)]
    )
    return (replayed.stones, replayed.ladders, replayed.moves), written


def _starter_store():
    return _store_of(list(oracles.starter_games().values())[:120])


def _assert_equals_the_slow_twin(store, written, count):
    rng = np.random.default_rng(1)
    rows, keep = rng.choice(written, count, replace=False), rng.integers(0, 6, count)
    slow = np.stack([slow_planes_of_row(*store, int(row), k) for row, k in zip(rows, keep, strict=True)])
    assert np.array_equal(make(store, rows, keep=keep)[0], slow)


def test_equals_the_slow_twin_on_rows_of_real_games():
    _assert_equals_the_slow_twin(*_starter_store(), 1000)


@pytest.mark.slow
def test_equals_the_slow_twin_on_rows_of_kgs_games():
    archive = oracles.SHARED / "data" / "kgs" / "KGS-2015-19-8133-.tar.gz"
    if not archive.exists():
        pytest.skip(f"no {archive.name} beside the repository")
    with tarfile.open(archive, "r|gz") as members:
        files = itertools.islice((m for m in members if m.name.endswith(".sgf")), 200)
        games = [oracles.read_sgf(members.extractfile(member).read()) for member in files]
    _assert_equals_the_slow_twin(*_store_of(games), 5000)


def test_turning_the_position_turns_the_planes():
    """Planes of a turned position are the turned planes of the position: no direction of the board is special."""
    store, written = _starter_store()
    stones, ladders, moves = store
    rows = np.random.default_rng(2).choice(written, 300, replace=False)
    plain, _ = make(store, rows, keep=0)
    for symmetry in range(1, 8):
        turned_moves = moves[rows].copy()
        ko = turned_moves[:, 1]
        turned_moves[:, 1] = np.where(ko >= 0, SYMMETRY[symmetry][ko], -1)

        def turn(words, symmetry=symmetry):
            bits = oracles.unpack_bits(words)
            out = np.zeros_like(bits)
            out[:, SYMMETRY[symmetry]] = bits
            return oracles.pack_bits(out)

        turned_stones = np.concatenate([turn(stones[rows, :6]), turn(stones[rows, 6:])], axis=1)
        planes, _ = make((turned_stones, turn(ladders[rows]), turned_moves), np.arange(len(rows)), keep=0)
        assert np.array_equal(planes, turned(plain, symmetry))


GOLDEN = {1: "d39d400fd9166c36af69eb96c74975c3a31f4010049c278900bc32abfe124c72"}
"""sha256 over the packed planes and targets of 50 fixed positions, by numerics version."""


def test_golden_planes():
    """When this fails and the new planes are right, raise gonn_core.numerics.FEATURES and add a line to GOLDEN."""
    store, written = _starter_store()
    sample = written[(store[2][written, MOVE] >= 0) & (store[2][written, FLAGS] & HANDICAP_MOVE == 0)]
    rows = sample[np.arange(50) * 7919 % len(sample)]
    packed, targets = make_packed(store, rows, np.arange(50) % 8, np.arange(50) % 6)
    digest = hashlib.sha256(packed.tobytes() + targets.astype("<i8").tobytes()).hexdigest()
    assert digest == GOLDEN[numerics.FEATURES]


def _arguments():
    *store, rows = position_rows([Position(np.zeros(12, np.uint64), BLACK, ladders=NO_LADDERS)] * 2)
    return dict(
        zip(("stones", "ladders", "moves"), store, strict=True),
        rows=rows,
        symmetries=np.zeros(2, np.uint8),
        keep=np.zeros(2, np.uint8),
        out=np.zeros((2, 26, 19, 19), np.float32),
        targets=np.zeros(2, np.int64),
    )


@pytest.mark.parametrize(
    "name, value",
    [
        ("stones", np.zeros((2, 12), np.int64)),
        ("stones", np.zeros((2, 11), np.uint64)),
        ("ladders", np.zeros((3, 6), np.uint64)),
        ("moves", np.zeros((2, 8), np.int16)[:, ::2]),
        ("rows", np.array([0, 2])),
        ("rows", np.array([-1, 0])),
        ("symmetries", np.array([0, 8])),
        ("keep", np.array([6, 0])),
        ("keep", np.zeros(3, np.uint8)),
        ("out", np.zeros((2, 26, 19, 19))),
        ("out", np.zeros((3, 26, 19, 19), np.float32)),
        ("out", np.zeros((2, 26, 361, 2), np.float32)[..., 0]),
        ("targets", np.zeros(2, np.int32)),
    ],
)
def test_wrong_arguments_are_refused_before_any_kernel_runs(name, value):
    with pytest.raises(ValueError, match=f"^{name}: "):
        gonn_planes(**{**_arguments(), name: value})


def test_packed_output_is_checked():
    with pytest.raises(ValueError, match="^out: "):
        packed_planes(**{**_arguments(), "out": np.zeros((2, 1173), np.uint8)})


def test_no_rows_is_fine_and_both_shapes_of_output_are():
    arguments = _arguments()
    gonn_planes(**arguments)
    flat = np.zeros((2, 26, 361), np.float32)
    gonn_planes(**{**arguments, "out": flat})
    assert np.array_equal(flat.reshape(2, 26, 19, 19), arguments["out"]) and flat[:, 0].all()
    none = {"rows": np.zeros(0, np.int64), "symmetries": np.zeros(0, np.uint8), "keep": np.zeros(0, np.uint8)}
    gonn_planes(**{**arguments, **none, "out": np.zeros((0, 26, 19, 19), np.float32), "targets": np.zeros(0, np.int64)})
