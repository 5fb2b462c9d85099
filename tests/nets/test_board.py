"""Stones, chains and nearness that nets read from their planes."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from gonn_core.errors import SettingError
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.go.points import BLACK, EMPTY
from gonn_core.nets.parts import board
from gonn_core.nets.parts.board import UNASKED_ROUNDS, BoardReader
from tests.nets.examples import SPECIAL, board_planes, built, random_colours

READ = BoardReader(("own_stone", "opponent_stone"), ())


def boards_of(*colours):
    return READ(board_planes(*colours))


def flooded(colours):
    """First point of every point's chain, found stone by stone; an empty point is its own."""
    first = list(range(361))
    seen = set()
    for start in range(361):
        if colours[start] == EMPTY or start in seen:
            continue
        todo = [start]
        while todo:
            p = todo.pop()
            if p in seen:
                continue
            seen.add(p)
            first[p] = start  # points are visited in order: `start` is the lowest of its chain
            row, col = divmod(p, 19)
            beside = [(row - 1, col), (row + 1, col), (row, col - 1), (row, col + 1)]
            todo += [r * 19 + c for r, c in beside if 0 <= r < 19 and 0 <= c < 19 and colours[r * 19 + c] == colours[p]]
    return first


@given(st.integers(0, 2**31), st.sampled_from([0.1, 0.5, 0.7, 0.9, 1.0]))
@settings(max_examples=25)
def test_chains_equal_a_flood(seed, share):
    boards = random_colours(3, seed, share)
    assert boards_of(*boards).chains.tolist() == [flooded(board) for board in boards]


def test_near_counts_both_colours_and_autocast_does_not_matter():
    boards = random_colours(4, share=0.05)
    near = boards_of(*boards).near
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(boards_of(*boards).near, near)
    points = np.arange(361)
    for colours, found in zip(boards, near.flatten(1), strict=True):
        stones = np.flatnonzero(colours)
        distance = abs(points[:, None] // 19 - stones // 19) + abs(points[:, None] % 19 - stones % 19)
        assert found.tolist() == (distance <= 3).any(1).tolist()


class Operations(TorchDispatchMode):
    """Notes what runs within it."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.names.add(func._schema.name)
        return func(*args, **(kwargs or {}))


def one_line():
    """A board of one chain as long as can be: rows joined at alternating ends."""
    row, col = np.divmod(np.arange(361), 19)
    return np.where((row % 2 == 0) | (col == np.where(row % 4 == 1, 18, 0)), BLACK, EMPTY)


def test_a_gpu_is_asked_once_whether_chains_are_whole(monkeypatch):
    """Rounds that are not needed change nothing; no board takes more than are made unasked."""
    line = one_line()
    stones = boards_of(
        *random_colours(40, share=0.55), *random_colours(40, share=0.8), line, line.reshape(19, 19).T.ravel()
    ).stones
    expected, asked = board._first_points(stones, 0), []
    equal = torch.equal
    monkeypatch.setattr(torch, "equal", lambda *both: asked.append(equal(*both)) or asked[-1])
    assert equal(board._first_points(stones, UNASKED_ROUNDS), expected) and asked == [True]
    asked.clear()
    assert equal(board._first_points(stones, 2), expected) and len(asked) == UNASKED_ROUNDS - 1


@pytest.mark.parametrize("names", [("own_stone", "opponent_stone"), ("opponent_stone", "ko", "own_stone")])
def test_stones_are_read_by_a_slice(names):
    """A list of indices would be copied to a GPU in every pass."""
    reader, colours = BoardReader(names, ()), board_planes(*random_colours(3))
    planes = torch.ones(3, len(names), 19, 19)
    for plane, name in enumerate(("own_stone", "opponent_stone")):
        planes[:, names.index(name)] = colours[:, plane]
    with Operations() as seen:
        assert torch.equal(reader(planes).stones, colours > 0.5)
    assert "aten::index" not in seen.names and "aten::_to_copy" not in seen.names


def test_blocks_that_need_stones_say_so():
    with pytest.raises(SettingError) as error:
        built(SPECIAL, [name for name in PLANE_NAMES if name != "own_stone"])
    blocks = "ladder_block, chain_pooling_1, chain_pooling_2, wide"
    assert (
        str(error.value)
        == f"net.trunk={blocks}: needs stones as input planes; valid: planes that include own_stone and opponent_stone"
    )
