"""Past boards against a slow reference implementation; symmetry, packed bits."""

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.features.planes import packed_bytes
from gonn_core.features.sets import plane_names
from gonn_core.features.source import Position, plane_source, position_rows
from gonn_core.go.layout import FIRST, FLAGS, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from gonn_core.nets import build_net
from tests.boards import bitboards, parse_board, points_of
from tests.features.helpers import make_set, pack_set, turned
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
def test_equals_the_reference_on_real_positions(features, starter):
    source, rows = starter
    keep = np.arange(len(rows)) % 6
    planes, _ = make_set(features, source, rows, keep=keep)
    for j, row in enumerate(rows):
        slow = slow_past_boards(
            source, int(row), int(keep[j]), features.past_boards, features.past_boards_dropped == "copy"
        )
        assert [set(np.flatnonzero(plane)) for plane in planes[j, 26:]] == slow, int(row)


@pytest.mark.parametrize("symmetry", [0, 3, 6])
def test_symmetry_and_packed_bits(symmetry, starter):
    source, rows = starter
    planes, _ = make_set(COPY, source, rows[:30], symmetry, keep=4)
    assert np.array_equal(planes, turned(make_set(COPY, source, rows[:30], keep=4)[0], symmetry))
    packed, _ = pack_set(COPY, source, rows[:30], symmetry, keep=4)
    assert packed.shape[1] == packed_bytes(COPY) == (36 * POINTS + 7) // 8
    assert np.array_equal(packed, np.packbits(planes.reshape(30, -1), axis=1))


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


def test_boards_of_a_position_in_no_store_are_it_without_the_moves_since():
    board = parse_board(". X .\nX O .\n. X .")
    history = (1, 20, PASS)  # Black's last move, White's before it, a pass
    rows = position_rows([Position(bitboards(board), WHITE, -1, history, np.zeros(6, np.uint64))])
    planes, _ = make_set(ZERO, plane_source(rows), rows.rows)
    own, opponent = ([set(np.flatnonzero(planes[0, plane])) for plane in range(side, 36, 2)] for side in (26, 27))
    assert own == [{20}, set(), set(), set(), set()]
    assert opponent == [set(np.flatnonzero(board == BLACK)) - {1}] * 5
