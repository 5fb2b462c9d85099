"""Row layout of the position store, format 1. Settled before anything was built on it: changing it orphans every
result.

What the systems' planes and targets need, and how the layout gives it:

* GoNN 26, go-NN 21, Clark & Storkey 7/8, Cazenave 45: stones, ko point, mover, earlier moves (go-NN counts setup stones
as moves)
* ladders of GoNN (planes 23-25): made at build time, three planes in one bitboard, see LADDERS
* past boards, next moves, next occupant, removal time, opponent's reply, joint reply, moves left: other rows of the
same game.
  Rows of a game are contiguous and hold every ply, passes and the position after the last move too, so all of these are
  index arithmetic on `games.npy`'s first_row and rows
* value, ownership: result and end of the game in `games.npy`
* data toggles (rank, opponent's rank, handicap, years, illegal games, corrupt records): `games.npy`; a data set is a
view on the rows

Arrays of N rows, one .npy each, memory-mapped:

stones  (N, 12) uint64   black bitboard (6 words), white bitboard (6 words)
ladders (N, 6)  uint64   one bitboard: a set bit on a stone of a chain with one liberty = GoNN plane 23, with two =
                         plane 24, on an empty point = plane 25
moves   (N, 4)  int16    MOVE, KO, PLY, FLAGS
game    (N,)    int32    index into games.npy

156 bytes a row.
"""

import numpy as np

FORMAT = 1

MOVE, KO, PLY, FLAGS = range(4)
"""Columns of `moves`: the move played from here (a point, PASS, or NONE); the simple-ko point or -1; moves of the main
line before this row (passes count, setup stones do not); flag bits."""

NONE = -2
"""MOVE of the last row of a game, the position after its last move."""

WHITE_TO_MOVE = 1
FIRST = 2
"""First row of its game: history stops here."""
LAST = 4
"""Last row of its game: MOVE is NONE."""
HANDICAP_MOVE = 8
"""One of two or more Black moves at the start, played as handicap: a row, never a sample (spec gonn.md 4.6)."""

COMPLETE, ILLEGAL_MOVE, SAME_PLAYER = range(3)
"""`end` of a game: all its moves were replayed; cut before an illegal move; cut before a second move in a row by one
player."""

RANK_MISSING, RANK_UNPARSABLE, PROFESSIONAL = -1000, -2000, 100
"""Ranks: k -> -n, amateur 1d -> 0 .. 9d -> 8, professional n -> PROFESSIONAL + n - 1."""

RESULT_UNKNOWN, RESULT_COUNTED, RESULT_RESIGN, RESULT_TIME, RESULT_FORFEIT, RESULT_VOID = range(6)

GAME_CORRUPT_COMMENT = 1
"""Flag of a game whose root comments call the record corrupt. go-NN's filter looks at the whole text of a game:
records/views.py."""
GAME_LADDER_CAPPED = 2
"""Flag of a game in which a ladder search hit its node limit (it then counts as escaped)."""

GAME = np.dtype(
    [
        ("first_row", "<i8"),
        # into setup.npy: int16 codes colour*361 + point in file order, colour 0 removes, 1 black, 2 white
        ("setup_first", "<i8"),
        ("name_first", "<i8"),  # into names.bin: archive-relative name, UTF-8
        ("canonical", "<u8", (2,)),  # hash of setup and moves, the same under the 8 symmetries
        ("rows", "<i4"),
        ("recorded_moves", "<i4"),  # moves of the main line in the file, whether or not they were replayed
        ("setup_count", "<i4"),
        ("name_length", "<i4"),
        ("komi", "<f4"),  # NaN when absent
        ("margin", "<f4"),  # points, NaN unless counted
        ("source", "<i2"),  # index into the manifest's sources
        ("year", "<i2"),  # 0 when unknown
        ("black_rank", "<i2"),
        ("white_rank", "<i2"),
        ("handicap", "<i2"),
        ("winner", "i1"),  # 0 unknown or none, BLACK, WHITE
        ("result", "i1"),
        ("end", "i1"),
        ("flags", "u1"),
    ],
    align=False,
)
