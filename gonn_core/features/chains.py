"""Chains and liberties of one position, as kernels on the padded board.

The order of work is `unpack` -> `find_chains` -> `find_liberties`; all that they find is in one `Chains`. A
mispredicted branch costs as much as some twenty instructions and boards are unpredictable, so the loops run over lists
of cells and select rather than branch.

Sets of cells of the padded board are 7 words of uint64: bit `p & 63` of word `p >> 6` is cell p. The rim of the padded
board makes neighbours a matter of four shifts: what leaves the board on one side lands on the rim.
"""

from typing import NamedTuple

import numpy as np

from gonn_core.go.jit import inlined, intrinsic, kernel, lowest_bit, types
from gonn_core.go.points import PADDED, SIZE, STRIDE, TO_PADDED, WORDS

CELL_WORDS = (PADDED + 63) // 64
NORTH, WEST, EAST, SOUTH = -STRIDE, -1, 1, STRIDE

_ONE = np.uint64(1)
_ROW = np.uint64((1 << SIZE) - 1)


def _set_of(cells) -> np.ndarray:
    words = np.zeros(CELL_WORDS, np.uint64)
    for p in cells:
        words[p >> 6] |= _ONE << np.uint64(p & 63)
    return words


ON_BOARD = _set_of(TO_PADDED)
"""(7,) uint64: the 361 cells that are points."""

ADJACENT = np.zeros((PADDED, CELL_WORDS), np.uint64)
"""(441, 7) uint64: the four neighbours of each point, cells of the rim included."""
for _p in TO_PADDED:
    ADJACENT[_p] = _set_of([_p + step for step in (NORTH, WEST, EAST, SOUTH)])


