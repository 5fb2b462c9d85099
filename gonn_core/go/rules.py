"""Rules of Go as kernels: a board that plays and takes back moves, with the chains and their liberties kept up to date.

The board is one flat uint16 array (`BOARD_LENGTH`,), five sections over the padded points of `points.py`:

    board[p]              colour of p, WALL on the rim
    board[HEAD + p]       head of the chain of stone p: one of its stones
    board[NEXT + p]       next stone of the same chain, in a ring
    board[LIBERTIES + h]  number of liberties of the chain with head h
    board[SIZE_OF + h]    number of stones of that chain

Padded points are uint64 in here, so that numba neither wraps negative indices nor falls back to float; `NOWHERE`, a
point of the rim, stands for "no point" and "no chain". Suicide is illegal, ko is the simple one: the point of a stone
just captured alone by a stone that stands alone in atari (spec: GoNN 1.1).

Positions may also be put down at once: setup stones of a game, bitboards of a row.
"""

import numpy as np

from gonn_core.go.jit import kernel, lowest_bit
from gonn_core.go.points import EMPTY, PADDED, POINTS, STRIDE, TO_PADDED, WALL, WORDS

NOWHERE = np.uint64(0)
UP, LEFT, RIGHT, DOWN = (np.uint64(step % 2**64) for step in (-STRIDE, -1, 1, STRIDE))
HEAD, NEXT, LIBERTIES, SIZE_OF = (np.uint64(section * PADDED) for section in (1, 2, 3, 4))
BOARD_LENGTH = 5 * PADDED

UNDO_PER_MOVE = 18
"""Most numbers that one move pushes on an undo stack."""
BOTTOM = np.uint64(0)
"""Height of an empty undo stack."""
_SAVED = np.uint64(4)  # a move's record starts with the four old values at its point; the captured heads follow

_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_EMPTY = np.uint64(EMPTY)  # numba would compile a kernel anew for a literal 0
PADDED_POINT = TO_PADDED.astype(np.uint64)
"""(361,) uint64: point -> padded point."""


@kernel
def neighbours(p):
    """The four padded points around p."""
    return (p + UP, p + LEFT, p + RIGHT, p + DOWN)


@kernel
def chains_around(board, p, colour):
    """Heads of the distinct chains of `colour` next to p, NOWHERE in the places left over."""
    up = np.uint64(board[HEAD + p + UP]) if board[p + UP] == colour else NOWHERE
    left = np.uint64(board[HEAD + p + LEFT]) if board[p + LEFT] == colour else NOWHERE
    right = np.uint64(board[HEAD + p + RIGHT]) if board[p + RIGHT] == colour else NOWHERE
    down = np.uint64(board[HEAD + p + DOWN]) if board[p + DOWN] == colour else NOWHERE
    if left == up:
        left = NOWHERE
    if right == up or right == left:
        right = NOWHERE
    if down == up or down == left or down == right:
        down = NOWHERE
    return (up, left, right, down)


@kernel
def empties_around(board, p):
    """Number of empty points next to p."""
    empties = np.int64(board[p + UP] == EMPTY) + np.int64(board[p + LEFT] == EMPTY)
    return empties + np.int64(board[p + RIGHT] == EMPTY) + np.int64(board[p + DOWN] == EMPTY)


@kernel
def is_suicide(board, p, colour):
    """True when `colour` on the empty point p would have no liberty after captures."""
    for q in neighbours(p):
        there = board[q]
        if there == EMPTY:
            return False
        if there != WALL:
            liberties = board[LIBERTIES + board[HEAD + q]]
            if (there == colour and liberties > 1) or (there != colour and liberties == 1):
                return False
    return True


@kernel
def is_legal(board, p, colour, ko):
    """True when `colour` may play the padded point p: empty, not the ko point, not suicide."""
    return board[p] == EMPTY and p != ko and not is_suicide(board, p, colour)


@kernel
def _touches(board, p, head, colour):
    """True when p is next to a stone of the chain `head`."""
    for q in neighbours(p):
        if board[q] == colour and board[HEAD + q] == head:
            return True
    return False


@kernel
def _add_liberties_of(board, stone, head, colour):
    """Counts to the chain `head` the empty points around `stone` that it does not touch yet; then the stone may
    join."""
    for q in neighbours(stone):
        if board[q] == EMPTY and not _touches(board, q, head, colour):
            board[LIBERTIES + head] += _ONE


