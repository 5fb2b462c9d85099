"""Kernels of games in play, over the boards of go/rules.py.

This file is not part of the hash that names the kernel cache (go/jit.py): no other file's kernel calls these, and numba
looks at the file of a compiled function itself. So an edit here compiles nothing else anew. Keep it so: a kernel in
here may call those of go/ and features/ and of this file, and none elsewhere may call them.
"""

import numpy as np

from gonn_core.go.jit import kernel
from gonn_core.go.ladder_search import find_ladders
from gonn_core.go.layout import FIRST, FLAGS, KO, LAST, MOVE, NONE, PLY, WHITE_TO_MOVE
from gonn_core.go.points import BLACK, EMPTY, FROM_PADDED, PADDED, PASS, POINTS, WALL, WHITE, WORDS
from gonn_core.go.rules import (
    BOTTOM,
    DOWN,
    HEAD,
    LEFT,
    LIBERTIES,
    NEXT,
    NOWHERE,
    PADDED_POINT,
    RIGHT,
    UP,
    captured_head,
    chains_around,
    has_point,
    is_legal,
    neighbours,
    play,
    set_up,
)

_ONE = np.uint64(1)
_BY_ITSELF, _AFTER_PASS, _PASS_ALIVE = range(3)
"""Passing rules, as `survey` takes them: without a candidate; also after a pass; also when all of them are settled."""

_KEYS = np.random.Generator(np.random.PCG64(361)).integers(0, 2**64, (3, PADDED), np.uint64)
"""Zobrist keys by colour and padded point. Two positions of one game with equal hashes are taken for the same (1 in
2^64)."""
_KEYS[EMPTY] = 0


@kernel
def start(table, game, to_move):
    """Row 0 of a game whose `table.stones[game, 0]` are set: board, hash, no move."""
    set_up(table.boards[game], table.undo, table.stones[game, 0])
    key = np.uint64(0)
    for p in PADDED_POINT:
        key ^= _KEYS[table.boards[game, p], p]
    table.hashes[game, 0] = key
    table.vacated[game] = 0
    table.played[game] = 0
    _write_row(table, game, 0, -1, FIRST | (WHITE_TO_MOVE if to_move == WHITE else 0))


@kernel
def _write_row(table, game, row, ko, flags):
    moves = table.moves[game, row]
    moves[MOVE], moves[KO], moves[PLY], moves[FLAGS] = NONE, ko, row, flags | LAST


@kernel
def set_mover(table, game, colour):
    """Makes `colour` the side to move."""
    flags = table.moves[game, table.played[game], FLAGS]
    table.moves[game, table.played[game], FLAGS] = (flags & ~WHITE_TO_MOVE) | (WHITE_TO_MOVE if colour == WHITE else 0)


@kernel
def play_on(table, game, move, colour):
    """Plays a legal point or PASS and writes the next row, with the other side to move."""
    row = table.played[game]
    set_mover(table, game, colour)
    table.moves[game, row, MOVE] = move
    table.moves[game, row, FLAGS] &= ~LAST
    table.stones[game, row + 1] = table.stones[game, row]
    key, ko = table.hashes[game, row], NOWHERE
    if move != PASS:
        board, stones = table.boards[game], table.stones[game, row + 1]
        p = PADDED_POINT[move]
        _, ko, captured_chains = play(board, table.undo, BOTTOM, p, np.uint64(colour))
        key ^= _KEYS[colour, p]
        first = 0 if colour == BLACK else WORDS
        stones[first + (move >> 6)] |= _ONE << np.uint64(move & 63)
        for i in range(captured_chains):
            head = captured_head(table.undo, BOTTOM, i)
            stone = head
            while True:
                at = FROM_PADDED[stone]
                bit = _ONE << np.uint64(at & 63)
                stones[WORDS - first + (at >> 6)] &= ~bit
                table.vacated[game, at >> 6] |= bit
                key ^= _KEYS[BLACK + WHITE - colour, stone]
                stone = np.uint64(board[NEXT + stone])
                if stone == head:
                    break
    table.hashes[game, row + 1] = key
    table.played[game] = row + 1
    _write_row(table, game, row + 1, FROM_PADDED[ko], WHITE_TO_MOVE if colour == BLACK else 0)


