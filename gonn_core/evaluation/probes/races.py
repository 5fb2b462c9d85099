"""Capturing races: White has just filled a distant liberty, and Black must fill one of White's at once.

Two long chains lie side by side, each with two liberties of its own, at its own end, none shared: who moves first wins
(tests play it out). Before White's last move Black had three and could wait. Drawn after GoNN's picture of a distant
liberty filled (spec: GoNN 7.14).
Distance: king's moves from White's last move to the nearer right one. Every drawing comes in its eight turns and with
colours exchanged.
"""

from gonn_core.evaluation.probes.cases import Case, chebyshev, stones_of
from gonn_core.evaluation.probes.drawing import parse
from gonn_core.features.positions import Position
from gonn_core.go.points import BLACK, SIZE

GROUP = "races"
LENGTHS = range(1, 13)
"""Rows in which the two chains lie side by side."""
_LEFT = SIZE - 6
_UPPER = ["  . . X X X X", "  . X X . . X", "  . X O O O O"]
_BESIDE = ["  . . X X O X"]
_LOWER = ["  . . . O X X", "  . . O O . .", "  . . . O O O"]
_RIGHT = (SIZE + SIZE - 3, SIZE + SIZE - 2)


def races() -> tuple[Case, ...]:
    """The family, 16 cases at each distance."""
    cases = []
    for length in LENGTHS:
        colours = parse(_UPPER + _BESIDE * length + _LOWER, 0, _LEFT)
        last = (len(_UPPER) + length) * SIZE + SIZE - 3
        position = Position(stones_of(colours), BLACK, -1, (last,))
        distance = min(chebyshev(last, right) for right in _RIGHT)
        case = Case(f"race{distance}", GROUP, position, _RIGHT, distance=distance)
        cases += [case.turned(symmetry, swap) for swap in (False, True) for symmetry in range(8)]
    return tuple(cases)
