"""Kos with a large threat far away: White has just taken a ko that decides a long black chain, and Black may not retake
yet.

The chain's only hope is to capture White's ko stone; its last liberty is a point where Black would kill himself. On the
other side of the board an atari threatens a long white chain, which one answer makes safe: a threat, and nothing but a
threat. In the twin the ko is over, Black stands where White's ko stone was, White has moved elsewhere, and the atari is
a wasted threat (compare spec: GoNN 7.7 with 7.8).
Distance: king's moves from the ko to the threat. Every drawing comes in its eight turns and with colours exchanged.
"""

from gonn_core.evaluation.probes.cases import Case, chebyshev, stones_of
from gonn_core.evaluation.probes.drawing import parse
from gonn_core.features.positions import Position
from gonn_core.go.points import BLACK, SIZE

GROUP = "ko_threats"
STAKES = (3, 5, 7)
"""Lengths of the black chain's long part."""
THREATENED = (6, 8, 10)
"""Lengths of the threatened white chain."""
_ELSEWHERE = 9 * SIZE + 9


def _ko(stake: int) -> list[str]:
    """The lower left corner: the ko stone is the third of its row from the right, the ko point right of it."""
    return [
        ". " * (stake + 1) + "O O . .",
        "O " + "O " * (stake - 1) + "O X X O .",
        ". " + "O " * (stake - 1) + "O X O . O",
        "X " + "X " * (stake - 1) + "X X X O .",
    ]


def ko_threats() -> tuple[Case, ...]:
    """The family, 16 cases for each pair of lengths."""
    cases = []
    for stake in STAKES:
        for threatened in THREATENED:
            case = _case(stake, threatened)
            cases += [case.turned(symmetry, swap) for swap in (False, True) for symmetry in range(8)]
    return tuple(cases)


def _case(stake: int, threatened: int) -> Case:
    first = SIZE - 3 - threatened
    top = [
        ". X . " + "O " * threatened + ". O",
        "X X X " + "X " * threatened + "O O",
        ". . . " + ". " * threatened + "O .",
    ]
    colours = (
        parse(_ko(stake), SIZE - 4, 0) | parse(top, 0, first - 3) | parse(["O"], _ELSEWHERE // SIZE, _ELSEWHERE % SIZE)
    )
    ko_stone = (SIZE - 2) * SIZE + stake + 2
    threat = first - 1
    position = Position(stones_of(colours), BLACK, ko_stone + 1, (ko_stone,))
    twin = Position(stones_of(colours | {ko_stone: BLACK}), BLACK, -1, (_ELSEWHERE,))
    return Case(
        f"ko{stake}-{threatened}", GROUP, position, (threat,), twin=twin, distance=chebyshev(ko_stone + 1, threat)
    )
