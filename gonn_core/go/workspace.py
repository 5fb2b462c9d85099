"""The scratch memory of the replay and ladder kernels: made once per thread, used for any number of games."""

from typing import NamedTuple

import numpy as np

from gonn_core.go.points import PADDED, WORDS
from gonn_core.go.rules import BOARD_LENGTH, UNDO_PER_MOVE

MAX_DEPTH = 722
"""Deepest ladder, in plies (spec: GoNN 1.2, twice the points of the board); a deeper one counts as capped."""
NODE_LIMIT = 50_000
"""Nodes after which a ladder search counts as capped: the chain then escapes."""
CANDIDATES = 16_384
"""Room for the moves still to be tried along one line of a search."""
PADDED_WORDS = (PADDED + 63) // 64

SEARCHES, NODES, REUSED, CAPPED = range(4)
"""Counters: ladder searches, their nodes, answers taken from the cache, searches that hit a limit."""


class SearchWorkspace(NamedTuple):
    """One thread's memory; two threads must not share one."""

    board: np.ndarray  # (BOARD_LENGTH,) uint16, see rules.py
    undo: np.ndarray  # uint16, see rules.py: room for the deepest search after the move that opens it
    frames: np.ndarray  # (MAX_DEPTH, 2) int64: next and end of a node's moves in `candidates`
    candidates: np.ndarray  # (CANDIDATES,) uint16
    touched: np.ndarray  # (7,) uint64, padded bitboard: what the current search depends on
    footprints: (
        np.ndarray
    )  # (441, 7) uint64: the same, grown, of each cached answer, by the chain's head; see ladder_cache.py
    answers: np.ndarray  # (441, 6) uint64: the ladder bits of each cached answer
    valid: np.ndarray  # (441,) bool: is there an answer
    watched: np.ndarray  # (7,) uint64, padded bitboard: heads of the chains with one or two liberties
    changed: np.ndarray  # (7,) uint64, padded bitboard: what the moves since the last look at the ladders changed
    counters: np.ndarray  # (4,) int64
    node_limit: np.ndarray  # (1,) int64


def make_workspace(node_limit: int = NODE_LIMIT) -> SearchWorkspace:
    """Fresh memory for one thread (about 150 KB). Another node limit than the default may give other ladder bits: for
    tests."""
    return SearchWorkspace(
        board=np.zeros(BOARD_LENGTH, np.uint16),
        undo=np.zeros((MAX_DEPTH + 1) * UNDO_PER_MOVE, np.uint16),
        frames=np.zeros((MAX_DEPTH, 2), np.int64),
        candidates=np.zeros(CANDIDATES, np.uint16),
        touched=np.zeros(PADDED_WORDS, np.uint64),
        footprints=np.zeros((PADDED, PADDED_WORDS), np.uint64),
        answers=np.zeros((PADDED, WORDS), np.uint64),
        valid=np.zeros(PADDED, np.bool_),
        watched=np.zeros(PADDED_WORDS, np.uint64),
        changed=np.zeros(PADDED_WORDS, np.uint64),
        counters=np.zeros(4, np.int64),
        node_limit=np.array([node_limit], np.int64),
    )
