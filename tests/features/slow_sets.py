"""The planes of go-NN, Clark & Storkey and Cazenave written down once more from the specification, slow and obvious, by
name.

(spec: other systems 1.2, 2.2, 4.2; the ladder planes as gonn_core/features/cazenave_ladders.py defines them)
"""

import numpy as np

from gonn_core.go.ladder_search import ladder_bits, make_workspace
from gonn_core.go.layout import FIRST, FLAGS, KO, MOVE, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, POINTS, SIZE, WHITE
from tests.boards import bitboards, points_of
from tests.features.slow_planes import liberties_after
from tests.go.slow_board import NO_KO, chain_and_liberties, neighbours, play

EMPTY = 0


def history(source, row: int, keep: int, setup_is_history: bool) -> list[int]:
    """The last `keep` moves before a row, the last one first, negative for a pass."""
    moves = []
    while not source.moves[row, FLAGS] & FIRST and len(moves) < keep:
        row -= 1
        moves.append(int(source.moves[row, MOVE]))
    if setup_is_history:
        game = source.game[row]
        codes = source.setup[source.setup_first[game] : source.setup_first[game] + source.setup_count[game]]
        moves += [int(code % POINTS) for code in codes[::-1] if code >= POINTS]
    return moves[:keep]


def ladder_states(board, ko=NO_KO) -> set[int]:
    """Stones of the chains that fall to their enemy, moving now, with two liberties or in atari."""
    falling = points_of(ladder_bits(bitboards(np.array(board)), ko, WORKSPACE))
    seen = set()
    for p in range(POINTS):
        if board[p] != EMPTY and p not in seen:
            stones, liberties = chain_and_liberties(board, p)
            seen |= stones
            if len(liberties) == 1 and play(board, ko, *liberties, 3 - board[p]):
                falling |= stones
            elif len(liberties) != 2:
                falling -= stones
    return {p for p in falling if board[p] != EMPTY}


WORKSPACE = make_workspace()


def ladder_planes(board, own: int, ko: int, bits: set[int]) -> dict[str, set[int]]:
    """Points of the eight ladder planes; `board` of BLACK and WHITE, `bits` the store's ladder bits."""
    count = {p: len(chain_and_liberties(board, p)[1]) for p in range(POINTS) if board[p] != EMPTY}
    planes = {
        "ladder_atari": {p for p in bits if count.get(p) == 1},
        "ladder_two_liberties": {p for p in bits if count.get(p) == 2},
        "ladder_capture": set(),
        "ladder_escape": set(),
    }
    before = ladder_states(board)
    for mover, prefix in ((own, "ladder_"), (3 - own, "ladder_opponent_")):
        caught, threat = planes.setdefault(f"{prefix}move_caught", set()), planes.setdefault(f"{prefix}threat", set())
        for move in range(POINTS):
            played = play(board, ko if mover == own else NO_KO, move, mover)
            if played is None:
                continue
            after, ko_after = played
            falling_twice = ladder_states(after)
            falling = falling_twice if ko_after == NO_KO else ladder_states(after, ko_after)
            if move in falling:
                caught.add(move)
            if mover == own and any(board[p] == own and p not in falling for p in before):
                planes["ladder_escape"].add(move)
            if any(
                after[p] == 3 - mover and len(chain_and_liberties(after, p)[1]) == 2 for p in falling_twice - before
            ):
                threat.add(move)
    for p in (p for p in bits if board[p] == EMPTY):  # first moves of ladders: against which colour?
        for q in neighbours(p):
            played = play(board, ko, p, own)
            if played and board[q] == 3 - own and count[q] == 2:
                chain = ladder_bits(bitboards(np.array(played[0])), NO_KO, WORKSPACE)
                if q in points_of(chain) and len(chain_and_liberties(played[0], q)[1]) == 1:
                    planes["ladder_capture"].add(p)
    return planes


def slow_set(features, source, row: int, keep: int) -> dict[str, set[int]]:
    """Points of all planes that a row has in any of the three sets with the liberties of `features`."""
    black, white = points_of(source.stones[row, :6]), points_of(source.stones[row, 6:])
    board = [BLACK if p in black else WHITE if p in white else EMPTY for p in range(POINTS)]
    own = WHITE if source.moves[row, FLAGS] & WHITE_TO_MOVE else BLACK
    ko, everywhere = int(source.moves[row, KO]), set(range(POINTS))
    planes = {"ones": everywhere, "zeros": set(), "edge": set(), "empty": {p for p in everywhere if board[p] == EMPTY}}
    planes["ko"] = {ko} if ko >= 0 else set()
    planes["ko_flag"] = everywhere if ko >= 0 else set()
    planes["third_line"] = {p for p in everywhere if 2 in (*edges(p),) and min(edges(p)) == 2}
    for k, move in enumerate(history(source, row, keep, features.set == "go_nn"), 1):
        planes[f"history_{k}"] = {move} if move >= 0 else set()
    for side, colour in (("own", own), ("opponent", 3 - own)):
        planes[f"{side}_stone"] = {p for p in everywhere if board[p] == colour}
        for p in planes[f"{side}_stone"]:
            mark(planes, f"{side}_liberties", len(chain_and_liberties(board, p)[1]), features.liberties, p)
        for p in planes["empty"] - planes["ko"]:
            mark(planes, f"{side}_liberties_after", liberties_after(board, p, colour), 6, p)
    for p in planes["empty"] - planes["ko"]:
        captured = {s for q in neighbours(p) if board[q] == 3 - own for s in chain_if_in_atari(board, q)}
        mark(planes, "captures", len(captured), 4, p)
    if features.ladders:
        planes |= ladder_planes(board, own, ko, points_of(source.ladders[row]))
    return planes


def edges(p: int) -> tuple[int, int, int, int]:
    row, col = divmod(p, SIZE)
    return row, col, SIZE - 1 - row, SIZE - 1 - col


def chain_if_in_atari(board, p: int) -> set[int]:
    stones, liberties = chain_and_liberties(board, p)
    return stones if len(liberties) == 1 else set()


def mark(planes, name: str, number: int, most: int, p: int) -> None:
    planes.setdefault(f"{name}_{number}" if number < most else f"{name}_{most}_or_more", set()).add(p)
