"""Engine processes for many games side by side: one per game, or kept from game to game where the command has no
seed."""

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

from gonn_core.play.engines.client import EngineCrashed, GtpClient
from gonn_core.play.engines.commands import Engine

T = TypeVar("T")


class EnginePool:
    """Starts an engine's processes, lends them to games, and ends them all."""

    def __init__(self, engine: Engine, timeout: float = 60.0):
        """`timeout`: seconds per command."""
        self._engine, self._timeout = engine, timeout
        self._lock, self._closed = threading.Lock(), False
        self._idle: list[GtpClient] = []
        self._lent: set[GtpClient] = set()

    def __enter__(self) -> "EnginePool":
        return self

    def __exit__(self, *error) -> None:
        self.close()

    @contextmanager
    def lend(self, seed: int) -> Iterator[GtpClient]:
        """A running engine for one game. One that failed in it has been killed; the next game gets a new one. Raises
        EngineError."""
        client = self._take(seed)
        try:
            yield client
        finally:
            with self._lock:
                self._lent.discard(client)
                serves_again = client.running and not self._engine.seeded and not self._closed
                if serves_again:
                    self._idle.append(client)
            if not serves_again:
                client.close()

    def close(self) -> None:
        """Kills the engines of games under way, whose threads get EngineCrashed, and ends the idle ones."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            lent = list(self._lent)
        for client in lent:
            client.kill()
        for client in idle:
            client.close()

    def identity(self) -> dict:
        """Kind, command, name and version, as records name the engine. Raises EngineError when it does not say."""
        with self.lend(0) as client:
            return {
                "kind": "engine",
                "command": list(self._engine.command),
                "name": client.ask("name"),
                "version": client.ask("version"),
            }

    def _take(self, seed: int) -> GtpClient:
        with self._lock:
            if self._idle:
                client = self._idle.pop()
                self._lent.add(client)
                return client
        client = GtpClient(self._engine.argv(seed), self._timeout)
        with self._lock:
            if not self._closed:
                self._lent.add(client)
                return client
        client.kill()
        raise EngineCrashed("the engines have been ended")


def side_by_side(
    numbers: Iterable[int],
    workers: int,
    work: Callable[[int], T],
    stopped: Callable[[], bool],
    abort: Callable[[], None],
) -> Iterator[T]:
    """`work(number)` for each number, in `workers` threads; results as they come, in the caller's thread.

    `stopped` is asked about twice a second; once it says so, or work raised (which is raised here), or the caller left,
    `abort` is called, which has to make the work under way end soon.
    """
    queue = iter(numbers)
    running: set[Future[T]] = set()
    over = False
    with ThreadPoolExecutor(workers) as pool:
        try:
            while not stopped():
                while len(running) < workers and not over:
                    number = next(queue, None)
                    if number is None:
                        over = True
                    else:
                        running.add(pool.submit(work, number))
                if not running:
                    return
                done, running = wait(running, 0.5, FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            if running:
                abort()