@kernel
def play_moves(table, games, moves, most_moves, over):
    """Plays the legal `moves` (B,) of the sides to move in `games` (B,); `over` (B,) bool: two passes, or as many moves
    as there may be."""
    for j in range(len(games)):
        game = games[j]
        row = table.played[game]
        play_on(table, game, moves[j], WHITE if table.moves[game, row, FLAGS] & WHITE_TO_MOVE else BLACK)
        over[j] = row + 1 >= most_moves or (moves[j] == PASS and row > 0 and table.moves[game, row - 1, MOVE] == PASS)


@kernel
def take_back(table, game):
    """Undoes the last move; its mover is to move again. What was ever vacated stays so: it only says where superko has
    to look."""
    row = table.played[game] - 1
    table.played[game] = row
    table.moves[game, row, MOVE] = NONE
    table.moves[game, row, FLAGS] |= LAST
    set_up(table.boards[game], table.undo, table.stones[game, row])


@kernel
def repeats(table, game, p, colour):
    """True when `colour` on the padded point p, a legal move, would bring back a position of this game."""
    board, row = table.boards[game], table.played[game]
    key = table.hashes[game, row] ^ _KEYS[colour, p]
    for head in chains_around(board, p, np.uint64(BLACK + WHITE - colour)):
        if head != NOWHERE and board[LIBERTIES + head] == 1:
            stone = head
            while True:
                key ^= _KEYS[BLACK + WHITE - colour, stone]
                stone = np.uint64(board[NEXT + stone])
                if stone == head:
                    break
    for past in range(row):  # noqa: SIM110  numba compiles no generators
        if table.hashes[game, past] == key:
            return True
    return False


@kernel
def is_simple_eye(board, p, colour):
    """True when the empty padded point p is a simple eye of `colour` (spec: GoNN 5.2)."""
    for q in neighbours(p):
        if board[q] != colour and board[q] != WALL:
            return False
    enemies, walls = 0, 0
    for q in (p + UP + LEFT, p + UP + RIGHT, p + DOWN + LEFT, p + DOWN + RIGHT):
        if board[q] == WALL:
            walls += 1
        elif board[q] != colour and board[q] != EMPTY:
            enemies += 1
    return enemies == 0 or (enemies == 1 and walls == 0)


@kernel
def find_moves(table, game, colour, superko, legal, candidates):
    """Fills `legal` (361,) and `candidates` (361,) bool: legal points, and those that are no simple eye of the mover.
    Returns how many of these."""
    board, row = table.boards[game], table.played[game]
    ko = table.moves[game, row, KO]
    ko_point = PADDED_POINT[ko] if ko >= 0 else NOWHERE
    count = 0
    for at in range(POINTS):
        p = PADDED_POINT[at]
        legal[at] = candidates[at] = False
        if is_legal(board, p, np.uint64(colour), ko_point):
            # A position comes back only by a stone where one stood before.
            if superko and has_point(table.vacated[game], at) and repeats(table, game, p, colour):
                continue
            legal[at] = True
            if not is_simple_eye(board, p, colour):
                candidates[at] = True
                count += 1
    return count


@kernel
def survey(table, games, superko, passing, candidates, settled, passes):
    """What the side to move in each of `games` (B,) may choose from: `candidates` (B, 361), and whether it passes by
    `passing`: `passes` (B,).

    By _PASS_ALIVE points that are somebody's for certain are no candidates; `settled` (B, 361) says which these are,
    else none.
    """
    legal, owner = np.empty(POINTS, np.bool_), np.empty(POINTS, np.uint8)
    for j in range(len(games)):
        game = games[j]
        row = table.played[game]
        colour = WHITE if table.moves[game, row, FLAGS] & WHITE_TO_MOVE else BLACK
        count = find_moves(table, game, colour, superko, legal, candidates[j])
        settled[j] = False
        if passing == _PASS_ALIVE:
            find_settled(table.boards[game], owner)
            for at in range(POINTS):
                settled[j, at] = owner[at] != EMPTY
                if settled[j, at] and candidates[j, at]:
                    candidates[j, at] = False
                    count -= 1
        passes[j] = count == 0
        if passing == _AFTER_PASS and row > 0 and table.moves[game, row - 1, MOVE] == PASS:
            passes[j] = True


