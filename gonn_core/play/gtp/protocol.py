"""The Go Text Protocol (version 2, draft 2): lines and words in, and the loop that answers each command exactly once.

Input is untrusted: lines are bounded, control characters dropped, what an error repeats of it is made printable; the
loop survives all that a controller sends.
"""

import inspect
import math
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from gonn_core.errors import printable
from gonn_core.go.points import BLACK, PASS, WHITE, point
from gonn_core.play.engines.client import EngineError

LONGEST_LINE = 64 * 1024
"""Bytes of a command line; a longer one is read to its end, thrown away and answered with an error."""

LARGEST_INTEGER = 2**31 - 1
_CONTROL = bytes([*range(9), *range(10, 32), 127])  # all but the tabulator
COLOURS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
Command = Callable[..., str | None]
"""Takes its arguments as words and returns the answer, which may have several lines; None: an empty one. Raises
GtpError when it fails."""


class GtpError(Exception):
    """A command that fails; its text goes to the controller as `? text`."""


class Quit(Exception):
    """Ends the loop after an empty answer."""


class Held(str):
    """An answer that stays open until the controller's next line or its end: what analysis commands give."""


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
    if word.lower() not in COLOURS:
        raise GtpError("invalid color or coordinate")
    return COLOURS[word.lower()]


def vertex(word: str) -> int:
    """Point 0..360 from `Q16`, or PASS from `pass`, in any case. Raises GtpError."""
    if word.lower() == "pass":
        return PASS
    try:
        if re.fullmatch("[A-Za-z][1-9][0-9]?", word):
            return point(word)
    except ValueError:
        pass
    raise GtpError("invalid color or coordinate")


def whole(word: str) -> int:
    """A whole number from 0 to 2^31 - 1. Raises GtpError."""
    if not re.fullmatch("[0-9]{1,10}", word) or int(word) > LARGEST_INTEGER:
        raise GtpError("syntax error")
    return int(word)


def number(word: str) -> float:
    """A finite number. Raises GtpError."""
    if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", word) or not math.isfinite(float(word)):
        raise GtpError("syntax error")
    return float(word)


def serve(commands: BinaryIO, answers: BinaryIO, table: Mapping[str, Command]) -> None:
    """Answers the commands of a stream in order, each answer flushed, until `quit` or the end of either stream."""
    held = False

    def write(data: bytes) -> None:
        answers.write(data)
        answers.flush()

    try:
        for command in read_commands(commands):
            if held:  # any line ends it
                write(b"\n")
            held = False
            if command is None:
                continue
            mark, text, quits = _answer(command, table)
            held = isinstance(text, Held)
            first, *lines = text.split("\n")  # no empty line within it, one at its end unless it is held open
            lines = [f"{mark}{command.id} {first}".rstrip(), *(line for line in lines if line.strip())]
            write("".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace") + b"\n" * (not held))
            if quits:
                return
        if held:
            write(b"\n")
    except BrokenPipeError:
        return  # the controller left without a word


def _answer(command: GtpCommand, table: Mapping[str, Command]) -> tuple[str, str, bool]:
    """`=` or `?`, the answer, and whether the loop ends."""
    if command.problem:
        return "?", command.problem, False
    if command.name not in table:
        return "?", "unknown command", False
    function = table[command.name]
    try:
        inspect.signature(function).bind(*command.arguments)
    except TypeError:
        return "?", f"syntax error: {command.name} {usage(function) or 'takes no arguments'}", False
    try:
        return "=", function(*command.arguments) or "", False
    except Quit:
        return "=", "", True
    except GtpError as error:
        return "?", printable(str(error), 1000), False
    except EngineError as error:
        return "?", printable(f"guard: {error}", 1000), False
    except Exception as error:
        # An internal error must not end a game: it is reported to the controller, with its traceback on stderr.
        traceback.print_exc(file=sys.stderr)
        return "?", f"internal error: {type(error).__name__}", False


def usage(command: Command) -> str:
    """The arguments of a command: `COLOR VERTEX`; `[COLOR]` may be left out, of `VERTEX…` there may be any number."""
    words = []
    for name, parameter in inspect.signature(command).parameters.items():
        word = name.upper()
        if parameter.kind is parameter.VAR_POSITIONAL:
            word += "…"
        words.append(word if parameter.default is parameter.empty else f"[{word}]")
    return " ".join(words)
