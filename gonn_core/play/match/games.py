"""The loop of a match: games at many boards side by side, each waiting for the seat whose turn it is, results by the
match's rules.

Between nets, game n is a pure function of the match and n, whatever else is played with it: its draws and its opening
are, and a forward pass always has the same number of positions (net_player.CHUNK), in which a position's logits do not
depend on the others.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, point_name
from gonn_core.play.engines.client import EngineError, EngineTimeout
from gonn_core.play.engines.player import RESIGN
from gonn_core.play.game import Game, make_table
from gonn_core.play.kernels import play_moves
from gonn_core.play.match.record import SIDES, End, GameLine, Side
from gonn_core.play.net_player import CHUNK, NetPlayer
from gonn_core.play.rules import Openings, Rules, game_draws
from gonn_core.play.scoring import area, cleanup, result_text, territory
from gonn_core.play.sgf import game_sgf
from gonn_core.training.environment import keep_memory

PLACES = 2 * CHUNK
"""Boards of a match of nets: so many that there is always a full chunk to ask one of the nets about, until the last
games are under way."""
_LETTERS = {BLACK: "B", WHITE: "W"}


class MatchTerms(NamedTuple):
    """What is common to all games of a match."""

    rules: Rules
    openings: Openings
    seed: int
    names: Mapping[Side, str]
    """What A and B are called in SGF files."""

    @classmethod
    def of(cls, match: Mapping, names: Mapping[Side, str]) -> "MatchTerms":
        """From the content of a match.json."""
        return cls(Rules(**match["rules"]), Openings(**match["openings"]), match["seed"], names)


class Engine(Protocol):
    """A program that plays one game at a time; an EnginePlayer is one."""

    def move(self, game: Game, colour: int) -> int:
        """A point, PASS or RESIGN; it need not be legal. Raises EngineError."""

    def dead(self, game: Game) -> frozenset[int]:
        """The points of dead stones at the end of a game. Raises EngineError."""

    def territory(self, game: Game) -> dict[int, frozenset[int]]:
        """Colour -> the empty points that are that side's at the end of a game. Raises EngineError."""


class Seat:
    """One side of the games: a net, an engine, or a net with an engine as its guard.

    A net alone chooses legal points, in many games at once. A guard is asked first: when it passes or resigns, so does
    the seat; otherwise its move is taken back and the net moves (spec: other systems 1.7).
    """

    def __init__(self, net: NetPlayer | None = None, engine: Engine | None = None):
        """Raises ValueError for a net that passes by guard and has none."""
        if engine is None and (net is None or net.choice.passing == "guard"):
            raise ValueError("neither a net that plays by itself nor an engine")
        self.net, self.engine = net, engine

    def moves(self, boards: "Boards", places: np.ndarray) -> np.ndarray:
        """(n,) moves of the sides to move at `places` (n,); with an engine n is 1, and the move may be illegal or
        RESIGN. Raises EngineError."""
        if self.engine is not None:
            game = boards.games[places[0]]
            move = self.engine.move(game, game.to_move)
            if self.net is None or move in (PASS, RESIGN):
                return np.array([move])
        assert self.net is not None
        draws = boards.draws[places, boards.table.played[places]]
        return self.net.table_moves(boards.table, places, draws, boards.superko)


def black_of(number: int) -> Side:
    """Which side has Black in a game: A in even games, B in odd ones."""
    return "A" if number % 2 == 0 else "B"


def play_games(
    seats: Mapping[Side, Seat],
    numbers: Iterable[int],
    terms: MatchTerms,
    places: int = PLACES,
    judge: Engine | None = None,
    on_moves: Callable[[int], object] = lambda count: None,
) -> Iterator[tuple[GameLine, bytes]]:
    """Plays the games with these numbers, at so many boards; each with its SGF as it ends.

    An engine sits at one board: with one in `seats`, places must be 1. judge: asked about dead stones and territory at
    the end of a game that ended by passes, and of every game whose territory is to be counted. An engine that fails
    voids its game. on_moves: called with the number of moves played since its last call. Raises ValueError for
    territory without a judge.
    """
    if terms.rules.scoring == "territory" and judge is None:
        raise ValueError("territory cannot be counted without a judge of dead stones")
    if places > 1 and any(seat.engine is not None for seat in seats.values()):
        raise ValueError("an engine plays one game at a time")
    keep_memory()
    boards = Boards(terms, places, iter(numbers))
    while boards.under_way():
        side, which = boards.next_to_move()
        line = None
        try:
            moves = seats[side].moves(boards, which)
            if seats[side].engine is not None:
                line = boards.refused(int(which[0]), side, int(moves[0]))
        except EngineError as error:
            line = boards.voided(int(which[0]), side, error)
        if line is not None:
            yield boards.finish(int(which[0]), line)
            continue
        over = np.empty(len(which), np.bool_)
        play_moves(boards.table, which, moves, terms.rules.most_moves, over)
        on_moves(len(which))
        for place in which[over].tolist():
            yield boards.finish(place, boards.scored(place, judge))
        boards.enqueue(which[~over].tolist())


