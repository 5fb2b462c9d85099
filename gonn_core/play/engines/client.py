"""A GTP engine as a process of its own, asked one command at a time (Go Text Protocol, version 2).

The engine is not trusted: it gets no shell, each command has a time-out, lines and answers are bounded, its standard
error is drained and all but its end forgotten, and closing kills its whole process group. A client belongs to one
thread at a time; only `kill` may be called from another.
"""

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from typing import IO

from gonn_core.errors import printable

MOST_LINE = 64 * 1024
MOST_ANSWER = 1024 * 1024
"""Bytes of one line and of one answer; an engine that sends more counts as broken."""
MOST_REMEMBERED = 2000
"""Bytes kept of what the engine wrote last to standard error."""
GOODBYE_SECONDS = 1.0
"""Time that an engine has to end by itself after `quit`."""


class EngineError(Exception):
    """An engine did not do what it was asked; one line."""


class CommandFailed(EngineError):
    """The engine answered `? message`: it lives and can be asked again."""


class EngineTimeout(EngineError):
    """No whole answer within the time-out. The engine has been killed."""


class EngineCrashed(EngineError):
    """The engine ended, or sent what is no GTP. It has been killed."""


class GtpClient:
    """A running engine. Raises EngineCrashed when it cannot be started."""

    def __init__(self, argv: Sequence[str], timeout: float = 60.0):
        """`argv`: program and arguments, run as they are. `timeout`: seconds per command unless `ask` says
        otherwise."""
        self.argv, self.timeout = tuple(argv), timeout
        self.running = True
        """False once it has been ended or has failed."""
        self._number, self._pending, self._stderr_tail = 0, bytearray(), bytearray()
        self._ending = threading.Lock()
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            # A group of its own, to be killed whole; not a session, so that the scheduler counts the engine's work as
            # this command's.
            self._process = subprocess.Popen(self.argv, **pipes, bufsize=0, process_group=0)  # type: ignore[call-overload]
        except OSError as error:
            raise EngineCrashed(f"{printable(self.argv[0])}: cannot be started ({error.strerror or error})") from None
        self._selector = selectors.DefaultSelector()
        for pipe in (self._process.stdout, self._process.stderr):
            self._selector.register(pipe, selectors.EVENT_READ)

    def __enter__(self) -> "GtpClient":
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The engine's answer to one command line, without `=`, number and the empty line. Raises EngineError."""
        if "\n" in command or "\r" in command:
            raise ValueError(f"a GTP command is one line: {command!r}")
        called = printable(" ".join(self.argv), 120)
        if not self.running:
            raise EngineCrashed(f"{called}: is not running")
        self._number += 1
        seconds = self.timeout if timeout is None else timeout
        try:
            answer = self._exchange(f"{self._number} {command}\n".encode(), time.monotonic() + seconds)
        except TimeoutError:
            self.kill()
            raise EngineTimeout(f"{called}: no answer to {command!r} within {seconds:g} s") from None
        except _Broken as broken:
            self.kill()
            complaint = printable(bytes(self._stderr_tail).decode("utf-8", "replace").strip()[-200:])
            raise EngineCrashed(f"{called}: {broken} at {command!r}" + (complaint and f": {complaint}")) from None
        if answer.startswith("?"):
            raise CommandFailed(f"{called}: refuses {command!r}: {printable(answer[1:].strip())}")
        return answer[1:].strip()

    def close(self) -> None:
        """Asks the engine to quit, gives it a moment, and kills what is left of its process group. Safe to call
        twice."""
        try:
            if self.running:
                self.ask("quit", GOODBYE_SECONDS)
                deadline = time.monotonic() + GOODBYE_SECONDS
                while True:  # until it closes its output
                    self._read(deadline)
                    self._pending.clear()
        except (EngineError, _Broken, TimeoutError):
            pass
        self.kill()
        self._release()

    def kill(self) -> None:
        """Kills the engine's process group. A thread that waits in `ask` then gets EngineCrashed."""
        with self._ending:
            if self._process.returncode is None:
                # Not reaped yet, so the group's number cannot have been given to anyone else.
                try:
                    os.killpg(self._process.pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
                self._process.wait()
            self.running = False

    def __del__(self):
        if hasattr(self, "_selector"):
            self.kill()
            self._release()

    def _release(self) -> None:
        """Gives the pipes back; only for the thread that asks."""
        self._selector.close()
        pipes: tuple[IO[bytes] | None, ...] = (self._process.stdin, self._process.stdout, self._process.stderr)
        for pipe in pipes:
            if pipe is not None:
                pipe.close()

    def _exchange(self, line: bytes, deadline: float) -> str:
        """Sends a line and reads up to the empty line that ends its answer: the answer without its number. The line is
        short and all earlier ones were answered, so the pipe has room for it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
        except OSError:
            raise _Broken("the engine ended") from None
        while (answer := self._take_answer()) is None:
            self._read(deadline)
        body = answer[1:]
        digits = len(body) - len(body.lstrip("0123456789"))
        if body[:digits] != str(self._number):
            raise _Broken(f"an answer to another command ({printable(answer, 60)})")
        return answer[0] + body[digits:]

    def _read(self, deadline: float) -> None:
        """Reads what there is, waiting for it up to the deadline. Raises TimeoutError, _Broken."""
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        for key, _ in self._selector.select(left):
            data = os.read(key.fd, 65536)
            if key.fileobj is self._process.stdout:
                if not data:
                    raise _Broken("the engine ended")
                self._pending += data
            elif data:
                self._stderr_tail = (self._stderr_tail + data)[-MOST_REMEMBERED:]
            else:
                self._selector.unregister(key.fileobj)  # closed, which an engine may do

    def _take_answer(self) -> str | None:
        """The first whole answer in what was read, None when there is none yet."""
        text = self._pending.replace(b"\r", b"").lstrip(b"\n")
        end = text.find(b"\n\n")
        seen = text[: end if end >= 0 else None]
        if len(seen) > MOST_ANSWER or (len(seen) > MOST_LINE and max(map(len, seen.split(b"\n"))) > MOST_LINE):
            raise _Broken("too long an answer")
        if seen and seen[:1] not in (b"=", b"?"):
            raise _Broken(f"no GTP answer ({printable(bytes(seen[:60]).decode('utf-8', 'replace'))})")
        self._pending = text if end < 0 else text[end + 2 :]
        return None if end < 0 else seen.decode("utf-8", "replace")


class _Broken(Exception):
    """The stream of answers cannot be understood any more."""