@kernel
def _splice(board, a, b):
    """Joins the rings of a and b into one, or, done again with the same two, parts them."""
    after_a = board[NEXT + a]
    board[NEXT + a] = board[NEXT + b]
    board[NEXT + b] = after_a


@kernel
def _change_liberties_around_chain(board, head, colour, change):
    """Adds `change` to the liberties of each chain of `colour` once per stone of chain `head` that it touches."""
    stone = head
    while True:
        for other in chains_around(board, stone, colour):
            if other != NOWHERE:
                board[LIBERTIES + other] += change
        stone = np.uint64(board[NEXT + stone])
        if stone == head:
            break


@kernel
def _colour_chain(board, head, colour):
    """Sets the colour of all points of a chain's ring."""
    stone = head
    while True:
        board[stone] = colour
        stone = np.uint64(board[NEXT + stone])
        if stone == head:
            break


@kernel
def play(board, undo, top, p, colour):
    """Plays `colour` on p, which must be legal, and pushes what `take_back` needs on `undo` from `top`.

    Returns (new top, ko point or NOWHERE, number of captured chains). The heads of the captured chains are at
    `captured_head(undo, old top, i)`; their rings stay readable until a stone is played there.
    """
    enemy = _THREE - colour
    undo[top], undo[top + _ONE] = board[HEAD + p], board[NEXT + p]
    undo[top + _TWO], undo[top + _THREE] = board[LIBERTIES + p], board[SIZE_OF + p]
    top += _SAVED
    board[p] = colour

    captured_chains = 0
    captured = NOWHERE  # the only stone captured, if there is just one
    captured_stones = 0
    for head in chains_around(board, p, enemy):
        if head != NOWHERE:
            board[LIBERTIES + head] -= _ONE
            if board[LIBERTIES + head] == 0:
                board[HEAD + p] = (
                    p  # p is a chain of its own until it joins: it may gain liberties here, counted anew below
                )
                _colour_chain(board, head, _EMPTY)
                _change_liberties_around_chain(board, head, colour, _ONE)
                undo[top] = head
                top += _ONE
                captured_chains += 1
                captured_stones += board[SIZE_OF + head]
                captured = head

    own = chains_around(board, p, colour)
    into = NOWHERE  # the largest own chain around: p and the other chains join it
    for head in own:
        if head != NOWHERE and (into == NOWHERE or board[SIZE_OF + head] > board[SIZE_OF + into]):
            into = head
    joined = 0
    if into == NOWHERE:
        board[HEAD + p] = p
        board[NEXT + p] = p
        board[SIZE_OF + p] = 1
        board[LIBERTIES + p] = empties_around(board, p)
    else:
        undo[top], undo[top + _ONE] = board[LIBERTIES + into], board[SIZE_OF + into]
        top += _TWO
        board[HEAD + p] = NOWHERE
        board[LIBERTIES + into] -= _ONE
        _add_liberties_of(board, p, into, colour)
        board[HEAD + p] = into
        board[NEXT + p] = p
        _splice(board, into, p)
        board[SIZE_OF + into] += _ONE
        for head in own:
            if head != NOWHERE and head != into:
                stone = head
                while True:
                    _add_liberties_of(board, stone, into, colour)
                    board[HEAD + stone] = into
                    stone = np.uint64(board[NEXT + stone])
                    if stone == head:
                        break
                _splice(board, into, head)
                board[SIZE_OF + into] += board[SIZE_OF + head]
                undo[top] = head
                top += _ONE
                joined += 1
    undo[top], undo[top + _ONE], undo[top + _TWO], undo[top + _THREE] = captured_chains, into, joined, p
    ko = NOWHERE
    if captured_stones == 1 and into == NOWHERE and board[LIBERTIES + p] == 1:
        ko = captured
    return top + _SAVED, ko, captured_chains


@kernel
def captured_head(undo, top, i):
    """Head of the i-th chain captured by the move that was played at stack height `top`."""
    return np.uint64(undo[top + _SAVED + np.uint64(i)])


