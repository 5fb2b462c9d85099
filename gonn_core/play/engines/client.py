"""A GTP engine as a process of its own, asked one command at a time (Go Text Protocol, version 2).

The engine is not trusted: it gets no shell, each command has a time-out, lines and answers are bounded, its standard
error is drained and all but its end forgotten, and closing kills its whole process group. One selector serves all three
pipes, so that neither side can ever wait for the other for ever. A client belongs to one thread at a time; only `kill`
may be called from another.
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
    """The engine answered `? message`: it lives and can be asked on."""


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
        self._number, self._pending, self._stderr_tail = 0, bytearray(), bytearray()
        self._ending = threading.Lock()
        self._ended = False
        try:
            # A group of its own, to be killed whole; not a session, so that the scheduler counts the engine's work as
            # this command's.
            self._process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                process_group=0,
            )
        except OSError as error:
            self._ended = True
            raise EngineCrashed(f"{printable(self.argv[0])}: cannot be started ({error.strerror or error})") from None
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes())
        for fd in (self._in, self._out, self._err):
            os.set_blocking(fd, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)

    def __enter__(self) -> "GtpClient":
        return self

    def __exit__(self, *error) -> None:
        self.close()

    @property
    def running(self) -> bool:
        """Whether it can be asked: it has not been ended and never failed."""
        return not self._ended

    def ask(self, command: str, timeout: float | None = None) -> str:
        """The engine's answer to one command line, without `=`, number and the empty line. Raises EngineError."""
        if "\n" in command or "\r" in command:
            raise ValueError(f"a GTP command is one line: {command!r}")
        if self._ended:
            raise EngineCrashed(f"{self._called()}: is not running")
        self._number += 1
        seconds = self.timeout if timeout is None else timeout
        try:
            text = self._exchange(f"{self._number} {command}\n".encode(), time.monotonic() + seconds)
            return self._judge(text, command)
        except TimeoutError:
            self.kill()
            raise EngineTimeout(f"{self._called()}: no answer to {command!r} within {seconds:g} s") from None
        except _Broken as broken:
            self.kill()
            complaint = printable(bytes(self._stderr_tail).decode("utf-8", "replace").strip()[-200:])
            problem = f"{self._called()}: {broken} at {command!r}"
            raise EngineCrashed(f"{problem}: {complaint}" if complaint else problem) from None

    def close(self) -> None:
        """Asks the engine to quit, gives it a moment, and kills what is left of its process group. Safe to call
        twice."""
        if not self._ended:
            try:
                self.ask("quit", GOODBYE_SECONDS)
                self._wait_for_end(time.monotonic() + GOODBYE_SECONDS)
            except EngineError:
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
            self._ended = True

    def __del__(self):
        if hasattr(self, "_selector"):
            self.kill()
            self._release()

    def _release(self) -> None:
        """Gives the pipes back; only for the thread that asks."""
        self._selector.close()
        for pipe in self._pipes():
            pipe.close()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes], IO[bytes]]:
        process = self._process
        assert process.stdin and process.stdout and process.stderr  # all three were asked for
        return process.stdin, process.stdout, process.stderr

    def _called(self) -> str:
        return printable(" ".join(self.argv), 120)

    def _exchange(self, sending: bytes, deadline: float) -> str:
        """Sends a line and reads up to the empty line that ends an answer."""
        self._selector.register(self._in, selectors.EVENT_WRITE)
        writing = True
        try:
            while True:
                answer = self._take_answer()
                if answer is not None:
                    return answer
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                for key, _ in self._selector.select(left):
                    if key.fd != self._in:
                        self._read(key.fd)
                        continue
                    try:
                        sending = sending[os.write(self._in, sending) :]
                    except BlockingIOError:
                        continue
                    except OSError:
                        raise _Broken("the engine ended") from None
                    if not sending:
                        self._selector.unregister(self._in)
                        writing = False
        finally:
            if writing:
                self._selector.unregister(self._in)

    def _read(self, fd: int) -> None:
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if fd == self._err:
            if data:
                self._stderr_tail = (self._stderr_tail + data)[-MOST_REMEMBERED:]
            else:
                self._selector.unregister(fd)  # closed, which an engine may do
        elif data:
            self._pending += data
        else:
            raise _Broken("the engine ended")

    def _take_answer(self) -> str | None:
        """The first whole answer in what was read, None when there is none yet."""
        text = self._pending.replace(b"\r", b"")
        start = len(text) - len(text.lstrip(b"\n"))
        end = text.find(b"\n\n", start)
        seen = text[start : end if end >= 0 else None]
        if len(seen) > MOST_ANSWER or (len(seen) > MOST_LINE and max(map(len, seen.split(b"\n"))) > MOST_LINE):
            raise _Broken("too long an answer")
        if seen and seen[:1] not in (b"=", b"?"):
            raise _Broken(f"no GTP answer ({printable(bytes(seen[:60]).decode('utf-8', 'replace'))})")
        if end < 0:
            self._pending = text[start:]
            return None
        self._pending = text[end + 2 :]
        return seen.decode("utf-8", "replace")

    def _judge(self, text: str, command: str) -> str:
        """What an answer says. Raises CommandFailed for `?`, _Broken for an answer to another command."""
        status, body = text[:1], text[1:]
        digits = len(body) - len(body.lstrip("0123456789"))
        if body[:digits] != str(self._number):
            raise _Broken(f"an answer to another command ({printable(text, 60)})")
        body = body[digits:].strip()
        if status == "?":
            raise CommandFailed(f"{self._called()}: refuses {command!r}: {printable(body)}")
        return body

    def _wait_for_end(self, deadline: float) -> None:
        """Reads until the engine closes its output; what it still says is forgotten."""
        try:
            while (left := deadline - time.monotonic()) > 0:
                for key, _ in self._selector.select(left):
                    self._read(key.fd)
                self._pending.clear()
        except _Broken:
            return


class _Broken(Exception):
    """The stream of answers cannot be understood any more."""
