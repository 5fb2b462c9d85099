"""Matches in which an engine takes part: many games side by side, each watched by the referee and on disk as soon as it
ends."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol, cast

import numpy as np

from gonn_core.play.draws import game_draws
from gonn_core.play.engines.commands import TERRITORY, Engine, parse_engine
from gonn_core.play.engines.player import EnginePlayer
from gonn_core.play.engines.pool import EnginePool, side_by_side
from gonn_core.play.match.batch import MatchTerms, black_of
from gonn_core.play.match.record import GameLine, MatchRecord
from gonn_core.play.match.referee import referee
from gonn_core.play.match.seats import GUARD_LEVEL, GuardedSeat, Judge, NetSeat, Seat
from gonn_core.play.match.spec import NetSpec, load_player
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import Rules
from gonn_core.play.sgf import game_sgf
from gonn_core.trial.weights import load_net

CHINESE = Rules()
MOST_ATTEMPTS = 3
"""How often a game is played whose engine fails, all in all; then it is given up."""
_KNOWS_DEAD_STONES = ("GNU Go",)
"""Engines whose word on dead stones is taken."""


class Entrant(Protocol):
    """A player that can sit at many boards at once."""

    identity: dict

    def seat(self, seed: int, rules: Rules, game: int, attempt: int) -> AbstractContextManager[Seat]:
        """A seat for one game of the match with that seed."""

    def judges(self, rules: Rules) -> bool:
        """Whether its seats know what is dead, and whose, under these rules: each is then a Judge."""

    def close(self) -> None:
        """Ends its processes; games under way fail."""


class EngineEntrant:
    """A GTP engine. Raises EngineError when it does not start or does not say its name."""

    def __init__(self, engine: Engine, timeout: float):
        """`timeout`: seconds per command."""
        self._pool = EnginePool(engine, timeout)
        self.identity = self._pool.identity()

    def seat(self, seed: int, rules: Rules, game: int, attempt: int) -> EnginePlayer:
        """See Entrant. An attempt has an engine seed of its own: one that crashed would crash again."""
        return EnginePlayer(self._pool, engine_seed(seed, game, attempt))

    def judges(self, rules: Rules) -> bool:
        """See Entrant. An engine counts by the rules that it was started under."""
        knows = self.identity["name"] in _KNOWS_DEAD_STONES
        return knows and (rules.scoring == "area" or TERRITORY in self.identity["command"])

    def close(self) -> None:
        """See Entrant."""
        self._pool.close()


class NetEntrant:
    """A trained net, with a GNU Go beside it where its choice passes by guard. Raises UserError when there are no such
    weights."""

    def __init__(self, spec: NetSpec, timeout: float, rules: Rules = CHINESE):
        """timeout: of the guard, seconds per command. rules: that the guard is started under."""
        self.identity = load_player(spec)[1]
        self._spec, self._local = spec, threading.local()
        self._guards = (
            EnginePool(parse_engine("gnugo", GUARD_LEVEL, rules), timeout) if spec.choice.passing == "guard" else None
        )

    @contextmanager
    def seat(self, seed: int, rules: Rules, game: int, attempt: int) -> Iterator[Seat]:
        """See Entrant."""
        net = NetSeat(self._player(), game_draws(seed, game, rules.most_moves))
        if self._guards is None:
            yield net
        else:
            with EnginePlayer(self._guards, engine_seed(seed, game, attempt)) as guard:
                yield GuardedSeat(net, guard)

    def judges(self, rules: Rules) -> bool:
        """See Entrant."""
        return self._guards is not None

    def close(self) -> None:
        """See Entrant."""
        if self._guards is not None:
            self._guards.close()

    def _player(self) -> NetPlayer:
        """This thread's own: a player's scratch memory serves one at a time. It is asked about one position at a
        time."""
        if not hasattr(self._local, "player"):
            net, config = load_net(self._spec.directory, self._spec.samples)
            self._local.player = NetPlayer(net, config.features, self._spec.choice, chunk=1)
        return self._local.player


def engine_seed(seed: int, game: int, attempt: int) -> int:
    """Seed of the engines in a game, 1 .. 2^31 - 1 (GNU Go takes 0 for the time of day)."""
    return 1 + int(np.random.SeedSequence([seed, game, attempt]).generate_state(1)[0]) % (2**31 - 1)


def play_match(
    record: MatchRecord,
    entrants: Mapping[str, Entrant],
    names: Mapping[str, str],
    games: int,
    workers: int,
    stopped: Callable[[], bool],
    writing: Callable[[], AbstractContextManager] = ExitStack,
    on_move: Callable[[int], object] = lambda count: None,
) -> Iterator[GameLine]:
    """Plays what is missing of the first `games` games of a match, `workers` at a time; lines as games end, when they
    are on disk.

    entrants, names: A and B, of the record's match, and what the games' files call them. An attempt in which an engine
    failed yields a voided line; the game is played anew, at most MOST_ATTEMPTS times in all, those of earlier commands
    counted. Once `stopped()`, or when the caller leaves, the entrants are closed and games under way are given up
    unrecorded. writing: entered around every write, such as a lease's guard. on_move: called with 1 after each move,
    from the games' threads.
    """
    terms = MatchTerms.of(record.match, names)
    voids = Counter(line.game for line in record.lines() if line.void)
    done, lock, ended = record.games(), threading.Lock(), threading.Event()

    def play(number: int) -> list[GameLine]:
        lines = []
        for attempt in range(voids[number], MOST_ATTEMPTS):
            line, sgf = _play_one(entrants, terms, number, attempt, on_move)
            if line.void and ended.is_set():
                break
            with lock, writing():
                record.append([(line, sgf)])
            lines.append(line)
            if not line.void:
                break
        return lines

    def abort() -> None:
        ended.set()
        for entrant in entrants.values():
            entrant.close()

    missing = (number for number in range(games) if number not in done)
    for lines in side_by_side(missing, workers, play, stopped, abort):
        yield from lines


def _play_one(
    entrants: Mapping[str, Entrant], terms: MatchTerms, number: int, attempt: int, on_move: Callable[[int], object]
) -> tuple[GameLine, bytes]:
    setup, to_move = terms.openings.of_game(terms.seed, number)
    with ExitStack() as stack:
        seats = {
            side: stack.enter_context(entrant.seat(terms.seed, terms.rules, number, attempt))
            for side, entrant in entrants.items()
        }
        judges = (cast(Judge, seats[side]) for side, entrant in entrants.items() if entrant.judges(terms.rules))
        line, game = referee(number, seats, terms.rules, setup, to_move, next(judges, None), on_move)
    black, white = (terms.names[black_of(number + turn)] for turn in (0, 1))
    return line, game_sgf(
        game.moves,
        terms.rules.komi,
        line.result,
        black,
        white,
        f"game {number}",
        setup,
        to_move,
        line.reason,
        terms.rules.name,
    )
