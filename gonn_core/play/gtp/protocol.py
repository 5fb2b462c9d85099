"""The Go Text Protocol (version 2, draft 2): lines and words in, and the loop that answers each command exactly once.

Input is untrusted: lines are bounded, control characters dropped, what an error repeats of it is made printable; the
loop survives all that a controller sends.
"""

import math
import re
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, NamedTuple

from gonn_core.errors import printable
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


class Verb(NamedTuple):
    """A command of the engine."""

    usage: str
    """Its arguments, such as `COLOR VERTEX`; `[COLOR]` may be left out, `VERTEX…` stands for any number of them."""
    answer: Callable[..., str]
    """Takes the arguments as words and returns the answer, which may have several lines. Raises GtpError when it
    fails."""

    def takes(self, count: int) -> bool:
        """True when the command can have that many arguments."""
        names = self.usage.split()
        if any(name.endswith("…") for name in names):
            return True
        return sum(not name.startswith("[") for name in names) <= count <= len(names)


class Quit(Exception):
    """Ends the loop after an empty answer."""


class Held(str):
    """An answer that stays open until the controller's next line or its end: what analysis commands give."""

    seconds: float | None
    """Time after which it is given again, and again; None: once."""

    def __new__(cls, text: str, seconds: float | None = None) -> "Held":
        held = super().__new__(cls, text)
        held.seconds = seconds
        return held


class _Open:
    """An answer held open, repeated by a thread until `close` ends it with an empty line."""

    def __init__(self, answers: BinaryIO, held: Held):
        self._answers, self._closing = answers, threading.Event()
        self._thread = None
        if held.seconds is not None:
            line = _body(held).strip(b"\n") + b"\n"
            self._thread = threading.Thread(target=self._repeat, args=(line, held.seconds), daemon=True)
            self._thread.start()

    def _repeat(self, line: bytes, seconds: float) -> None:
        try:
            while not self._closing.wait(seconds):
                self._answers.write(line)
                self._answers.flush()
        except (OSError, ValueError):
            return  # the controller left; who writes next learns of it

    def close(self) -> None:
        """End the answer. Nobody else writes before."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._answers.write(b"\n")
        self._answers.flush()


def serve(commands: BinaryIO, answers: BinaryIO, table: Mapping[str, Verb]) -> None:
    """Answers the commands of a stream in order, each answer flushed, until `quit` or the end of either stream."""
    still: _Open | None = None
    try:
        for command in read_commands(commands):
            if still is not None:  # any line ends it
                still.close()
                still = None
            if command is None:
                continue
            success, text, quits = _answer(command, table)
            answers.write(_framed(command.id, success, text))
            answers.flush()
            if isinstance(text, Held):
                still = _Open(answers, text)
            if quits:
                return
        if still is not None:
            still.close()
    except BrokenPipeError:
        return  # the controller left without a word


def _answer(command: GtpCommand, table: Mapping[str, Verb]) -> tuple[bool, str, bool]:
    """Whether the command succeeded, its answer, and whether the loop ends."""
    if command.problem:
        return False, command.problem, False
    verb = table.get(command.name)
    if verb is None:
        return False, "unknown command", False
    if not verb.takes(len(command.arguments)):
        return False, f"syntax error: {command.name} {verb.usage or 'takes no arguments'}", False
    try:
        return True, verb.answer(*command.arguments), False
    except Quit:
        return True, "", True
    except GtpError as error:
        return False, printable(str(error), 1000), False
    except Exception as error:
        # An internal error must not end a game: it is reported to the controller, with its traceback on stderr.
        traceback.print_exc(file=sys.stderr)
        return False, f"internal error: {type(error).__name__}", False


def _framed(number: str, success: bool, text: str) -> bytes:
    """An answer as it is sent: no empty line within it, one at its end unless it is held open."""
    first, *_ = text.split("\n", 1)
    head = f"{'=' if success else '?'}{number} {first}".rstrip()
    return head.encode("ascii", "backslashreplace") + b"\n" + _body(text) + (b"" if isinstance(text, Held) else b"\n")


def _body(text: str) -> bytes:
    """The lines of an answer behind its first, each with its end."""
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    return "".join(f"{line}\n" for line in lines).encode("ascii", "backslashreplace")
