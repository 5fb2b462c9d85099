"""A match played to so many games: nets alone in one process a core, games with an engine in threads; every game is on
disk before it is reported."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from typing import cast

from gonn_core.play.engines.pool import side_by_side
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.match.players import Entrant, NetSpec, load_player
from gonn_core.play.match.record import GameLine, MatchRecord, Side

MOST_ATTEMPTS = 3
"""How often a game is played whose engine fails, all in all; then it is given up."""
FLUSH_SECONDS = 2.0
"""Games of nets that end within so long of each other are written to disk together."""
_REPORT_SECONDS = 1.0
"""Between two messages of a worker on the moves that it played."""

Finished = list[tuple[GameLine, bytes]]
"""Games that ended, with their SGF files."""


class WorkerDied(RuntimeError):
    """A process that plays games ended by itself."""


def play_match(
    record: MatchRecord,
    entrants: Mapping[Side, Entrant],
    names: Mapping[Side, str],
    games: int,
    workers: int,
    stopped: Callable[[], bool],
    writing: Callable[[], AbstractContextManager] = ExitStack,
    on_moves: Callable[[int], object] = lambda count: None,
) -> Iterator[GameLine]:
    """Plays what is missing of the first `games` games of a match, in `workers` processes or threads; lines as games
    end, when they are on disk.

    entrants, names: A and B, of the record's match, and what the games' files call them. A game in which an engine
    failed yields a voided line and is played again, at most MOST_ATTEMPTS times in all, those of earlier commands
    counted. Once `stopped()`, or when the caller leaves, games under way are given up unrecorded, and engines are
    ended. writing: entered around every write, such as a lease's guard. on_moves: called with the number of moves since
    its last call, from any thread. Raises what playing raises, and WorkerDied.
    """
    terms = MatchTerms.of(record.match, names)
    specs = {side: entrant.plain_net for side, entrant in entrants.items()}
    while not stopped():
        voids = Counter(line.game for line in record.lines() if line.void)
        done = record.games()
        missing = [number for number in range(games) if number not in done and voids[number] < MOST_ATTEMPTS]
        if not missing:
            return
        if None in specs.values():
            rounds = _in_threads(entrants, missing, voids, terms, workers, stopped, on_moves)
        else:
            nets = cast(dict[Side, NetSpec], specs)
            rounds = _in_processes(nets, missing, terms, workers, stopped, on_moves)
        for finished in rounds:
            with writing():
                record.append(finished)
            yield from (line for line, _ in finished)


def _in_threads(
    entrants: Mapping[Side, Entrant],
    numbers: Sequence[int],
    voids: Mapping[int, int],
    terms: MatchTerms,
    workers: int,
    stopped: Callable[[], bool],
    on_moves: Callable[[int], object],
) -> Iterator[Finished]:
    """Games of an engine, one a thread. voids: failed attempts at a game."""

    def play(number: int) -> Finished:
        with ExitStack() as stack:
            seats = {
                side: stack.enter_context(entrant.seat(terms, number, voids[number]))
                for side, entrant in entrants.items()
            }
            judges = (seats[side].engine for side, entrant in entrants.items() if entrant.judges(terms.rules))
            return list(play_games(seats, [number], terms, 1, next(judges, None), on_moves))

    def abort() -> None:
        for entrant in entrants.values():
            entrant.close()

    yield from side_by_side(numbers, workers, play, stopped, abort)


def _in_processes(
    specs: Mapping[Side, NetSpec],
    numbers: Sequence[int],
    terms: MatchTerms,
    workers: int,
    stopped: Callable[[], bool],
    on_moves: Callable[[int], object],
) -> Iterator[Finished]:
    """Games of nets alone, each process with its share of the games."""
    with ExitStack() as stack:
        shares = [numbers[first::workers] for first in range(min(workers, len(numbers)))]
        pipes: list[Connection] = [stack.enter_context(_GamesProcess(specs, share, terms)).pipe for share in shares]
        waiting: Finished = []
        flush_at = time.monotonic() + FLUSH_SECONDS
        while pipes and not stopped():
            for pipe in cast(list[Connection], connection.wait(pipes, 0.5)):
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    raise WorkerDied(
                        "a process that played games was killed; the same command resumes the match"
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
                yield waiting
                waiting, flush_at = [], time.monotonic() + FLUSH_SECONDS


class _GamesProcess:
    """The driver's side of a process that plays its share of the games; the process is killed on leaving."""

    def __init__(self, specs: Mapping[Side, NetSpec], numbers: Sequence[int], terms: MatchTerms):
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=_work, args=(theirs, dict(specs), list(numbers), terms), daemon=True)
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


def _work(pipe, specs: dict[Side, NetSpec], numbers: list[int], terms: MatchTerms) -> None:
    """A worker's life: sends its games, and moves played about once a second, then None; or the exception."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    threading.Thread(target=_end_with_driver, daemon=True).start()
    import torch

    torch.set_num_threads(1)
    moves, report_at = 0, 0.0

    def on_moves(count: int) -> None:
        nonlocal moves, report_at
        moves += count
        if time.monotonic() >= report_at:
            pipe.send(moves)
            moves, report_at = 0, time.monotonic() + _REPORT_SECONDS

    try:
        seats = {side: Seat(load_player(spec)[0]) for side, spec in specs.items()}
        for game in play_games(seats, numbers, terms, on_moves=on_moves):
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
