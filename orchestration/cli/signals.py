"""What a command does about signals that end it: one line, everything put away, the exit code that shells expect."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""A wish from elsewhere, and a terminal that was closed."""
AGAIN_SECONDS = 2.0
"""The same wish within so short a time is one: `timeout`, and whoever signals a whole group, send it twice. Later it is
meant: the process ends at once."""


class Terminated(KeyboardInterrupt):
    """A signal asked the command to end, as Ctrl-C does."""

    def __init__(self, number: int):
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number


@contextmanager
def terminable() -> Iterator[None]:
    """While this is entered, SIGTERM and SIGHUP raise Terminated in the main thread. A signal that whoever started the
    command has it ignore (`nohup`) stays ignored."""
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
