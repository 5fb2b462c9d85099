"""Planes of the mover's rank: one of eight groups, all over the board."""

import numpy as np
import pytest

from gonn_core.config import FeatureConfig
from gonn_core.features.planes import make_planes, packed_bytes
from gonn_core.features.sets import RANK_GROUPS, plane_names
from gonn_core.features.source import plane_source
from gonn_core.go.layout import FLAGS, RANK_MISSING, RANK_UNPARSABLE, WHITE_TO_MOVE
from gonn_core.go.points import POINTS
from gonn_core.play.game import Game, plane_rows
from tests.features.stores import open_games, sample_rows
from tests.go import oracles

RANKS = FeatureConfig(ranks=True, past_boards=1)
GROUPS = {
    "unknown": (RANK_MISSING, RANK_UNPARSABLE), "kyu": (-30, -1), "1d_3d": (0, 2), "4d_5d": (3, 4),
    "6d": (5,), "7d": (6,), "8d": (7,), "9d": (8, 100, 108),
}  # fmt: skip
"""Group -> ranks that are in it, as the store has them."""


def planes_of(source, rows, packed=False):
    count, planes = len(rows), len(plane_names(RANKS))
    shape = (count, packed_bytes(RANKS)) if packed else (count, planes, POINTS)
    out, targets = np.zeros(shape, np.uint8), np.empty(count, np.int64)
    make_planes(RANKS, source, rows, np.zeros(count, np.uint8), np.full(count, 5, np.uint8), out, targets)
    return np.unpackbits(out, axis=1)[:, : planes * POINTS].reshape(count, planes, POINTS) if packed else out


@pytest.mark.parametrize("group, ranks", GROUPS.items())
def test_the_movers_group_is_ones(group, ranks):
    store = open_games(oracles.STARTER_GAMES)
    source, rows = plane_source(store), sample_rows(store)[:40]
    for rank in ranks:
        asked = np.where(store.moves[rows, FLAGS] & WHITE_TO_MOVE, rank, 5)[:, None]  # White has it, Black is 6 dan
        both = np.tile(np.array([[5, rank]], np.int16), (len(store.games), 1))
        made = planes_of(source._replace(ranks=both), rows)
        expected = [group if number == rank else "6d" for number in asked[:, 0]]
        names = plane_names(RANKS)
        assert names[-8:] == tuple(f"rank_{each}" for each in RANK_GROUPS)
        for board, wanted in zip(made, expected, strict=True):
            assert [name for name, plane in zip(names[-8:], board[-8:], strict=True) if plane.all()] == [
                f"rank_{wanted}"
            ]
            assert board[-8:].sum() == POINTS
    assert np.array_equal(planes_of(source, rows), planes_of(source, rows, packed=True))


def test_a_net_plays_as_a_9_dan():
    game = Game()
    made = planes_of(plane_rows(game.table), np.zeros(1, np.int64))
    assert made[0, -1].all() and not made[0, -8:-1].any()
