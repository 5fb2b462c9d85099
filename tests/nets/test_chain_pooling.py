"""Maxima over chains and the block made of them, against loops (spec: GoNN 3.1)."""

import numpy as np
import torch
import torch.nn.functional as F

from gonn_core.config import NetConfig, TrunkConfig
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, EMPTY, WHITE
from gonn_core.nets.gonn.inserted import ChainPooling, chain_max
from gonn_core.nets.init import Draws
from gonn_core.nets.parts.board import BoardReader
from tests.boards import bitboard, parse_board
from tests.nets.examples import board_planes, random_colours, trunk_values

NET = NetConfig(activation="prelu", prelu_init=0.2, norm_gamma=True, trunk=TrunkConfig(width=24))
READ = BoardReader(("own_stone", "opponent_stone"), ())


def slow_chain_max(x, boards):
    """One board, one channel, one chain at a time."""
    result = torch.zeros_like(x)
    for n, colours in enumerate(boards):
        board = Board(np.concatenate([bitboard(np.flatnonzero(colours == colour)) for colour in (BLACK, WHITE)]))
        assert (board.colours() == colours).all(), "a chain without liberties"
        for point in np.flatnonzero(colours):
            for channel in range(x.shape[1]):
                result[n, channel, point // 19, point % 19] = max(
                    x[n, channel, p // 19, p % 19] for p in board.chain(int(point))
                )
    return result


def living(colours):
    """A board's chains that have a liberty."""
    return Board(np.concatenate([bitboard(np.flatnonzero(colours == colour)) for colour in (BLACK, WHITE)])).colours()


BOARDS = [living(colours) for colours in random_colours(3)] + [np.full(361, EMPTY)]


def test_maxima_equal_the_slow_ones():
    x = trunk_values(len(BOARDS), 2)
    found = chain_max(x, READ(board_planes(*BOARDS)))
    assert torch.equal(found, slow_chain_max(x, BOARDS))


def test_gradient_goes_to_the_maximum_and_is_shared_among_ties():
    boards = READ(board_planes(parse_board("X X X . O O")))
    x = torch.zeros(1, 1, 19, 19)
    x[0, 0, 0, :6] = torch.tensor([1.0, 5, 5, 9, -1, -2])
    x.requires_grad_()
    (chain_max(x, boards)[0, 0, 0] * torch.tensor([1.0, 2, 4, 8, 16, 32] + [0] * 13)).sum().backward()
    assert x.grad[0, 0, 0, :6].tolist() == [0, 3.5, 3.5, 0, 48, 0]
    assert x.grad.count_nonzero() == 3


def test_gradient_equals_the_slow_one():
    x = trunk_values(len(BOARDS), 2).requires_grad_()
    slow = x.detach().clone().requires_grad_()
    weight = trunk_values(len(BOARDS), 2, seed=1)
    (chain_max(x, READ(board_planes(*BOARDS))) * weight).sum().backward()
    (slow_chain_max(slow, BOARDS) * weight).sum().backward()
    torch.testing.assert_close(x.grad, slow.grad)


def test_block():
    block, x = ChainPooling(Draws(0), "inserted.chain_pooling_1", NET), trunk_values(len(BOARDS), 24)
    boards, slope = READ(board_planes(*BOARDS)), torch.tensor(0.2)
    y = F.prelu(F.batch_norm(x, None, None, training=True, eps=1e-3), slope)
    y = F.conv2d(y, block.conv1, padding=1)
    y = slow_chain_max(F.prelu(F.batch_norm(y, None, None, training=True, eps=1e-3), slope).detach(), BOARDS)
    torch.testing.assert_close(block(x, boards), x + F.conv2d(y, block.conv2, padding=1), rtol=1e-5, atol=2e-5)


def test_bfloat16_gradients_are_summed_in_float32():
    """A chain of 361 stones with equal values: in bfloat16 the sum of its gradients would stop at 256."""
    boards = READ(torch.stack((torch.ones(1, 19, 19), torch.zeros(1, 19, 19)), 1))
    x = torch.zeros(1, 1, 19, 19, dtype=torch.bfloat16, requires_grad=True)
    pooled = chain_max(x, boards)
    assert pooled.dtype == torch.float32
    pooled.sum().backward()
    assert x.grad.float().flatten().tolist() == [1.0] * 361
