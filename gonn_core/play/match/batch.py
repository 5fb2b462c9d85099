"""Games between two nets, many at once: each forward pass answers for as many games as it takes positions.

Game n is a pure function of the match and n, whatever else is played beside it: its draws and its opening are, and a
forward pass always has the same number of positions (net_player.CHUNK), in which a position's logits do not hang on the
others.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gonn_core.errors import SettingError
from gonn_core.go.points import BLACK, PASS, point_name
from gonn_core.play.draws import game_draws
from gonn_core.play.kernels import play_moves
from gonn_core.play.match.record import GameLine, Side
from gonn_core.play.net_player import CHUNK, NetPlayer
from gonn_core.play.openings import Openings
from gonn_core.play.rows import GameTable, begin, game_moves, make_table, mover
from gonn_core.play.rules import Rules
from gonn_core.play.scoring import area, cleanup, result_text
from gonn_core.play.sgf import game_sgf
from gonn_core.training.environment import keep_memory

PLACES = 2 * CHUNK
"""Games under way at once: so many that there is always a full chunk to ask one of the nets about, until the last games
are under way."""


class MatchTerms(NamedTuple):
    """What is common to all games of a match."""

    rules: Rules
    openings: Openings
    seed: int
    names: Mapping[str, str]
    """What A and B are called in SGF files."""

    @classmethod
    def of(cls, match: Mapping, names: Mapping[str, str]) -> "MatchTerms":
        """From the content of a match.json."""
        return cls(Rules(**match["rules"]), Openings(**match["openings"]), match["seed"], names)


def black_of(number: int) -> Side:
    """Who has Black in a game: A in even games, B in odd ones."""
    return "A" if number % 2 == 0 else "B"


def play_games(
    players: Mapping[str, NetPlayer],
    numbers: Iterable[int],
    terms: MatchTerms,
    places: int = PLACES,
    on_moves: Callable[[int], object] = lambda count: None,
) -> Iterator[tuple[GameLine, bytes]]:
    """Plays the games with these numbers between nets A and B; each with its SGF as it ends. on_moves: called with the
    number of moves played since its last call. Raises SettingError for a choice or rules that need an engine."""
    check_no_engine_is_needed(terms.rules)
    for player in players.values():
        if player.choice.passing == "guard":
            raise SettingError(
                "passing", "guard", "net against net has no engine beside it", "pass_alive, after_pass, no_candidates"
            )
    keep_memory()
    hall = _Hall(terms, places, iter(numbers))
    while hall.under_way():
        side, which = hall.next_to_move()
        draws = hall.draws[which, hall.table.played[which]]
        moves = players[side].table_moves(hall.table, which, draws, terms.rules.superko == "positional")
        over = np.empty(len(which), np.bool_)
        play_moves(hall.table, which, moves, terms.rules.most_moves, over)
        on_moves(len(which))
        for place in which[over].tolist():
            yield hall.finished(place)
            hall.seat_next(place)
        hall.enqueue(which[~over].tolist())


def check_no_engine_is_needed(rules: Rules) -> None:
    """Raises SettingError for rules under which nets alone cannot count a game."""
    if rules.scoring == "territory":
        raise SettingError(
            "rules",
            rules.name,
            "whose points are whose has to be told by a GNU Go that plays, or that guards a net",
            "chinese, gnugo as a player, or passing=guard",
        )


class _Hall:
    """The places at which games are played, and who waits where for a move."""

    def __init__(self, terms: MatchTerms, places: int, numbers: Iterator[int]):
        self.table: GameTable = make_table(places, terms.rules.most_moves)
        self.draws = np.zeros((places, terms.rules.most_moves))
        self._terms, self._numbers = terms, numbers
        self._number = [-1] * places
        self._waiting: dict[str, deque[int]] = {"A": deque(), "B": deque()}
        for place in range(places):
            self.seat_next(place)

    def under_way(self) -> bool:
        """Whether a game waits for a move."""
        return any(self._waiting.values())

    def next_to_move(self) -> tuple[str, np.ndarray]:
        """The player for whom more games wait, and the places of up to a chunk of these games, first come, first
        served."""
        side = max("AB", key=lambda name: len(self._waiting[name]))
        queue = self._waiting[side]
        return side, np.array([queue.popleft() for _ in range(min(CHUNK, len(queue)))], np.int64)

    def enqueue(self, places: Iterable[int]) -> None:
        """The games at these places wait for their sides to move."""
        for place in places:
            black_to_move = mover(self.table, place) == BLACK
            self._waiting[black_of(self._number[place] + (not black_to_move))].append(place)

    def seat_next(self, place: int) -> None:
        """Begins the next game at a place, if there is one."""
        number = next(self._numbers, None)
        if number is None:
            return
        self._number[place] = number
        begin(self.table, place, *self._terms.openings.of_game(self._terms.seed, number))
        self.draws[place] = game_draws(self._terms.seed, number, self._terms.rules.most_moves)
        self.enqueue([place])

    def finished(self, place: int) -> tuple[GameLine, bytes]:
        """The line and the SGF of the game that ended at a place."""
        number, rules = self._number[place], self._terms.rules
        stones, moves = self.table.stones[place, self.table.played[place]], game_moves(self.table, place)
        passed = [point for _, point in moves[-2:]] == [PASS, PASS]
        dead, unsettled = cleanup(stones) if passed else (frozenset(), frozenset())
        black_points, white_points = area(stones, dead)
        margin = black_points - white_points - rules.komi
        black, white = black_of(number), black_of(number + 1)
        line = GameLine(
            game=number,
            black=black,
            winner=None if margin == 0 else black if margin > 0 else white,
            result=result_text(margin),
            end="passes" if passed else "length",
            moves=len(moves),
            unsettled=tuple(map(point_name, sorted(unsettled))),
        )
        setup, to_move = self._terms.openings.of_game(self._terms.seed, number)
        names = self._terms.names
        return line, game_sgf(
            moves, rules.komi, line.result, names[black], names[white], f"game {number}", setup, to_move
        )
