"""GNU Go itself, where it is installed: started to our rules, it knows dead stones and the superko."""

import pytest

from gonn_core.errors import SettingError
from gonn_core.go.points import BLACK, PASS, WHITE, point, point_name
from gonn_core.play.engines.client import CommandFailed
from gonn_core.play.engines.players import EnginePlayer, EnginePool, parse_engine
from gonn_core.play.game import Game
from gonn_core.play.match.games import Seat
from gonn_core.play.rules import JAPANESE_KOMI, RULES, Rules
from gonn_core.play.scoring import result_text, territory
from tests.boards import parse_board
from tests.play.match.test_referee import THREE_KOS, ScriptedNet, play


@pytest.fixture(scope="module")
def gnugo():
    """A pool of GNU Go at level 1."""
    try:
        engine = parse_engine("gnugo:1")
    except SettingError as missing:
        pytest.skip(str(missing))
    with EnginePool(engine) as pool:
        yield pool


@pytest.fixture(scope="module")
def japanese(gnugo):
    """The same under Japanese rules."""
    with EnginePool(parse_engine("gnugo:1", rules=RULES["japanese"])) as pool:
        yield pool


_ROW = ". . X O . O . O . O . O . O . O . O .\n"
SETTLED = 9 * _ROW + ". O" + _ROW[3:] + 9 * _ROW
"""Two strips for Black, with a white stone that cannot live there; the rest is White's."""


def stones_of(board):
    return {p: int(colour) for p, colour in enumerate(parse_board(board)) if colour}


def test_it_knows_dead_stones(gnugo):
    game = Game(setup=stones_of(SETTLED))
    game.play(PASS)
    game.play(PASS)
    with EnginePlayer(gnugo, 1) as player:
        assert player.status(game, "dead") == {point("B10")}


def test_its_superko_is_ours(gnugo):
    game = Game(setup=stones_of(THREE_KOS))
    for name in ("C18", "B10", "C14", "B18", "C10"):
        game.play(point(name))
    assert game.why_illegal(point("B14"), WHITE) == "superko"
    with gnugo.lend(1) as engine:
        engine.ask("clear_board")
        for stone, colour in [*game.setup.items(), *((move, colour) for colour, move in game.moves)]:
            engine.ask(f"play {'black' if colour == BLACK else 'white'} {point_name(stone)}")
        with pytest.raises(CommandFailed, match="illegal"):
            engine.ask("play white B14")


def test_it_guards(gnugo):
    """Asked first, it would play on; its move is taken back, so the same question has the net's move on the board."""
    with EnginePlayer(gnugo, 1) as guard:
        seats = [Seat(ScriptedNet(move), guard) for move in ("D4", "D16")]
        _, game = play(*seats, rules=Rules(most_moves=2))
        assert [move for _, move in game.moves] == [point("D4"), point("D16")]
        guard.move(game, BLACK)
        assert guard.shown[:2] == game.moves


@pytest.mark.parametrize("moves, prisoners", [(["A1"], 0), (["A1", "B11", "A2", "B9", "PASS", "A10"], 1)])
def test_territory_counted_here_is_its_own_score(japanese, moves, prisoners):
    """Points by its word and prisoners by ours: what `final_score` says, by which the documents' games were scored."""
    game = Game(JAPANESE_KOMI, setup=stones_of(SETTLED), to_move=WHITE, superko=False)
    for move in [*moves, "PASS", "PASS"]:
        game.play(PASS if move == "PASS" else point(move))
    with EnginePlayer(japanese, 1) as player:
        owned = {BLACK: player.status(game, "black_territory"), WHITE: player.status(game, "white_territory")}
        black, white = territory(game, player.status(game, "dead"), owned)
        assert game.captured[WHITE] == prisoners
        assert player.ask(game, "final_score", str) == result_text(black - white - JAPANESE_KOMI)
