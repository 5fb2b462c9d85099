"""GoNN's published test positions: stones, ko point and last move in, all planes out
(tests/fixtures/gonn_positions.json)."""

import json

import numpy as np
import pytest

from gonn_core.features.source import Position, position_rows
from gonn_core.go.layout import NONE
from gonn_core.go.points import BLACK, PASS, WHITE, point
from tests.boards import bitboard, bitboards, parse_board
from tests.features.helpers import make
from tests.go.oracles import REPOSITORY

PUBLISHED = json.loads((REPOSITORY / "tests" / "fixtures" / "gonn_positions.json").read_text())


def _position(entry) -> Position:
    stones = np.concatenate([bitboard(map(point, entry["black"])), bitboard(map(point, entry["white"]))])
    history = (point(entry["last_move"]),) if entry["history_used"] and entry["last_move"] else ()
    ko = point(entry["ko"]) if entry["ko"] else -1
    return Position(stones, BLACK if entry["to_play"] == "black" else WHITE, ko, history)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_position(name):
    entry = PUBLISHED[name]
    *store, rows = position_rows([_position(entry)])
    planes, targets = make(store, rows)
    assert planes[0].sum(1).tolist() == entry["plane_sums"]
    expected = dict(entry["planes"])
    expected["23"] = entry["ladder_atari_plane23"]
    expected["24"] = entry["ladder_twolib_plane24"]
    expected["25"] = entry["ladder_workingmove_plane25"]
    for plane, names in expected.items():
        assert set(np.flatnonzero(planes[0, int(plane)])) == {point(name) for name in names}, f"plane {plane}"
    assert targets[0] == -1


def test_many_positions_with_histories_of_any_length():
    board = bitboards(parse_board("X O"))
    none = np.zeros(6, np.uint64)
    positions = [
        Position(board, BLACK, -1, (), none),
        Position(board, WHITE, 40, (5, PASS, 7, 8, 9, 10, 11), none),
        Position(board, BLACK, -1, (60, 61), none),
    ]
    stones, ladders, moves, rows = position_rows(positions)
    assert moves[rows, 0].tolist() == [NONE] * 3
    planes, _ = make((stones, ladders, moves), rows)
    history = [[np.flatnonzero(plane).tolist() for plane in p[18:23]] for p in planes]
    assert history == [[[]] * 5, [[5], [], [7], [8], [9]], [[60], [61], [], [], []]]
    assert [np.flatnonzero(p[1]).tolist() for p in planes] == [[0], [1], [0]]
    assert [np.flatnonzero(p[17]).tolist() for p in planes] == [[], [40], []]


@pytest.mark.parametrize(
    "wrong, text",
    [
        ({"mover": 3}, "mover 3"),
        ({"ko": 361}, "ko 361"),
        ({"history": (361,)}, "move 361"),
        ({"history": (-2,)}, "move -2"),
    ],
)
def test_wrong_positions_are_named(wrong, text):
    position = Position(np.zeros(12, np.uint64), BLACK)._replace(**wrong)
    with pytest.raises(ValueError, match=text):
        position_rows([position])
