"""Drawn boards for tests: text to colours and bitboards, and back.

A drawing has one line per row, row 0 first: `X` black, `O` white, `.` or `+` empty, and any lowercase letter an empty
point with that name. Blanks are ignored. A drawing smaller than 19x19 is the top left corner of an otherwise empty
board.
"""

import numpy as np

from gonn_core.go.points import BLACK, EMPTY, POINTS, SIZE, WHITE, WORDS

_COLOURS = {".": EMPTY, "+": EMPTY, "X": BLACK, "O": WHITE}


def _cells(text: str):
    """Yields (point, character) of a drawing. Raises ValueError when it does not fit on the board."""
    rows = ["".join(line.split()) for line in text.strip().splitlines()]
    if len(rows) > SIZE or any(len(row) > SIZE for row in rows):
        raise ValueError(f"drawing larger than {SIZE}x{SIZE}")
    for row, characters in enumerate(rows):
        for col, character in enumerate(characters):
            if character not in _COLOURS and not character.islower():
                raise ValueError(f"character {character!r}: valid are X O . + and lowercase letters")
            yield row * SIZE + col, character


def parse_board(text: str) -> np.ndarray:
    """Colours (361,) uint8 of a drawing."""
    colours = np.zeros(POINTS, np.uint8)
    for p, character in _cells(text):
        colours[p] = _COLOURS.get(character, EMPTY)
    return colours


def named_points(text: str) -> dict[str, int]:
    """The points that a drawing names by lowercase letters; a letter used twice is an error."""
    names: dict[str, int] = {}
    for p, character in _cells(text):
        if character.islower():
            if character in names:
                raise ValueError(f"two points are named {character!r}")
            names[character] = p
    return names


def marked_points(text: str, character: str) -> set[int]:
    """All points drawn with `character`, for example the `a`s of a drawing."""
    return {p for p, drawn in _cells(text) if drawn == character}


def bitboard(points) -> np.ndarray:
    """(6,) uint64 with the given points set."""
    words = np.zeros(WORDS, np.uint64)
    for p in points:
        words[p >> 6] |= np.uint64(1) << np.uint64(p & 63)
    return words


def points_of(words) -> set[int]:
    """Points set in a bitboard of 6 words."""
    bits = np.unpackbits(np.ascontiguousarray(words, "<u8").view(np.uint8), bitorder="little")
    return {int(p) for p in np.flatnonzero(bits)}


def bitboards(colours: np.ndarray) -> np.ndarray:
    """(12,) uint64: black bitboard, then white, as a row of the store's `stones`."""
    return np.concatenate([bitboard(np.flatnonzero(colours == colour)) for colour in (BLACK, WHITE)])


def colours_of(stones: np.ndarray) -> np.ndarray:
    """(361,) uint8 colours of a (12,) row of the store's `stones`."""
    colours = np.zeros(POINTS, np.uint8)
    colours[list(points_of(stones[:WORDS]))] = BLACK
    colours[list(points_of(stones[WORDS:]))] = WHITE
    return colours


def draw(colours: np.ndarray, marks: dict[int, str] | None = None) -> str:
    """The drawing of (361,) colours; `marks` puts a character of its own on some points."""
    characters = [".XO"[colour] for colour in colours]
    for p, mark in (marks or {}).items():
        characters[p] = mark
    return "\n".join(" ".join(characters[row * SIZE : (row + 1) * SIZE]) for row in range(SIZE))
