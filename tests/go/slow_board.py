"""Go rules and ladders the slow, obvious way: immutable boards, flood fill, plain recursion. Written from spec GoNN 1.1
and 1.2."""

from functools import cache

from gonn_core.go.points import EMPTY, POINTS, SIZE

NO_KO = -1


@cache
def neighbours(p: int) -> tuple[int, ...]:
    row, col = divmod(p, SIZE)
    around = ((row - 1, col), (row, col - 1), (row, col + 1), (row + 1, col))
    return tuple(r * SIZE + c for r, c in around if 0 <= r < SIZE and 0 <= c < SIZE)


def chain_and_liberties(board, p: int) -> tuple[set[int], set[int]]:
    """Stones and liberties of the chain at p."""
    stones, liberties, waiting = {p}, set(), [p]
    while waiting:
        for q in neighbours(waiting.pop()):
            if board[q] == EMPTY:
                liberties.add(q)
            elif board[q] == board[p] and q not in stones:
                stones.add(q)
                waiting.append(q)
    return stones, liberties


def play(board, ko: int, p: int, colour: int):
    """(board, ko point) after a move, or None when it is illegal: occupied, simple ko, suicide."""
    if board[p] != EMPTY or p == ko:
        return None
    after = list(board)
    after[p] = colour
    captured = set()
    for q in neighbours(p):
        if after[q] == 3 - colour:
            stones, liberties = chain_and_liberties(after, q)
            if not liberties:
                captured |= stones
    for q in captured:
        after[q] = EMPTY
    stones, liberties = chain_and_liberties(after, p)
    if not liberties:
        return None
    takes_ko = len(captured) == 1 and len(stones) == 1 and len(liberties) == 1
    return tuple(after), captured.pop() if takes_ko else NO_KO


class TooLong(Exception):
    """The slow solver gave up: the position says nothing."""


class LadderSolver:
    """The recursive search of spec GoNN 1.2 with its prunings and without any other shortcut."""

    def __init__(self, node_limit: int):
        self.nodes_left = node_limit

    def _count(self):
        self.nodes_left -= 1
        if self.nodes_left < 0:
            raise TooLong

    def captured_if_defender_moves(self, board, ko, stone, is_root=True) -> bool:
        self._count()
        defender = board[stone]
        stones, liberties = chain_and_liberties(board, stone)
        if len(liberties) >= 2:
            return False
        if is_root:
            ko = NO_KO
        elif ko != NO_KO:
            return False
        moves = []
        for p in stones:
            for q in neighbours(p):
                if board[q] == 3 - defender:
                    attacker_liberties = chain_and_liberties(board, q)[1]
                    if len(attacker_liberties) == 1:
                        moves += attacker_liberties
        for move in dict.fromkeys([*moves, *liberties]):
            after = play(board, ko, move, defender)
            if after is not None and not self._captured_if_attacker_moves(*after, stone):
                return False
        return True

    def _captured_if_attacker_moves(self, board, ko, stone) -> bool:
        self._count()
        liberties = sorted(chain_and_liberties(board, stone)[1])
        if len(liberties) <= 1:
            return True
        if len(liberties) >= 3:
            return False
        p, q = liberties
        if q not in neighbours(p):
            open_p, open_q = (sum(board[n] == EMPTY for n in neighbours(x)) >= 3 for x in (p, q))
            if open_p and open_q:
                return False
            liberties = [p] if open_p else [q] if open_q else liberties
        for move in liberties:
            after = play(board, ko, move, 3 - board[stone])
            if after is not None and self.captured_if_defender_moves(*after, stone, is_root=False):
                return True
        return False


def ladder_points(board, ko: int, node_limit: int = 20_000) -> set[int]:
    """All points that the ladder bitboard marks. Raises TooLong."""
    board, marked = tuple(board), set()
    for p in range(POINTS):
        if board[p] == EMPTY:
            continue
        stones, liberties = chain_and_liberties(board, p)
        if p != min(stones) or len(liberties) > 2:
            continue
        solver = LadderSolver(node_limit)
        if len(liberties) == 1:
            if solver.captured_if_defender_moves(board, ko, p):
                marked |= stones
            continue
        for move in liberties:
            after = play(board, ko, move, 3 - board[p])
            if after is not None and solver.captured_if_defender_moves(*after, p):
                marked |= stones | {move}
    return marked
