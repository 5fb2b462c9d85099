"""Input planes of any set, from rows of a position store, for training, evaluation and play.

Planes are 0/1, mover-relative, as many as `sets.computed_planes(features)` names. Every call owns its scratch memory
and runs without the GIL: call from as many threads as you like.

Past boards are planes of own and opponent's stones 1, 2, … moves ago, after GoNN's 26 (spec: GoNN 6, history as an
input). Stones of the player who moves now are *own* on every board. Moves are counted as the store has them: a pass is
a move after which the board is the same, a handicap stone played at the start is one too. Ours, for the documents do
not say: before a game's first move the board that it began with, setup stones included, repeats itself.

After these come planes of the mover's rank: one of eight is ones all over the board (GoNN: Ranks as an Input, June
2018; there 64 pairs of rank and server, embedded in 8 numbers).

History dropping hides the boards older than the moves that are kept. A hidden board is empty (`zero`), or a copy of the
oldest one that is still shown, the present one when none is (`copy`): to the net, nothing happened before.
"""

import numpy as np

from gonn_core.features.cazenave_ladders import make_workspaces, mark_ladders
from gonn_core.features.gonn import HISTORY, PLANES, fill_bits, fill_numbers
from gonn_core.features.marks import ROOM, make_tables, mark_rows, write_bits, write_numbers
from gonn_core.features.sets import RANK_GROUPS, computed_planes
from gonn_core.features.source import PlaneSource
from gonn_core.features.stored_ladders import StoredMarks, look_up_marks
from gonn_core.go import jit
from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.layout import FIRST, FLAGS, RANK_MISSING, WHITE_TO_MOVE
from gonn_core.go.points import POINTS, SIZE, SYMMETRY, WORDS
from gonn_core.settings.features import FeatureConfig


@kernel
def _mark(stones, moves, row, keep, boards, copy, image, marks):
    """The marks of one position, `plane*361 + point` counted from the first past board; returns their number."""
    own = WORDS if moves[row, FLAGS] & WHITE_TO_MOVE else 0
    n = 0
    for ago in range(boards):
        if ago >= keep and not copy:
            break
        if ago < keep and not moves[row, FLAGS] & FIRST:
            row -= 1
        for side in range(2):
            first_word = own if side == 0 else WORDS - own
            for word in range(WORDS):
                bits = stones[row, first_word + word]
                while bits != 0:
                    marks[n] = (2 * ago + side) * POINTS + image[word * 64 + lowest_bit(bits)]
                    n += 1
                    bits &= bits - np.uint64(1)
    return n


@kernel
def _add_numbers(stones, moves, rows, symmetries, keep, boards, copy, first, out):
    marks = np.empty(boards * POINTS, np.int64)
    for j in range(len(rows)):
        for k in range(_mark(stones, moves, rows[j], keep[j], boards, copy, SYMMETRY[symmetries[j]], marks)):
            out[j, first + marks[k]] = 1


@kernel
def _add_bits(stones, moves, rows, symmetries, keep, boards, copy, first, out):
    marks = np.empty(boards * POINTS, np.int64)
    for j in range(len(rows)):
        for k in range(_mark(stones, moves, rows[j], keep[j], boards, copy, SYMMETRY[symmetries[j]], marks)):
            mark = first + marks[k]
            out[j, mark >> 3] |= 0x80 >> (mark & 7)


FIRST_RANKS = np.array([RANK_MISSING + 1, 0, 3, 5, 6, 7, 8])
"""Lowest rank of each of `RANK_GROUPS` after the first, as in go/layout.py; unknown ones are below."""


@kernel
def _fill_board_numbers(planes, first, out):
    for j in range(len(planes)):
        for point in range(POINTS):
            out[j, first + planes[j] * POINTS + point] = 1


@kernel
def _fill_board_bits(planes, first, out):
    for j in range(len(planes)):
        for point in range(POINTS):
            mark = first + planes[j] * POINTS + point
            out[j, mark >> 3] |= 0x80 >> (mark & 7)


def rank_groups(source: PlaneSource, rows: np.ndarray) -> np.ndarray:
    """(B,) int64: the group of the mover's rank at each row."""
    white = source.moves[rows, FLAGS] & WHITE_TO_MOVE
    return np.searchsorted(FIRST_RANKS, source.ranks[source.game[rows], white], side="right")


def packed_bytes(features: FeatureConfig) -> int:
    """Bytes of one packed position: a bit a point of every plane made, most significant bit first, zero padded."""
    return (len(computed_planes(features)) * POINTS + 7) // 8