class Boards:
    """The boards on which games are played, and the queues of those that wait for a move."""

    def __init__(self, terms: MatchTerms, places: int, numbers: Iterator[int]):
        self.table = make_table(places, terms.rules.most_moves)
        self.draws = np.zeros((places, terms.rules.most_moves))
        self.superko = terms.rules.superko == "positional"
        self.games: dict[int, Game] = {}
        self._terms, self._numbers = terms, numbers
        self._number = [-1] * places
        self._waiting: dict[Side, deque[int]] = {side: deque() for side in SIDES}
        for place in range(places):
            self._begin(place)

    def under_way(self) -> bool:
        """Whether a game waits for a move."""
        return any(self._waiting.values())

    def next_to_move(self) -> tuple[Side, np.ndarray]:
        """The side for which more games wait, and the places of up to a chunk of these games, first come, first
        served."""
        side = max(SIDES, key=lambda name: len(self._waiting[name]))
        queue = self._waiting[side]
        return side, np.array([queue.popleft() for _ in range(min(CHUNK, len(queue)))], np.int64)

    def enqueue(self, places: Iterable[int]) -> None:
        """The games at these places wait for their sides to move."""
        for place in places:
            self._waiting[self._side(place, self.games[place].to_move)].append(place)

    def finish(self, place: int, line: GameLine) -> tuple[GameLine, bytes]:
        """The line and the SGF of the game that ended at a place, where the next one begins."""
        game, terms = self.games[place], self._terms
        black, white = (terms.names[self._side(place, colour)] for colour in (BLACK, WHITE))
        first = game.moves[0][0] if len(game) else game.to_move
        sgf = game_sgf(
            game.moves,
            game.komi,
            line.result,
            black,
            white,
            f"game {line.game}",
            game.setup,
            first,
            line.reason,
            terms.rules.name,
        )
        self._begin(place)
        return line, sgf

    def refused(self, place: int, side: Side, move: int) -> GameLine | None:
        """The line of a game that ends by this move, a resignation or an illegal move; None if it continues."""
        game = self.games[place]
        theirs = BLACK + WHITE - game.to_move
        winner = self._side(place, theirs)
        if move == RESIGN:
            return self._line(place, "resign", f"{_LETTERS[theirs]}+R", winner)
        if problem := game.why_illegal(move, game.to_move):
            reason = f"{side} plays {point_name(move)}: {problem}"
            return self._line(place, "illegal", f"{_LETTERS[theirs]}+F", winner, reason=reason)
        return None

    def voided(self, place: int, culprit: str, error: EngineError) -> GameLine:
        """The line of a game in which an engine failed."""
        end: End = "timeout" if isinstance(error, EngineTimeout) else "crash"
        return self._line(place, end, "Void", reason=f"{culprit}: {error}")

    def scored(self, place: int, judge: Engine | None) -> GameLine:
        """The line of a game that ended by two passes or at the limit of moves."""
        game = self.games[place]
        counted = _territory if self._terms.rules.scoring == "territory" else _area
        try:
            (black, white), unsettled = counted(game, judge)
        except EngineError as error:
            return self.voided(place, "who judges dead stones", error)
        margin = black - white - game.komi
        winner = None if margin == 0 else self._side(place, BLACK if margin > 0 else WHITE)
        return self._line(place, "passes" if game.over else "length", result_text(margin), winner, unsettled)

    def _line(
        self,
        place: int,
        end: End,
        result: str,
        winner: Side | None = None,
        unsettled: frozenset[int] = frozenset(),
        reason: str = "",
    ) -> GameLine:
        return GameLine(
            game=self._number[place],
            black=black_of(self._number[place]),
            winner=winner,
            result=result,
            end=end,
            moves=len(self.games[place]),
            unsettled=tuple(map(point_name, sorted(unsettled))),
            reason=reason,
        )

    def _side(self, place: int, colour: int) -> Side:
        return black_of(self._number[place] + (colour == WHITE))

    def _begin(self, place: int) -> None:
        """Begins the next game at a place, if there is one."""
        number = next(self._numbers, None)
        if number is None:
            return
        terms = self._terms
        self._number[place] = number
        setup, to_move = terms.openings.of_game(terms.seed, number)
        self.games[place] = Game(terms.rules.komi, setup, to_move, self.superko, self.table, place)
        self.draws[place] = game_draws(terms.seed, number, terms.rules.most_moves)
        self.enqueue([place])


def _area(game: Game, judge: Engine | None) -> tuple[tuple[int, int], frozenset[int]]:
    """Points of Black and White, and the points that are nobody's for certain. Raises EngineError."""
    if not game.over:
        return area(game.stones()), frozenset()
    dead, unsettled = cleanup(game.stones())
    if judge is not None:  # where unconditional life says nothing, those that it calls dead
        board = game.board
        dead |= {p for p in judge.dead(game) if 0 <= p < POINTS and p in unsettled and board.colour(p)}
        unsettled = frozenset()
    return area(game.stones(), dead), unsettled


def _territory(game: Game, judge: Engine | None) -> tuple[tuple[int, int], frozenset[int]]:
    """As `_area`, all of it as the judge says: what is dead, in seki or territory cannot be read from the stones."""
    assert judge is not None
    dead, owned = judge.dead(game), judge.territory(game)
    try:
        return territory(game, dead, owned), frozenset()
    except ValueError as error:
        raise EngineError(f"its words contradict the board: {error}") from None
