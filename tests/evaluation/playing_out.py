"""A small exhaustive search for tests: is a chain captured when both sides play only on a few points, or pass?"""

from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, PASS, WHITE

DEPTH = 24
"""Plies after which the chain counts as living; a handful of points is settled much earlier."""


def captured(board: Board, target: int, mover: int, points, depth: int = DEPTH, memory: dict | None = None) -> bool:
    """Whether the chain at `target` is captured with `mover` to play; passing is allowed, two passes leave it alive."""
    memory = {} if memory is None else memory
    colour = board.colour(target)
    return _captured(board, target, colour, mover, tuple(sorted(points)), depth, False, memory)


def _captured(board, target, colour, mover, points, depth, passed, memory) -> bool:
    if board.colour(target) != colour:
        return True
    if depth == 0:
        return False
    key = (board.colours().tobytes(), board.ko, mover, passed, depth)
    if key not in memory:
        wants = mover != colour
        result = not wants
        for move in (*points, PASS):
            if move == PASS and passed:
                outcome = False
            elif not board.legal(move, mover):
                continue
            else:
                after = board.copy()
                after.play(move, mover)
                outcome = _captured(
                    after, target, colour, BLACK + WHITE - mover, points, depth - 1, move == PASS, memory
                )
            if outcome == wants:
                result = wants
                break
        memory[key] = result
    return memory[key]
