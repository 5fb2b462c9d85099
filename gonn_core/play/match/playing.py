"""A match played to so many games: nets alone in one process a core, games with an engine in threads; every game is on
disk before it is reported."""

import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from typing import cast

from gonn_core.play.engines.players import side_by_side
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.match.players import Entrant, NetSpec, load_player
from gonn_core.play.match.record import GameLine, MatchRecord, Side

MOST_ATTEMPTS = 3
"""How often a game is played whose engine fails, in total; then it is given up."""

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
) -> Iterator[GameLine]:
    """Plays what is missing of the first `games` games of a match, in `workers` processes or threads; lines as games
    end, when they are on disk.

    entrants, names: A and B, of the record's match, and what the games' files call them. A game in which an engine
    failed yields a voided line and is played again, at most MOST_ATTEMPTS times in all, those of earlier commands
    counted. Once `stopped()`, or when the caller leaves, games under way are given up unrecorded, and engines are
    ended. writing: entered around every write, such as a lease's guard. Raises what playing raises, and WorkerDied.
    """
    terms = MatchTerms.of(record.match, names)
    nets = {side: entrant.plain_net for side, entrant in entrants.items()}
    while not stopped():
        lines = record.lines()
        voids, done = Counter(line.game for line in lines if line.void), {line.game for line in lines if not line.void}
        missing = [number for number in range(games) if number not in done and voids[number] < MOST_ATTEMPTS]
        if not missing:
            return
        if None in nets.values():
            rounds = _in_threads(entrants, missing, voids, terms, workers, stopped)
        else:
            rounds = _in_processes(cast(dict[Side, NetSpec], nets), missing, terms, workers, stopped)
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
) -> Iterator[Finished]:
    """Games of an engine, one a thread. voids: failed attempts at a game."""

    def play(number: int) -> Finished:
        with ExitStack() as stack:
            seats = {
                side: stack.enter_context(entrant.seat(terms.seed, number, voids[number]))
                for side, entrant in entrants.items()
            }
            judges = (seats[side].engine for side, entrant in entrants.items() if entrant.judges(terms.rules))
            return list(play_games(seats, [number], terms, 1, next(judges, None)))

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
) -> Iterator[Finished]:
    """Games of nets alone, each process with its share of the games."""
    context = get_context("spawn")
    with ExitStack() as stack:
        pipes: list[Connection] = []
        for first in range(min(workers, len(numbers))):
            pipe, theirs = context.Pipe(duplex=False)
            share = list(numbers[first::workers])
            process = context.Process(target=_work, args=(theirs, dict(specs), share, terms), daemon=True)
            process.start()
            theirs.close()  # now the worker holds the only copy: its death is the end of this pipe
            stack.callback(process.join)
            stack.callback(process.kill)
            pipes.append(stack.enter_context(pipe))
        while pipes and not stopped():
            finished: Finished = []
            for pipe in cast(list[Connection], connection.wait(pipes, 0.5)):
                try:
                    message = pipe.recv()
                except (EOFError, OSError):
                    raise WorkerDied(
                        "a process that played games was killed; the same command resumes the match"
                    ) from None
                if isinstance(message, Exception):
                    raise message
                if message is None:
                    pipes.remove(pipe)
                else:
                    finished.append(message)
            if finished:
                yield finished


def _work(pipe: Connection, specs: dict[Side, NetSpec], numbers: list[int], terms: MatchTerms) -> None:
    """A worker's life: sends its games, then None; or the exception. It ends when the driver is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C reaches the whole group; the driver decides
    import torch

    torch.set_num_threads(1)
    try:
        seats = {side: Seat(load_player(spec)[0]) for side, spec in specs.items()}
        for game in play_games(seats, numbers, terms):
            pipe.send(game)
        pipe.send(None)
    except BrokenPipeError:
        return
    except Exception as error:
        pipe.send(error)
