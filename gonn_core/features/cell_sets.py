"""Sets of cells of the padded board: bit `p & 63` of word `p >> 6` stands for cell p, 7 words of uint64.

The rim of the padded board makes neighbours a matter of four shifts: what leaves the board on one side lands on the
rim.
"""

import numpy as np

from gonn_core.go.jit import inlined, intrinsic, kernel, types
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

BESIDE = np.zeros((PADDED, CELL_WORDS), np.uint64)
"""(441, 7) uint64: the four neighbours of each point, cells of the rim included."""
for _p in TO_PADDED:
    BESIDE[_p] = _set_of([_p + step for step in (NORTH, WEST, EAST, SOUTH)])


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
