"""Past boards: drawn ones, a slow twin, what dropping does, symmetry, packed bits."""

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.features.planes import packed_bytes
from gonn_core.features.sets import plane_names
from gonn_core.features.source import Position, plane_source, position_rows
from gonn_core.go.layout import FIRST, FLAGS, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from gonn_core.nets import build_net
from tests.boards import bitboards, colours_of, named_points, parse_board, points_of
from tests.features.helpers import make, make_set, pack_set, turned
from tests.features.stores import open_games, sample_rows
from tests.go import oracles

ZERO, COPY = FeatureConfig(past_boards=5), FeatureConfig(past_boards=5, past_boards_dropped="copy")


@pytest.fixture(scope="module")
def starter():
    """Source and rows of the bundled games: samples, and the first moves of many games."""
    store = open_games(oracles.STARTER_GAMES)
    rng = np.random.default_rng(0)
    openings = (store.games["first_row"][:20, None] + np.arange(6)).ravel()
    return plane_source(store), np.concatenate([rng.choice(sample_rows(store), 120), openings])


def slow_past_boards(source, row: int, keep: int, boards: int, copy: bool) -> list[set[int]]:
    """Points of the planes own, opponent's one move ago, own, … two moves ago, …"""
    white = bool(source.moves[row, FLAGS] & WHITE_TO_MOVE)

    def stones(at: int) -> list[set[int]]:
        black_and_white = [points_of(source.stones[at, :6]), points_of(source.stones[at, 6:])]
        return black_and_white[::-1] if white else black_and_white

    at = [row]
    for _ in range(boards):
        at.append(at[-1] if source.moves[at[-1], FLAGS] & FIRST else at[-1] - 1)
    planes = []
    for ago in range(1, boards + 1):
        shown = ago if ago <= keep else keep
        planes += stones(at[shown]) if ago <= keep or copy else [set(), set()]
    return planes


@pytest.mark.parametrize("features", [ZERO, COPY, FeatureConfig(past_boards=2)], ids=["zero", "copy", "two"])
def test_equals_the_slow_twin_on_real_positions(features, starter):
    source, rows = starter
    keep = np.arange(len(rows)) % 6
    planes, _ = make_set(features, source, rows, keep=keep)
    for j, row in enumerate(rows):
        slow = slow_past_boards(
            source, int(row), int(keep[j]), features.past_boards, features.past_boards_dropped == "copy"
        )
        assert [set(np.flatnonzero(plane)) for plane in planes[j, 26:]] == slow, int(row)


def test_the_26_planes_before_them_stay_as_they_are(starter):
    source, rows = starter
    planes, targets = make_set(ZERO, source, rows, keep=3)
    plain, plain_targets = make((source.stones, source.ladders, source.moves), rows, keep=3)
    assert np.array_equal(planes[:, :26], plain) and np.array_equal(targets, plain_targets)


@pytest.mark.parametrize("symmetry", range(8))
def test_symmetry_and_packed_bits(symmetry, starter):
    source, rows = starter
    planes, _ = make_set(COPY, source, rows[:30], symmetry, keep=4)
    assert np.array_equal(planes, turned(make_set(COPY, source, rows[:30], keep=4)[0], symmetry))
    packed, _ = pack_set(COPY, source, rows[:30], symmetry, keep=4)
    assert packed.shape[1] == packed_bytes(COPY) == (36 * POINTS + 7) // 8
    assert np.array_equal(packed, np.packbits(planes.reshape(30, -1), axis=1))


GAME = """
    . X a
    X O b
    . X c
"""


def drawn_game():
    """Black captures at b, White plays at c, Black passes; the position of White to move after that, as rows of a
    game."""
    points, before = named_points(GAME), parse_board(GAME)
    after_capture = before.copy()
    after_capture[20], after_capture[points["b"]] = 0, BLACK
    after_reply = after_capture.copy()
    after_reply[points["c"]] = WHITE
    boards = [before, after_capture, after_reply, after_reply]
    moves = np.zeros((4, 4), np.int16)
    moves[:, 0] = [points["b"], points["c"], PASS, points["a"]]
    moves[:, 1], moves[0, FLAGS] = -1, FIRST
    moves[[1, 3], FLAGS] |= WHITE_TO_MOVE
    store = type(
        "Store",
        (),
        {
            "stones": np.stack([bitboards(board) for board in boards]),
            "ladders": np.zeros((4, 6), np.uint64),
            "moves": moves,
        },
    )
    return plane_source(store), [board[[20, points["b"], points["c"]]] for board in boards], points


def test_whose_stones_are_own_is_said_by_who_moves_now():
    source, boards, points = drawn_game()
    planes, _ = make_set(ZERO, source, [3])
    watched = [20, points["b"], points["c"]]
    for ago, board in enumerate(
        [boards[2], boards[1], boards[0], boards[0], boards[0]]
    ):  # a pass changes nothing; then the beginning repeats
        own, opponent = planes[0, 26 + 2 * ago, watched], planes[0, 27 + 2 * ago, watched]
        assert own.tolist() == (board == WHITE).tolist() and opponent.tolist() == (board == BLACK).tolist()


@pytest.mark.parametrize("keep", range(6))
def test_dropping_hides_older_boards_with_zeros_or_copies(keep):
    source, _, _ = drawn_game()
    full, zero, copy = (
        make_set(features, source, [3], keep=k)[0][0, 26:].reshape(5, 2, POINTS)
        for features, k in ((ZERO, 5), (ZERO, keep), (COPY, keep))
    )
    assert np.array_equal(zero[:keep], full[:keep]) and not zero[keep:].any()
    present = make_set(ZERO, source, [3])[0][0, 1:3]
    assert np.array_equal(copy[:keep], full[:keep])
    assert all(np.array_equal(board, full[keep - 1] if keep else present) for board in copy[keep:])


def test_boards_of_a_position_in_no_store_are_it_without_the_moves_since():
    board = parse_board(GAME)
    history = (1, 20, PASS)  # Black's last move, White's before it, a pass
    rows = position_rows([Position(bitboards(board), WHITE, -1, history, np.zeros(6, np.uint64))])
    planes, _ = make_set(ZERO, plane_source(rows), rows.rows)
    own = [set(np.flatnonzero(planes[0, plane])) for plane in range(26, 36, 2)]
    opponent = [set(np.flatnonzero(planes[0, plane])) for plane in range(27, 36, 2)]
    assert own == [{20}, set(), set(), set(), set()]
    assert opponent == [set(np.flatnonzero(board == BLACK)) - {1}] * 5
    assert colours_of(rows.stones[rows.rows[0]]).tolist() == board.tolist()


def test_what_two_arms_share_starts_equal():
    """The stem's weights for a plane are the same whatever other planes there are."""
    from tests.nets.examples import TINY

    plain, with_boards = FeatureConfig(), FeatureConfig(past_boards=3, history=0)
    stems = [
        dict(zip(plane_names(f), build_net(TINY, plane_names(f), 0).stem.kernel.detach().unbind(1), strict=True))
        for f in (plain, with_boards)
    ]
    shared = stems[0].keys() & stems[1].keys()
    assert len(shared) == 21 and all(stems[0][name].equal(stems[1][name]) for name in shared)
    assert len({tuple(kernel.flatten().tolist()) for kernel in stems[1].values()}) == len(stems[1])
