"""The loop of a match: games at many boards side by side, each waiting for the seat whose turn it is, results by the
match's rules.

Between nets, game n is a pure function of the match and n, whatever else is played with it: its draws and its opening
are, and a forward pass always has the same number of positions (net_player.CHUNK), in which a position's logits do not
depend on the others.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from gonn_core.go.points import BLACK, PASS, WHITE, point_name
from gonn_core.play.engines.client import EngineError, EngineTimeout
from gonn_core.play.engines.players import RESIGN, EnginePlayer
from gonn_core.play.game import LETTERS, Game, game_sgf, make_table
from gonn_core.play.kernels import play_moves
from gonn_core.play.match.record import SIDES, End, GameLine, Side
from gonn_core.play.net_player import CHUNK, NetPlayer
from gonn_core.play.rules import Openings, Rules, game_draws
from gonn_core.play.scoring import area, cleanup, result_text, territory
from gonn_core.training.environment import keep_memory

PLACES = 2 * CHUNK
"""Boards of a match of nets: so many that there is always a full chunk to ask one of the nets about, until the last
games are under way."""


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


class Seat:
    """One side of the games: a net, an engine, or a net with an engine as its guard.

    A net alone chooses legal points, in many games at once. A guard is asked first: when it passes or resigns, so does
    the seat; otherwise its move is taken back and the net moves (spec: other systems 1.7).
    """

    def __init__(self, net: NetPlayer | None = None, engine: EnginePlayer | None = None):
        """Raises ValueError for a net that passes by guard and has none."""
        if engine is None and (net is None or net.choice.passing == "guard"):
            raise ValueError("neither a net that plays by itself nor an engine")
        self.net, self.engine = net, engine

    def moves(self, boards: "MatchBoards", places: np.ndarray) -> np.ndarray:
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


class GameEnd(NamedTuple):
    """How a game ended. winner: its colour; None for a drawn or voided game."""

    end: End
    result: str
    winner: int | None = None
    unsettled: frozenset[int] = frozenset()
    reason: str = ""


def play_games(
    seats: Mapping[Side, Seat],
    numbers: Iterable[int],
    terms: MatchTerms,
    places: int = PLACES,
    judge: EnginePlayer | None = None,
) -> Iterator[tuple[GameLine, bytes]]:
    """Plays the games with these numbers, at so many boards; each with its SGF as it ends.

    An engine sits at one board: with one in `seats`, places must be 1. judge: asked about dead stones and territory at
    the end of a game that ended by passes, and of every game whose territory is to be counted. An engine that fails
    voids its game. Raises ValueError for territory without a judge.
    """
    if terms.rules.scoring == "territory" and judge is None:
        raise ValueError("territory cannot be counted without a judge of dead stones")
    if places > 1 and any(seat.engine is not None for seat in seats.values()):
        raise ValueError("an engine plays one game at a time")
    keep_memory()
    boards = MatchBoards(terms, places, iter(numbers))
    while any(boards.waiting.values()):
        side, which = boards.next_to_move()
        outcome = None
        try:
            moves = seats[side].moves(boards, which)
            if seats[side].engine is not None:
                outcome = _refused(boards.games[which[0]], side, int(moves[0]))
        except EngineError as error:
            outcome = _void(side, error)
        if outcome is not None:
            yield boards.finish(int(which[0]), outcome)
            continue
        over = np.empty(len(which), np.bool_)
        play_moves(boards.table, which, moves, terms.rules.most_moves, over)
        for place in which[over].tolist():
            yield boards.finish(place, _scored(boards.games[place], terms.rules, judge))
        boards.enqueue(which[~over].tolist())


class MatchBoards:
    """The boards on which games are played, and the queues of those that wait for a move."""

    def __init__(self, terms: MatchTerms, places: int, numbers: Iterator[int]):
        self.table = make_table(places, terms.rules.most_moves)
        self.draws = np.zeros((places, terms.rules.most_moves))
        self.superko = terms.rules.superko == "positional"
        self.games: dict[int, Game] = {}
        self.waiting: dict[Side, deque[int]] = {side: deque() for side in SIDES}
        self._terms, self._numbers = terms, numbers
        self._number = [-1] * places
        for place in range(places):
            self._begin(place)

    def next_to_move(self) -> tuple[Side, np.ndarray]:
        """The side for which more games wait, and the places of up to a chunk of these games, first come, first
        served."""
        side = max(SIDES, key=lambda name: len(self.waiting[name]))
        queue = self.waiting[side]
        return side, np.array([queue.popleft() for _ in range(min(CHUNK, len(queue)))], np.int64)

    def enqueue(self, places: Iterable[int]) -> None:
        """The games at these places wait for their sides to move."""
        for place in places:
            self.waiting[self._side(place, self.games[place].to_move)].append(place)

    def finish(self, place: int, outcome: GameEnd) -> tuple[GameLine, bytes]:
        """The line and the SGF of the game that ended at a place, where the next one begins."""
        game, number = self.games[place], self._number[place]
        line = GameLine(
            game=number,
            black=self._side(place, BLACK),
            winner=None if outcome.winner is None else self._side(place, outcome.winner),
            result=outcome.result,
            end=outcome.end,
            moves=len(game),
            unsettled=tuple(map(point_name, sorted(outcome.unsettled))),
            reason=outcome.reason,
        )
        black, white = (self._terms.names[self._side(place, colour)] for colour in (BLACK, WHITE))
        sgf = game_sgf(game, line.result, black, white, f"game {number}", line.reason, self._terms.rules.name)
        self._begin(place)
        return line, sgf

    def _side(self, place: int, colour: int) -> Side:
        """Black is A in even games and B in odd ones."""
        return SIDES[(self._number[place] + (colour == WHITE)) % 2]

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


def _refused(game: Game, side: Side, move: int) -> GameEnd | None:
    """How a game ends by this move, a resignation or an illegal move; None if it continues."""
    opponent = BLACK + WHITE - game.to_move
    if move == RESIGN:
        return GameEnd("resign", f"{LETTERS[opponent]}+R", opponent)
    if problem := game.why_illegal(move, game.to_move):
        reason = f"{side} plays {point_name(move)}: {problem}"
        return GameEnd("illegal", f"{LETTERS[opponent]}+F", opponent, reason=reason)
    return None


def _void(culprit: str, error: Exception) -> GameEnd:
    return GameEnd("timeout" if isinstance(error, EngineTimeout) else "crash", "Void", reason=f"{culprit}: {error}")


def _scored(game: Game, rules: Rules, judge: EnginePlayer | None) -> GameEnd:
    """How a game ends after two passes or at the limit of moves.

    By area, stones are dead in the enemy's unconditional regions and, where these say nothing, by the judge's word.
    Territory is counted as the judge says: what is dead, in seki or territory cannot be read from the stones."""
    stones, dead, unsettled = game.stones(), frozenset[int](), frozenset[int]()
    try:
        if rules.scoring == "territory" and judge is not None:
            sides = {BLACK: "black_territory", WHITE: "white_territory"}
            owned = {colour: judge.status(game, name) for colour, name in sides.items()}
            black, white = territory(game, judge.status(game, "dead"), owned)
        else:
            if game.over:
                dead, unsettled = cleanup(stones)
                if judge is not None:
                    colours = game.board.colours()
                    dead |= {p for p in judge.status(game, "dead") if p in unsettled and colours[p]}
                    unsettled = frozenset()
            black, white = area(stones, dead)
    except (EngineError, ValueError) as error:
        return _void("the judge of dead stones", error)
    margin = black - white - game.komi
    winner = None if margin == 0 else BLACK if margin > 0 else WHITE
    return GameEnd("passes" if game.over else "length", result_text(margin), winner, unsettled)