def is_compiled(features: FeatureConfig, packed: bool, stored: bool = False) -> bool:
    """Whether `make_planes` of these features would run without compiling first, which takes seconds. stored: with the
    ladder marks of a store."""
    kernels = [mark_rows] if features.set != "gonn" else [fill_bits if packed else fill_numbers]
    if features.set != "gonn" and features.ladders:
        kernels.append(look_up_marks if stored else mark_ladders)
    return all(map(jit.is_compiled, kernels))


def make_planes(
    features: FeatureConfig,
    source: PlaneSource,
    rows,
    symmetries,
    keep,
    out,
    targets,
    stored: StoredMarks | None = None,
) -> None:
    """Fill `out` with the planes of the positions at `rows`, and `targets` with the moves played there.

    rows (B,), symmetries (B,), keep (B,)       which rows; symmetry of each, 0..7; earlier moves that are shown, 0..5
    out (B, P, 19, 19) or (B, P, 361)           float32 or uint8, C-contiguous: ones and zeros of the P planes made
        or (B, packed_bytes(features)) uint8    what numpy.packbits makes of these
    targets (B,) int64                          the move under the symmetry, -1 for a pass or none
    stored                                      the ladder marks of all rows of the source, where they were made; else
                                                the ladders of these rows are searched, with the same result

    Raises SettingError for an unknown set, ValueError for arrays of another shape or type and numbers out of range.
    """
    count, planes, packed = len(rows), len(computed_planes(features)), out.ndim == 2
    types = {np.dtype(np.uint8)} if packed else {np.dtype(np.uint8), np.dtype(np.float32)}
    shapes = {(count, packed_bytes(features)), (count, planes, SIZE, SIZE), (count, planes, POINTS)}
    if out.dtype not in types or out.shape not in shapes or not out.flags.c_contiguous:
        packed_shape = count, packed_bytes(features)
        valid = f"float32 or uint8 {count, planes, SIZE, SIZE}, or packed in uint8 {packed_shape}, C-contiguous"
        raise ValueError(f"out: {out.dtype} {out.shape}, must be {valid}")
    rows, symmetries, keep = _checked(source, (rows, symmetries, keep), targets)
    out = out if packed else out.reshape(count, planes * POINTS)
    if features.set == "gonn":
        fill = fill_bits if packed else fill_numbers
        fill(source.stones, source.ladders, source.moves, rows, symmetries, keep, out, targets)
        if features.past_boards:
            add, copy = _add_bits if packed else _add_numbers, features.past_boards_dropped == "copy"
            boards = features.past_boards
            add(source.stones, source.moves, rows, symmetries, keep, boards, copy, PLANES * POINTS, out)
        if features.ranks:
            fill_board = _fill_board_bits if packed else _fill_board_numbers
            fill_board(rank_groups(source, rows), (planes - len(RANK_GROUPS)) * POINTS, out)
        return
    tables = make_tables(computed_planes(features), features.set == "go_nn")
    marks, counts = np.empty((count, ROOM), np.uint16), np.empty(count, np.int64)
    mark_rows(source, rows, symmetries, keep, tables, marks, counts, targets)
    if features.ladders and stored is not None:
        if len(stored.first) != len(source.stones) + 1:
            raise ValueError(f"stored marks of {len(stored.first) - 1} rows for {len(source.stones)}")
        look_up_marks(*stored, rows, symmetries, tables.ladders, marks, counts)
    elif features.ladders:
        mark_ladders(source, rows, symmetries, tables.ladders, *make_workspaces(), marks, counts)
    if packed:
        write_bits(marks, counts, tables.end, out)
    else:
        write_numbers(marks, counts, out)


def _checked(source: PlaneSource, batch, targets) -> list[np.ndarray]:
    """Rows, symmetries and keep as the kernels take them; the kernels themselves test no bounds. Raises ValueError."""
    count = len(batch[0])
    limits = (("rows", np.int64, len(source.stones)), ("symmetries", np.uint8, 8), ("keep", np.uint8, HISTORY + 1))
    checked = []
    for array, (name, dtype, end) in zip(batch, limits, strict=True):
        array = np.ascontiguousarray(array)
        if array.shape != (count,) or (count and not (array.min() >= 0 and array.max() < end)):
            raise ValueError(f"{name}: must be {count} numbers of 0..{end - 1}")
        checked.append(array.astype(dtype, copy=False))
    if targets.dtype != np.int64 or targets.shape != (count,):
        raise ValueError(f"targets: {targets.dtype} {targets.shape}, must be int64 ({count},)")
    return checked
