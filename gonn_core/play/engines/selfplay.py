"""Games of a GTP engine against itself, as SGF files: a data set that anybody can make anew.

Game n is a pure function of n and the engine: its seed is n, and its komi and setup stones are drawn from n.
"""

from dataclasses import dataclass

import numpy as np

from gonn_core.errors import printable
from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, PASS, SIZE, WHITE, point, point_name
from gonn_core.play.engines.client import EngineError, GtpClient
from gonn_core.play.rules import first_mover, random_setup
from gonn_core.play.sgf import game_sgf

KOMIS = (6.5, 7.5)
SHARE_WITH_SETUP = 2 / 3
"""Share of games that start from setup stones (ours)."""
MOST_MOVES = 2 * SIZE * SIZE
"""A game that has not ended by then is given up."""
GENMOVE_SECONDS = 120.0
_NAMES = {BLACK: "black", WHITE: "white"}


@dataclass(frozen=True)
class Start:
    """What is decided before a game's first move."""

    komi: float
    setup: dict[int, int]
    to_move: int


def start_of(number: int) -> Start:
    """Komi and setup stones of game `number`."""
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([number, 0x5E1F])))
    setup = random_setup(generator) if generator.random() < SHARE_WITH_SETUP else {}
    return Start(KOMIS[int(generator.integers(len(KOMIS)))], setup, first_mover(setup))


def play_game(engine: GtpClient, start: Start) -> tuple[list[tuple[int, int]], str]:
    """The moves (colour, point or PASS) and the result (`B+3.5`, `W+R`, `0`) of a game of `engine` with itself.

    Ends by two passes, scored by the engine, or by resignation. Raises EngineError when the engine fails or breaks the
    rules.
    """
    for command in (f"boardsize {SIZE}", "clear_board", f"komi {start.komi}"):
        engine.ask(command)
    board, colour = Board(), start.to_move
    for stone, of in start.setup.items():
        board.play(stone, of)
        engine.ask(f"play {_NAMES[of]} {point_name(stone)}")
    moves: list[tuple[int, int]] = []
    while len(moves) < MOST_MOVES:
        answer = engine.ask(f"genmove {_NAMES[colour]}", GENMOVE_SECONDS).lower()
        if answer == "resign":
            return moves, f"{'W' if colour == BLACK else 'B'}+R"
        move = _move(answer)
        if not board.legal(move, colour):
            raise EngineError(f"illegal move {answer} as move {len(moves) + 1}")
        board.play(move, colour)
        moves.append((colour, move))
        if [last for _, last in moves[-2:]] == [PASS, PASS]:
            return moves, _result(engine.ask("final_score", GENMOVE_SECONDS))
        colour = BLACK + WHITE - colour
    raise EngineError(f"no end within {MOST_MOVES} moves")


def _move(answer: str) -> int:
    if answer == "pass":
        return PASS
    try:
        return point(answer)
    except ValueError:
        raise EngineError(f"no move: {printable(answer, 40)}") from None


def _result(answer: str) -> str:
    """`final_score` as an SGF result. Raises EngineError for what is none."""
    text = answer.strip().upper()
    if text == "0":
        return text
    try:
        if text[:2] not in ("B+", "W+") or not 0 < float(text[2:]) <= 1000:
            raise ValueError
    except ValueError:
        raise EngineError(f"no score: {printable(answer, 40)}") from None
    return f"{text[:2]}{float(text[2:]):g}"


def selfplay_sgf(number: int, start: Start, moves: list[tuple[int, int]], result: str, player: str) -> bytes:
    """A game as an SGF file; `player` is put down for both sides."""
    return game_sgf(moves, start.komi, result, player, player, f"self-play {number}", start.setup, start.to_move)
