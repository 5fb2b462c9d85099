"""The same game, however it was turned on the board, has the same hash: for duplicates and for splits by hashed
game."""

import hashlib

import numpy as np

from gonn_core.go.points import POINTS, SYMMETRY

# Column 361, also reached as index -1, keeps a pass a pass.
_IMAGES = np.concatenate([SYMMETRY, np.full((8, 1), -1)], axis=1).astype("<i2")
_COLOUR_STEP = 512


def canonical_hash(setup: list[int], moves: np.ndarray, colours: np.ndarray) -> tuple[int, int]:
    """Two uint64 over the board set up and the moves with their colours, equal for games that a symmetry of the board
    makes equal.

    setup: codes colour*361+point in file order; moves (N,) int16 points or -1; colours (N,) 1 or 2. The symmetry whose
    byte string is smallest stands for all eight. Colours are not exchanged: with komi that is another game.
    """
    turned = _IMAGES[:, moves]
    turned += colours.astype("<i2") * np.int16(_COLOUR_STEP)
    if setup:
        board = np.zeros(POINTS, np.uint8)
        for code in setup:
            board[code % POINTS] = code // POINTS
        boards = np.empty((8, POINTS), np.uint8)
        for symmetry in range(8):
            boards[symmetry, SYMMETRY[symmetry]] = board
        smallest = min(boards[s].tobytes() + turned[s].tobytes() for s in range(8))
    else:
        smallest = min(row.tobytes() for row in turned)
    digest = hashlib.blake2b(smallest, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")
