"""Eyes at the far end of a long chain: White's lower eye has just been falsified, so he must make two eyes at the upper
end.

Drawn after GoNN's pictures (spec: GoNN 7.9-7.11): three points in the corner, of which the middle one makes two eyes,
and a chain one stone wide down the edge to an eye of two points into which Black has just thrown. Any other move leaves
White one eye (tests play it out). Distance: king's moves from the throw-in to the right move. Every drawing comes in
its eight turns and with colours exchanged.
"""

from gonn_core.evaluation.probes.cases import Case, chebyshev, stones_of
from gonn_core.evaluation.probes.drawing import parse
from gonn_core.features.positions import Position
from gonn_core.go.points import BLACK, EMPTY, SIZE, WHITE

GROUP = "long_chain_eyes"
DISTANCES = range(2, SIZE - 1)
_VITAL = SIZE - 2
_TOP = ["X O . . .", "X O O O O"]
_CHAIN = ["  . . . X O"]
_EYE = ["  . . X O O", "  . . X O .", "  . . X O X", "  . . X X O"]
_BELOW = ["  . . . X .", "  . . . . X"]
_NEAREST = """
X O . . .
X O O O O
X X O X .
. . X O X
. . X . X
. . . X ."""
_NEAREST_THROW_IN = 2 * SIZE + SIZE - 2


def _drawing(distance: int) -> tuple[dict[int, int], int]:
    """The stones, and the throw-in `distance` rows below the row of the right move."""
    if distance == 2:
        return parse(_NEAREST.strip().splitlines(), 0, SIZE - 5), _NEAREST_THROW_IN
    # The eye starts with a row of the chain: with the second one of the top where it is nearest.
    rows = _TOP + _CHAIN * (distance - 4) + _EYE[distance == 3 :] + _BELOW
    colours = parse(rows[:SIZE], 0, SIZE - 5)
    colours |= {2 * SIZE + col: BLACK for col in (SIZE - 4, SIZE - 3)} | (
        {} if distance < 5 else {2 * SIZE + SIZE - 2: BLACK}
    )
    if distance == SIZE - 2:
        colours[SIZE * SIZE - 1] = EMPTY  # on the edge the throw-in has captured the last stone
    return colours, distance * SIZE + SIZE - 1


def long_chain_eyes() -> tuple[Case, ...]:
    """The family, 16 cases at each distance."""
    cases = []
    for distance in DISTANCES:
        colours, throw_in = _drawing(distance)
        position = Position(stones_of(colours), WHITE, -1, (throw_in,))
        case = Case(f"eyes{distance}", GROUP, position, (_VITAL,), distance=chebyshev(throw_in, _VITAL))
        cases += [case.turned(symmetry, swap) for swap in (False, True) for symmetry in range(8)]
    return tuple(cases)
