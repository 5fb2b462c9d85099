"""Points, bitboards and the eight symmetries.

A point is `row*19 + col`, row 0 at the top (SGF `cd` = col 2, row 3). A bitboard is `WORDS` uint64: bit `p & 63` of
word `p >> 6` is point `p`. Kernels that walk chains use a padded board, stride 21, whose rim is `WALL`.
"""

import numpy as np

SIZE = 19
POINTS = SIZE * SIZE
WORDS = 6
STRIDE = SIZE + 2
PADDED = STRIDE * STRIDE
EMPTY, BLACK, WHITE, WALL = 0, 1, 2, 3
PASS = -1
COLUMNS = "ABCDEFGHJKLMNOPQRST"


def _symmetry_tables() -> np.ndarray:
    """(8, 361) int32: where each point goes. Bit 0 flips rows, bit 1 flips columns, bit 2 then transposes (spec gonn.md
    1.4)."""
    table = np.empty((8, POINTS), np.int32)
    rows, cols = np.divmod(np.arange(POINTS), SIZE)
    for symmetry in range(8):
        r = SIZE - 1 - rows if symmetry & 1 else rows
        c = SIZE - 1 - cols if symmetry & 2 else cols
        table[symmetry] = c * SIZE + r if symmetry & 4 else r * SIZE + c
    return table


SYMMETRY = _symmetry_tables()
"""(8, 361) int32: `SYMMETRY[s, p]` is the image of point p under symmetry s; 0 is the identity."""

TO_PADDED = np.array([(p // SIZE + 1) * STRIDE + p % SIZE + 1 for p in range(POINTS)], np.int32)
"""(361,) int32: point -> index on the padded board."""

FROM_PADDED = np.full(PADDED, -1, np.int32)
"""(441,) int32: index on the padded board -> point, -1 on the rim."""
FROM_PADDED[TO_PADDED] = np.arange(POINTS)


def point(name: str) -> int:
    """Point of a name as players write it (`Q16`, column I skipped). Raises ValueError."""
    column, row = COLUMNS.find(name[:1].upper()), name[1:]
    if column < 0 or not row.isdigit() or not 1 <= int(row) <= SIZE:
        raise ValueError(f"point {name!r}: valid are A1 .. T19 without column I")
    return (SIZE - int(row)) * SIZE + column


def point_name(p: int) -> str:
    """Name of a point as players write it; `pass` for PASS."""
    return "pass" if p < 0 else f"{COLUMNS[p % SIZE]}{SIZE - p // SIZE}"
