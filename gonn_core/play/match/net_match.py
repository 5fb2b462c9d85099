"""Matches between two nets: batched games in one process a core, each process with its share of the games."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from typing import cast

from gonn_core.play.match.batch import MatchTerms, play_games
from gonn_core.play.match.record import GameLine, MatchRecord
from gonn_core.play.match.spec import NetSpec, load_player

FLUSH_SECONDS = 2.0
"""Games that end within so long of each other are put on disk together."""
TELL_SECONDS = 1.0
"""Between two messages of a worker on the moves that it played."""


class WorkerDied(RuntimeError):
    """A process that plays games ended by itself."""


def play_nets(
    record: MatchRecord,
    specs: Mapping[str, NetSpec],
    names: Mapping[str, str],
    games: int,
    workers: int,
    stopped: Callable[[], bool],
    writing: Callable[[], AbstractContextManager] = ExitStack,
    on_moves: Callable[[int], object] = lambda count: None,
) -> Iterator[GameLine]:
    """Plays what is missing of the first `games` games of a match between nets A and B; lines as games end, when they
    are on disk.

    Once `stopped()`, or when the caller leaves, games under way are given up unrecorded. writing: entered around every
    write, such as a lease's guard. on_moves: called about once a second with the
    number of moves since. Raises what playing raises, and WorkerDied.
    """
    done = record.games()
    missing = [number for number in range(games) if number not in done]
    terms = MatchTerms.of(record.match, names)
    with ExitStack() as stack:
        shares = [missing[first::workers] for first in range(min(workers, len(missing)))]
        pipes: list[Connection] = [stack.enter_context(_GamesProcess(specs, share, terms)).pipe for share in shares]
        waiting: list[tuple[GameLine, bytes]] = []
        flush_at = time.monotonic() + FLUSH_SECONDS
        while pipes and not stopped():
            for pipe in cast(list[Connection], connection.wait(pipes, 0.5)):
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    raise WorkerDied(
                        "a process that played games was killed; the same command goes on from here"
                    ) from None
                if message is None:
                    pipes.remove(pipe)
                elif isinstance(message, Exception):
                    raise message
                elif isinstance(message, int):
                    on_moves(message)
                else:
                    waiting.append(message)
            if waiting and (not pipes or time.monotonic() >= flush_at):
                with writing():
                    record.append(waiting)
                yield from (line for line, _ in waiting)
                waiting, flush_at = [], time.monotonic() + FLUSH_SECONDS


class _GamesProcess:
    """The driver's side of a process that plays its share of the games; the process is killed on leaving."""

    def __init__(self, specs: Mapping[str, NetSpec], numbers: Sequence[int], terms: MatchTerms):
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_play, args=(theirs, dict(specs), list(numbers), terms), daemon=True)
        before = os.environ.get("OMP_NUM_THREADS")
        os.environ["OMP_NUM_THREADS"] = "1"
        try:
            self._process.start()
        finally:
            if before is None:
                del os.environ["OMP_NUM_THREADS"]
            else:
                os.environ["OMP_NUM_THREADS"] = before
        theirs.close()  # now the worker holds the only copy: its death is the end of this pipe

    def __enter__(self) -> "_GamesProcess":
        return self

    def __exit__(self, *error) -> None:
        self._process.kill()
        self._process.join()
        self.pipe.close()


def _play(pipe, specs: dict[str, NetSpec], numbers: list[int], terms: MatchTerms) -> None:
    """A worker's life: its games, and moves played about once a second, then None; or what went wrong."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    threading.Thread(target=_end_with_driver, daemon=True).start()
    import torch

    torch.set_num_threads(1)
    moves, tell_at = 0, 0.0

    def on_moves(count: int) -> None:
        nonlocal moves, tell_at
        moves += count
        if time.monotonic() >= tell_at:
            pipe.send(moves)
            moves, tell_at = 0, time.monotonic() + TELL_SECONDS

    try:
        players = {side: load_player(spec)[0] for side, spec in specs.items()}
        for game in play_games(players, numbers, terms, on_moves=on_moves):
            pipe.send(game)
        pipe.send(None)
    except BrokenPipeError:
        return
    except Exception as error:
        pipe.send(error)


def _end_with_driver() -> None:
    """Leave when the driver is gone, killed or not: nothing would come of these games."""
    driver = parent_process()
    assert driver is not None  # this is a process that `_GamesProcess` started
    connection.wait([driver.sentinel])
    os._exit(1)
