"""Boards as text: `X` black, `O` white, `.` empty; 19 lines of 19 points, or part of a board put down at some corner of
its own."""

from collections.abc import Sequence

from gonn_core.go.points import BLACK, EMPTY, SIZE, WHITE

_COLOURS = {".": EMPTY, "X": BLACK, "O": WHITE}


def parse(lines: Sequence[str], row: int = 0, col: int = 0) -> dict[int, int]:
    """Point -> colour of a drawing whose upper left point is at (row, col); blanks are ignored. Raises ValueError."""
    colours = {}
    for r, line in enumerate(lines, row):
        for c, character in enumerate("".join(line.split()), col):
            if character not in _COLOURS:
                raise ValueError(f"character {character!r} in a drawn board: valid are X O .")
            if not (0 <= r < SIZE and 0 <= c < SIZE):
                raise ValueError("drawing reaches over the edge of the board")
            colours[r * SIZE + c] = _COLOURS[character]
    return colours
