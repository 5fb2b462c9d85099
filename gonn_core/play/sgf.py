"""Finished games as SGF files."""

from collections.abc import Iterable, Mapping

from gonn_core.errors import printable
from gonn_core.go.points import BLACK, PASS, SIZE, WHITE
from gonn_core.play.rules import RuleSet

_MOVES_A_LINE = 12


def game_sgf(
    moves: Iterable[tuple[int, int]],
    komi: float,
    result: str,
    black: str,
    white: str,
    name: str,
    setup: Mapping[int, int] | None = None,
    to_move: int = BLACK,
    comment: str = "",
    rules: RuleSet = "chinese",
) -> bytes:
    """A game: moves (colour, point or PASS), result as in `B+3.5`, players, setup stones (point -> colour), who moves
    first, the rules."""
    setup = setup or {}
    root = f"GM[1]FF[4]CA[UTF-8]SZ[{SIZE}]KM[{komi:g}]RU[{rules.capitalize()}]"
    root += f"PB[{_text(black)}]PW[{_text(white)}]RE[{result}]GN[{_text(name)}]"
    for tag, colour in (("AB", BLACK), ("AW", WHITE)):
        stones = sorted(stone for stone, of in setup.items() if of == colour)
        if stones:
            root += tag + "".join(f"[{_vertex(stone)}]" for stone in stones)
    if setup:
        root += f"PL[{_letter(to_move)}]"
    if comment:
        root += f"C[{_text(comment)}]"
    nodes = [f";{_letter(colour)}[{_vertex(move)}]" for colour, move in moves]
    lines = ["".join(nodes[first : first + _MOVES_A_LINE]) for first in range(0, len(nodes), _MOVES_A_LINE)]
    return ("(;" + "\n".join([root, *lines]) + ")\n").encode()


def _text(text: str) -> str:
    return printable(text, 1000).replace("\\", "\\\\").replace("]", "\\]")


def _letter(colour: int) -> str:
    return "B" if colour == BLACK else "W"


def _vertex(move: int) -> str:
    return "" if move == PASS else chr(97 + move % SIZE) + chr(97 + move // SIZE)
