"""The `gonn` command: all its verbs, and how a command line ends.

Each verb imports what it needs when it runs, so that help and bad settings answer at once.
"""

import errno
import gc
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from gonn_core.errors import UserError, printable
from orchestration.cli import play, studies, workspace
from orchestration.cli.help import Verbs, add_examples

DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Signals that end a command: a request from elsewhere, and a closed terminal."""
AGAIN_SECONDS = 2.0
"""A second signal within this time is ignored: `timeout`, and signals to a whole process group, come twice. A later one
ends the process at once."""


@click.group(cls=Verbs)
@click.version_option(package_name="go-move-ablations", message="%(prog)s %(version)s")
def gonn():
    """Ablations of Go move-prediction networks: does an enhancement help, by how much, how sure are we, what does it
    cost?"""


for _group in (studies, play, workspace):
    for _verb in _group.VERBS:
        gonn.add_command(_verb)
add_examples(gonn)


def usage_line(error: click.UsageError) -> str:
    """One line for a mistake in the form of a command, with what is valid."""
    context, text = error.ctx, printable(" ".join(error.format_message().split()))
    if context is None:
        return text
    if isinstance(error, click.NoSuchOption):
        options = [name for parameter in context.command.params for name in parameter.opts if name.startswith("--")]
        return f"{printable(error.option_name)}: no such option; valid: {', '.join(options) or '--help'}"
    if isinstance(error, click.MissingParameter) and error.param is not None:
        usage = context.get_usage().replace("Usage:", "usage:")
        return f"{error.param.human_readable_name.upper()}: not given; {usage}"
    if isinstance(error, click.exceptions.NoSuchCommand) and isinstance(context.command, click.Group):
        valid = ", ".join(context.command.list_commands(context))
        return f"{context.command_path} {printable(error.command_name)}: no such command; valid: {valid}"
    return text


class Terminated(KeyboardInterrupt):
    """A signal asked the command to end, as Ctrl-C does."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def terminable() -> Iterator[None]:
    """While this is entered, SIGTERM and SIGHUP raise Terminated in the main thread. Signals that
    are ignored (`nohup`) stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    first: list[float] = []

    def end(number: int, frame: object) -> None:
        if not first:
            first.append(time.monotonic())
            raise Terminated(number)
        if time.monotonic() - first[0] > AGAIN_SECONDS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    for number, handler in before.items():
        if handler == signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is end:
                signal.signal(number, handler)


def exit_code(error: BaseException) -> int:
    """For a command that a signal ended: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP. click has its own name for
    what was raised, which it keeps as the cause."""
    cause = error if isinstance(error, Terminated) else error.__cause__ or error.__context__
    return cause.exit_code if isinstance(cause, Terminated) else 130


def run(arguments: list[str]) -> int:
    """Run one command line; the exit code: 0, 1 when a trial failed, 2 for a bad setting (one line on stderr), 130 when
    stopped, 143 by SIGTERM, 129 when its terminal was closed."""
    try:
        with terminable():
            result = gonn.main(args=arguments, prog_name="gonn", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        return 0
    except click.UsageError as error:
        print(usage_line(error), file=sys.stderr)
        return 2
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        path = printable(str(error.filename or "a file"))
        print(f"{path}: cannot be written ({error.strerror}); the same command resumes from here", file=sys.stderr)
        return 2
    except MemoryError as error:
        print(f"out of memory ({error or 'MemoryError'}); the same command resumes from here", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, click.Abort) as error:
        with suppress(OSError):  # the terminal may be gone
            print("stopped; the same command resumes from here", file=sys.stderr)
        return exit_code(error)


def main() -> None:
    """Entry point of `gonn`."""
    code = run(sys.argv[1:])
    gc.freeze()  # or the interpreter would look through all modules once more before it ends: up to a second
    sys.exit(code)
