"""Child processes of a runner, each a fresh interpreter (spawn) with a pipe to the command that started it."""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import connection, get_context, parent_process
from typing import Any

from orchestration.runners.base import call


@contextmanager
def environment(values: Mapping[str, str]) -> Iterator[None]:
    """Environment variables that processes started in this context inherit."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class ChildEnded(Exception):
    """A child has ended, or closed its pipe; the text says how."""


class Child:
    """A process that runs a function with its end of the pipe and `arguments`. function: its importable path;
    variables: of the child's environment."""

    def __init__(self, function: str, *arguments: object, variables: Mapping[str, str]):
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=call, args=(function, theirs, *arguments), daemon=True)
        with environment(variables):
            self.process.start()
        theirs.close()  # now the child holds the only copy: its death is the end of this pipe

    def send(self, message: object) -> None:
        """Send a message; nothing happens when the child has just died: `receive` notices."""
        with suppress(BrokenPipeError, ConnectionResetError):
            self.pipe.send(message)

    def receive(self, patience: float | None = None) -> Any:
        """The next message. patience: seconds to wait for it, None: for ever. Raises ChildEnded, also when they are
        over."""
        # The second poll is for a command that was itself stopped for so long (Ctrl-Z).
        if not self.pipe.poll(patience) and not self.pipe.poll():
            raise ChildEnded(f"did not answer for {patience:.0f} seconds")
        try:
            return self.pipe.recv()
        except (EOFError, OSError):  # also in the middle of a message
            self.process.join(1)
            code = self.process.exitcode
        if code is None:
            raise ChildEnded("does not answer")
        raise ChildEnded(f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}")

    def kill_group(self) -> None:
        """Kill the process and all in the process group that it leads."""
        group = self.process.pid
        assert group is not None, "the process was started"
        self.kill()
        with suppress(ProcessLookupError, PermissionError):  # when all are gone
            for _ in range(100):
                os.killpg(group, signal.SIGKILL)
                time.sleep(0.05)

    def kill(self) -> None:
        """Kill the process: files of trials are written atomically."""
        self.process.kill()
        self.process.join()
        self.process.close()
        self.pipe.close()


def wait_for_parent() -> None:
    """Returns when the command that started this process has ended, killed or not."""
    parent = parent_process()
    assert parent is not None, "called in a child"
    connection.wait([parent.sentinel])
