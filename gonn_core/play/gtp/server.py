"""The loop of a GTP engine: reads commands, answers each exactly once, outlives all that a controller sends."""

import sys
import traceback
from collections.abc import Callable, Mapping
from typing import BinaryIO, NamedTuple

from gonn_core.errors import printable
from gonn_core.play.gtp.parsing import GtpCommand, GtpError, read_commands


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


def serve(commands: BinaryIO, answers: BinaryIO, table: Mapping[str, Verb]) -> None:
    """Answers the commands of a stream in order, each answer flushed, until `quit` or the end of either stream."""
    held = False
    try:
        for command in read_commands(commands):
            if held:  # any line ends it
                answers.write(b"\n")
                answers.flush()
                held = False
            if command is None:
                continue
            success, text, quits = _answer(command, table)
            held = isinstance(text, Held)
            answers.write(_framed(command.id, success, text, held))
            answers.flush()
            if quits:
                return
        if held:
            answers.write(b"\n")
            answers.flush()
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
        # A defect of ours must not end somebody's game: it is told to the controller, and at length on stderr.
        traceback.print_exc(file=sys.stderr)
        return False, f"internal error: {type(error).__name__}", False


def _framed(number: str, success: bool, text: str, held: bool) -> bytes:
    """An answer as it is sent: no empty line within it, one at its end unless it is held open."""
    first, *rest = text.split("\n")
    lines = [f"{'=' if success else '?'}{number} {first}".rstrip(), *(line for line in rest if line.strip())]
    body = "\n".join(lines).encode("ascii", "backslashreplace")
    return body + (b"\n" if held else b"\n\n")
