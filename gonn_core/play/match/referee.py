"""One game between two players under the referee's eyes, by the rules of rules.py."""

from collections.abc import Callable, Mapping

from gonn_core.go.points import BLACK, POINTS, WHITE, point_name
from gonn_core.play.engines.board import RESIGN
from gonn_core.play.engines.client import EngineError, EngineTimeout
from gonn_core.play.game import Game
from gonn_core.play.match.batch import black_of
from gonn_core.play.match.record import End, GameLine, Side
from gonn_core.play.match.seats import Judge, Seat
from gonn_core.play.rules import Rules
from gonn_core.play.scoring import area, benson_cleanup, result_text, territory

_LETTERS = {BLACK: "B", WHITE: "W"}


def referee(
    number: int,
    seats: Mapping[str, Seat],
    rules: Rules,
    setup: Mapping[int, int],
    to_move: int,
    judge: Judge | None = None,
    on_move: Callable[[int], object] = lambda count: None,
) -> tuple[GameLine, Game]:
    """Plays game `number` of a match between seats A and B from setup stones on; its line and the game.

    judge: who knows dead stones and territory, asked at the end of a game that ended by passes, and of every game whose
    territory is to be counted. on_move: called with 1 after each move. An engine that fails voids the game. Raises
    ValueError for territory without a judge.
    """
    if rules.scoring == "territory" and judge is None:
        raise ValueError("territory cannot be counted without a judge of dead stones")
    game = Game(rules.komi, setup, to_move, superko=rules.superko == "positional")
    sides = {BLACK: black_of(number), WHITE: black_of(number + 1)}

    def line(
        end: End, result: str, winner: Side | None, unsettled: frozenset[int] = frozenset(), reason: str = ""
    ) -> GameLine:
        names = tuple(map(point_name, sorted(unsettled)))
        return GameLine(
            game=number,
            black=sides[BLACK],
            winner=winner,
            result=result,
            end=end,
            moves=len(game),
            unsettled=names,
            reason=reason,
        )

    def void(error: EngineError, who: str) -> GameLine:
        return line("timeout" if isinstance(error, EngineTimeout) else "crash", "Void", None, reason=f"{who}: {error}")

    while not game.over and len(game) < rules.most_moves:
        colour = game.to_move
        other = BLACK + WHITE - colour
        try:
            move = seats[sides[colour]].move(game, colour)
        except EngineError as error:
            return void(error, sides[colour]), game
        if move == RESIGN:
            return line("resign", f"{_LETTERS[other]}+R", sides[other]), game
        if reason := game.why_illegal(move, colour):
            return line(
                "illegal",
                f"{_LETTERS[other]}+F",
                sides[other],
                reason=f"{sides[colour]} plays {point_name(move)}: {reason}",
            ), game
        game.play(move, colour)
        on_move(1)
    try:
        (black, white), unsettled = _territory(game, judge) if rules.scoring == "territory" else _area(game, judge)
    except EngineError as error:
        return void(error, "who judges dead stones"), game
    margin = black - white - rules.komi
    winner = None if margin == 0 else sides[BLACK if margin > 0 else WHITE]
    return line("passes" if game.over else "length", result_text(margin), winner, unsettled), game


def _area(game: Game, judge: Judge | None) -> tuple[tuple[int, int], frozenset[int]]:
    """Points of Black and White, and what is nobody's for certain. Raises EngineError."""
    dead: frozenset[int] = frozenset()
    unsettled: frozenset[int] = frozenset()
    if game.over:
        dead, unsettled = benson_cleanup(game)
        if judge is not None:
            dead, unsettled = _judged(game, judge, dead, unsettled), frozenset()
    return area(game.stones(), dead), unsettled


def _territory(game: Game, judge: Judge | None) -> tuple[tuple[int, int], frozenset[int]]:
    """As `_area`, all of it by the judge's word: what is dead, in seki or territory cannot be told from the stones."""
    assert judge is not None
    dead, owned = judge.dead(game), judge.territory(game)
    try:
        return territory(game, dead, owned), frozenset()
    except ValueError as error:
        raise EngineError(f"its words contradict the board: {error}") from None


def _judged(game: Game, judge: Judge, dead: frozenset[int], unsettled: frozenset[int]) -> frozenset[int]:
    """The dead stones: where unconditional life says nothing, those that the judge calls dead."""
    board = game.board
    return dead | {p for p in judge.dead(game) if 0 <= p < POINTS and p in unsettled and board.colour(p)}