@intrinsic
def count_bits(typing_context, word):
    """Number of set bits of a uint64; one instruction."""

    def generate(context, builder, signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@inlined
def bit_of(cell):
    """The bit of a cell within its word, which is number `cell >> 6`."""
    return _ONE << np.uint64(cell & 63)


@kernel
def pad(bitboard, padded):
    """Spread a bitboard of points (6,) uint64 over the padded board: `padded` (7,) uint64."""
    padded[:] = 0
    for row in range(SIZE):
        source = row * SIZE
        word, shift = source >> 6, np.uint64(source & 63)
        # Bits that `word` lacks are in the next one; the last row lacks none, and what is read for it is masked away.
        following = bitboard[min(word + 1, WORDS - 1)]
        bits = ((bitboard[word] >> shift) | ((following << _ONE) << (np.uint64(63) - shift))) & _ROW
        target = (row + 1) * STRIDE + 1
        word, shift = target >> 6, np.uint64(target & 63)
        padded[word] |= bits << shift
        if word + 1 < CELL_WORDS:
            padded[word + 1] |= (bits >> _ONE) >> (np.uint64(63) - shift)


@kernel
def neighbours(cells, beside):
    """All cells next to a cell of the set `cells`: both (7,) uint64. Cells of the rim may be among them."""
    for k in range(CELL_WORDS):
        word = cells[k]
        below = cells[k - 1] if k > 0 else np.uint64(0)
        above = cells[k + 1] if k < CELL_WORDS - 1 else np.uint64(0)
        up = (word << _ONE) | (below >> np.uint64(63)) | (word << np.uint64(STRIDE)) | (below >> np.uint64(64 - STRIDE))
        down = (
            (word >> _ONE) | (above << np.uint64(63)) | (word >> np.uint64(STRIDE)) | (above << np.uint64(64 - STRIDE))
        )
        beside[k] = up | down


OWN, OPPONENT, EDGE = 1, 2, 4
"""What a cell of the padded board holds, seen by the side to move; 0 is an empty point."""

_BARE = np.full(PADDED, EDGE, np.uint8)
_BARE[TO_PADDED] = 0


class Chains(NamedTuple):
    """One position on the padded board. Stones and shores are listed in raster order; entries after the last are
    undefined."""

    cells: np.ndarray  # (441,) uint8: OWN, OPPONENT, EDGE or 0
    empty: np.ndarray  # (7,) uint64: the set of empty points
    stones: np.ndarray  # (441,) uint16: the cells that hold a stone
    shores: np.ndarray  # (441,) uint16: the empty points next to a stone
    names: np.ndarray  # (441,) uint16: the names of the chains
    chain: np.ndarray  # (441,) uint16: name of the stone's chain, its first stone in raster order; 0 where no stone is
    liberties: np.ndarray  # (441,) uint16: number of liberties of the stone's chain; 0 where no stone is
    liberty_sets: np.ndarray  # (441, 7) uint64: liberties of each chain, at its name; entry 0, "no chain", is empty


@kernel
def make_chains():
    """Memory for one position, undefined until it has gone through the three kernels below."""
    return Chains(
        np.empty(PADDED, np.uint8),
        np.empty(CELL_WORDS, np.uint64),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty(PADDED, np.uint16),
        np.empty((PADDED, CELL_WORDS), np.uint64),
    )


@kernel
def unpack(own, opponent, board):
    """Lay out a position given by two bitboards (6,) uint64: fills cells, empty, stones, shores; returns how many
    stones and shores."""
    mine, other = np.empty(CELL_WORDS, np.uint64), np.empty(CELL_WORDS, np.uint64)
    beside = np.empty(CELL_WORDS, np.uint64)
    pad(own, mine)
    pad(opponent, other)
    for p in range(PADDED):
        board.cells[p] = _BARE[p]
    n_stones = n_shores = 0
    for word in range(CELL_WORDS):
        occupied = mine[word] | other[word]
        bits = occupied
        while bits != 0:
            k = lowest_bit(bits)
            p = word * 64 + k
            board.cells[p] = OWN + ((other[word] >> np.uint64(k)) & _ONE)
            board.stones[n_stones] = p
            n_stones += 1
            bits &= bits - _ONE
        mine[word] = occupied
        board.empty[word] = ON_BOARD[word] & ~occupied
    neighbours(mine, beside)
    for word in range(CELL_WORDS):
        bits = beside[word] & board.empty[word]
        while bits != 0:
            board.shores[n_shores] = word * 64 + lowest_bit(bits)
            n_shores += 1
            bits &= bits - _ONE
    return n_stones, n_shores


@kernel
def find_chains(board, n_stones):
    """Fill `chain` and `names`; returns how many chains there are.

    One raster scan gives labels; where the chains to the west and to the north of a stone meet, the later label is hung
    below the earlier one. A label's parent is never later than the label, so one pass over the labels in order resolves
    them all.
    """
    cells, chain = board.cells, board.chain
    parent = np.empty(PADDED, np.uint16)
    labels = np.empty(PADDED, np.uint16)
    chain[:] = 0
    n = 0
    for k in range(n_stones):
        p = np.int64(board.stones[k])
        north, west = cells[p + NORTH] == cells[p], cells[p + WEST] == cells[p]
        chain[p] = p
        parent[p] = p
        label = chain[p + (WEST if west else (NORTH if north else 0))]
        chain[p] = label
        labels[n] = p
        n += label == p
        if west & north & (chain[p + NORTH] != label):
            a, b = np.int64(label), np.int64(chain[p + NORTH])
            while parent[a] != a:
                a = np.int64(parent[a])
            while parent[b] != b:
                b = np.int64(parent[b])
            parent[max(a, b)] = min(a, b)
    for k in range(n):
        label = labels[k]
        parent[label] = parent[parent[label]]
    n_chains = 0
    for k in range(n_stones):
        p = board.stones[k]
        name = parent[chain[p]]
        chain[p] = name
        board.names[n_chains] = name
        n_chains += name == p
    return n_chains


@kernel
def find_liberties(board, n_stones, n_shores, n_chains):
    """Fill `liberty_sets` and `liberties`."""
    chain, liberties, sets = board.chain, board.liberties, board.liberty_sets
    for k in range(n_chains):
        name = board.names[k]
        for word in range(CELL_WORDS):
            sets[name, word] = 0
    for k in range(n_shores):
        p = np.int64(board.shores[k])
        word, bit = p >> 6, bit_of(p)
        sets[chain[p + NORTH], word] |= bit
        sets[chain[p + WEST], word] |= bit
        sets[chain[p + EAST], word] |= bit
        sets[chain[p + SOUTH], word] |= bit
    for word in range(CELL_WORDS):
        sets[0, word] = 0
    liberties[:] = 0
    for k in range(n_chains):
        name = board.names[k]
        count = np.uint64(0)
        for word in range(CELL_WORDS):
            count += count_bits(sets[name, word])
        liberties[name] = count
    for k in range(n_stones):
        p = board.stones[k]
        liberties[p] = liberties[chain[p]]