@kernel
def find_settled(board, owner):
    """Fills `owner` (361,) uint8: whose a point is by unconditional life (Benson 1976), BLACK or WHITE, EMPTY where
    nothing is certain.

    A chain is alive with two vital regions: connected sets of points without a stone of its colour whose empty points
    are all its liberties, and which only living chains touch. Owned are the living chains and the regions
    vital to one of them.
    """
    owner[:] = EMPTY
    region = np.zeros(PADDED, np.int64)
    waiting = np.empty(PADDED, np.uint64)
    number = np.zeros(PADDED, np.int64)  # of the chain with that head, from 1
    for colour in (BLACK, WHITE):
        region[:] = 0
        n_regions = 0
        for first in PADDED_POINT:
            if board[first] == colour or region[first] != 0:
                continue
            n_regions += 1
            region[first] = n_regions
            waiting[0] = first
            count = 1
            while count > 0:
                count -= 1
                for q in neighbours(waiting[count]):
                    if board[q] != WALL and board[q] != colour and region[q] == 0:
                        region[q] = n_regions
                        waiting[count] = q
                        count += 1
        if n_regions < 2:
            continue
        n_chains = 0
        for p in PADDED_POINT:
            if board[p] == colour and board[HEAD + p] == p:
                n_chains += 1
                number[p] = n_chains
        beside = np.zeros((n_regions + 1, n_chains + 1), np.bool_)
        liberties = np.zeros((n_regions + 1, n_chains + 1), np.int64)
        empties = np.zeros(n_regions + 1, np.int64)
        for p in PADDED_POINT:
            if region[p] != 0:
                empties[region[p]] += board[p] == EMPTY
                for head in chains_around(board, p, np.uint64(colour)):
                    if head != NOWHERE:
                        beside[region[p], number[head]] = True
                        liberties[region[p], number[head]] += board[p] == EMPTY
        alive, kept = np.ones(n_chains + 1, np.bool_), np.ones(n_regions + 1, np.bool_)
        changed = True
        while changed:
            changed = False
            for c in range(1, n_chains + 1):
                if alive[c]:
                    vital = 0
                    for r in range(1, n_regions + 1):
                        vital += kept[r] and beside[r, c] and liberties[r, c] == empties[r]
                    if vital < 2:
                        alive[c] = False
                        changed = True
            for r in range(1, n_regions + 1):
                for c in range(1, n_chains + 1):
                    if kept[r] and beside[r, c] and not alive[c]:
                        kept[r] = False
                        changed = True
        for r in range(1, n_regions + 1):
            vital = False
            for c in range(1, n_chains + 1):
                vital |= alive[c] and beside[r, c] and liberties[r, c] == empties[r]
            kept[r] = kept[r] and vital
        for at in range(POINTS):
            p = PADDED_POINT[at]
            if (region[p] != 0 and kept[region[p]]) or (
                board[p] == colour and alive[number[np.uint64(board[HEAD + p])]]
            ):
                owner[at] = colour


@kernel
def add_ladders(table, games, work):
    """Fills the ladder bitboards of the present rows of `games`, each searched anew (about 12 µs)."""
    for game in games:
        row = table.played[game]
        work.board[:] = table.boards[game]
        ko = table.moves[game, row, KO]
        find_ladders(work, table.stones[game, row], PADDED_POINT[ko] if ko >= 0 else NOWHERE, table.ladders[game, row])


@kernel
def choose_biased(logits, candidates, exponents, draws, chosen):
    """GoNN's biased choice (spec: GoNN 5.4): `chosen` (B,) of logits (B, 361) and candidates (B, 361), of which each
    position has one.

    exponents (B,): beta of the distribution Beta(1, beta) from which the threshold comes, by `draws` (B,) uniform in
    [0, 1): along the candidates by falling probability the first one whose cumulative probability exceeds it.
    Probabilities are those of the softmax over all points; where their sum stays below the threshold, the last
    candidate. Among equals the lowest point comes first.
    """
    p = np.empty(POINTS, np.float64)
    for j in range(len(logits)):
        top = np.float64(logits[j, 0])
        for at in range(POINTS):
            top = max(top, np.float64(logits[j, at]))
        total = 0.0
        for at in range(POINTS):
            p[at] = np.exp(np.float64(logits[j, at]) - top)
            total += p[at]
            if not candidates[j, at]:
                p[at] = -1.0
        threshold = (1.0 - (1.0 - draws[j]) ** (1.0 / exponents[j])) * total
        passed, last = 0.0, -1
        while True:
            best = -1
            for at in range(POINTS):
                if p[at] >= 0.0 and (best < 0 or p[at] > p[best]):
                    best = at
            if best < 0:
                break
            last = best
            passed += p[best]
            p[best] = -1.0
            if passed > threshold:
                break
        chosen[j] = last
