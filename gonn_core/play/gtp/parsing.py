"""Lines and arguments of the Go Text Protocol (version 2, draft 2): bytes -> `GtpCommand`, words -> colours, points,
numbers.

Input is untrusted: lines are bounded, control characters dropped, what an error repeats of it is made printable.
"""

import math
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from gonn_core.go.points import BLACK, PASS, WHITE, point

LONGEST_LINE = 64 * 1024
"""Bytes of a command line; a longer one is read to its end, thrown away and answered with an error."""

LARGEST_INTEGER = 2**31 - 1
_CONTROL = bytes([*range(9), *range(10, 32), 127])  # all but the tabulator
_COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}


class GtpError(Exception):
    """A command that fails; its text goes to the controller as `? text`."""


class GtpCommand(NamedTuple):
    """One line of the controller."""

    id: str
    """The identity number as it was sent, or an empty text."""
    name: str
    arguments: list[str]
    problem: str | None = None
    """Why the line is no command; its name is then empty."""


def read_commands(stream: BinaryIO) -> Iterator[GtpCommand | None]:
    """The commands of a stream until its end, each as soon as its line is there; None for an empty line or a
    comment."""
    while line := stream.readline(LONGEST_LINE + 1):
        too_long = len(line) > LONGEST_LINE
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(LONGEST_LINE)
        yield parse_line(line, too_long)


def parse_line(line: bytes, too_long: bool = False) -> GtpCommand | None:
    """The command of a line, or of the beginning of one that is too long; None for an empty line or a comment."""
    text = line.translate(None, _CONTROL).decode("latin-1").replace("\t", " ")
    text, comment, _ = text.partition("#")
    tokens = [token for token in text.split(" ") if token]  # str.split() alone would also split at characters above 127
    number = tokens[0] if tokens and re.fullmatch("[0-9]+", tokens[0]) else ""
    if number and (len(number) > len(str(LARGEST_INTEGER)) or int(number) > LARGEST_INTEGER):
        return GtpCommand("", "", [], f"identity numbers end at {LARGEST_INTEGER}")
    if too_long and not comment:
        return GtpCommand(number, "", [], f"lines end at {LONGEST_LINE} bytes")
    if number:
        tokens = tokens[1:]
        if not tokens:
            return GtpCommand(number, "", [], "command missing")
    return GtpCommand(number, tokens[0], tokens[1:]) if tokens else None


def colour(word: str) -> int:
    """BLACK or WHITE from `b`, `black`, `w`, `white` in any case. Raises GtpError."""
    try:
        return _COLOURS[word.lower()]
    except KeyError:
        raise GtpError("invalid color or coordinate") from None


def vertex(word: str) -> int:
    """Point 0..360 from `Q16`, or PASS from `pass`, in any case. Raises GtpError."""
    if word.lower() == "pass":
        return PASS
    if not re.fullmatch("[A-Za-z][1-9][0-9]?", word):
        raise GtpError("invalid color or coordinate")
    try:
        return point(word)
    except ValueError:
        raise GtpError("invalid color or coordinate") from None


def whole(word: str) -> int:
    """A whole number from 0 to 2^31 - 1. Raises GtpError."""
    if not re.fullmatch("[0-9]{1,10}", word) or int(word) > LARGEST_INTEGER:
        raise GtpError("syntax error")
    return int(word)


def number(word: str) -> float:
    """A finite number. Raises GtpError."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", word):
        raise GtpError("syntax error")
    value = float(word)
    if not math.isfinite(value):
        raise GtpError("syntax error")
    return value