@kernel
def take_back(board, undo, top):
    """Undoes the last move on the stack; returns the stack height before it."""
    top -= _SAVED
    captured_chains, into = np.int64(undo[top]), np.uint64(undo[top + _ONE])
    joined, p = np.int64(undo[top + _TWO]), np.uint64(undo[top + _THREE])
    colour = np.uint64(board[p])
    enemy = _THREE - colour
    if into != NOWHERE:
        for _ in range(joined):
            top -= _ONE
            head = np.uint64(undo[top])
            _splice(board, into, head)
            stone = head
            while True:
                board[HEAD + stone] = head
                stone = np.uint64(board[NEXT + stone])
                if stone == head:
                    break
        _splice(board, into, p)
        top -= _TWO
        board[LIBERTIES + into], board[SIZE_OF + into] = undo[top], undo[top + _ONE]
    board[p] = EMPTY
    for head in chains_around(board, p, enemy):  # the captured chains are not on the board yet
        if head != NOWHERE:
            board[LIBERTIES + head] += _ONE
    for _ in range(captured_chains):
        top -= _ONE
        head = np.uint64(undo[top])
        _change_liberties_around_chain(board, head, colour, ~NOWHERE)  # that is -1
        _colour_chain(board, head, enemy)
        board[LIBERTIES + head] = 1
    top -= _SAVED
    board[HEAD + p], board[NEXT + p] = undo[top], undo[top + _ONE]
    board[LIBERTIES + p], board[SIZE_OF + p] = undo[top + _TWO], undo[top + _THREE]
    return top


@kernel
def only_liberty(board, head):
    """The liberty of a chain that has one; the first found of a chain with more."""
    stone = head
    while True:
        for q in neighbours(stone):
            if board[q] == EMPTY:
                return q
        stone = np.uint64(board[NEXT + stone])
        if stone == head:
            return NOWHERE


@kernel
def two_liberties(board, head):
    """The liberties of a chain that has two; the first two found of a chain with more; NOWHERE for what it lacks."""
    first = NOWHERE
    stone = head
    while True:
        for q in neighbours(stone):
            if board[q] == EMPTY:
                if first == NOWHERE:
                    first = q
                elif q != first:
                    return first, q
        stone = np.uint64(board[NEXT + stone])
        if stone == head:
            return first, NOWHERE


@kernel
def clear_board(board):
    """An empty board with its rim."""
    board[:] = 0
    board[:PADDED] = WALL
    for p in PADDED_POINT:
        board[p] = EMPTY


@kernel
def place_setup(setup, stones):
    """Bitboards `stones` (12,) of setup codes colour*361 + point in file order; codes out of range are ignored."""
    stones[:] = 0
    for code in setup:
        if 0 <= code < 3 * POINTS:
            colour, p = code // POINTS, code % POINTS
            bit = _ONE << np.uint64(p & 63)
            for side in range(2):
                stones[side * WORDS + (p >> 6)] &= ~bit
            if colour != 0:
                stones[(colour - 1) * WORDS + (p >> 6)] |= bit
    if len(setup) > 0:
        keep_living(stones)


@kernel
def has_point(words, p):
    """True when point p (0..360) is set in the bitboard."""
    return (words[p >> 6] >> np.uint64(p & 63)) & _ONE != 0


@kernel
def keep_living(stones):
    """Removes from a (12,) row of stones, in place, all chains without a liberty, of both colours at once.

    No legal game has such a chain; drawn setups may, and no kernel can do anything sensible with one.
    """
    colour = np.full(PADDED, WALL, np.uint8)
    for p in range(POINTS):
        colour[PADDED_POINT[p]] = has_point(stones[:WORDS], p) + 2 * has_point(stones[WORDS:], p)
    alive = np.zeros(PADDED, np.bool_)
    waiting = np.empty(PADDED, np.uint64)
    count = 0
    for p in PADDED_POINT:
        if colour[p] == 1 or colour[p] == 2:
            for q in neighbours(p):
                if colour[q] == EMPTY:
                    alive[p] = True
            if alive[p]:
                waiting[count] = p
                count += 1
    while count > 0:
        count -= 1
        p = waiting[count]
        for q in neighbours(p):
            if colour[q] == colour[p] and not alive[q]:
                alive[q] = True
                waiting[count] = q
                count += 1
    for p in range(POINTS):
        if not alive[PADDED_POINT[p]]:
            for side in range(2):
                stones[side * WORDS + (p >> 6)] &= ~(_ONE << np.uint64(p & 63))


@kernel
def set_up(board, undo, stones):
    """Makes the board of a (12,) row of stones in which every chain has a liberty (see `keep_living`)."""
    clear_board(board)
    for word in range(2 * WORDS):
        bits = stones[word]
        while bits != 0:
            p = PADDED_POINT[(word % WORDS) * 64 + lowest_bit(bits)]
            bits &= bits - _ONE
            play(board, undo, BOTTOM, p, np.uint64(1 + word // WORDS))
