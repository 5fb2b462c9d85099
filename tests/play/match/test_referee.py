"""The referee: every way in which a game ends, and engines that fail while it watches."""

import sys

import numpy as np
import pytest

from gonn_core.go.points import BLACK, EMPTY, PASS, point
from gonn_core.play.engines.client import EngineCrashed, EngineTimeout
from gonn_core.play.engines.players import Engine, EnginePlayer, EnginePool
from gonn_core.play.game import Game
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.rules import RULES, Openings, Rules
from gonn_core.play.scoring import area, result_text
from tests.boards import parse_board
from tests.paths import FAKE_ENGINE
from tests.play.match.test_batch import moves_of
from tests.waiting import PATIENCE

FAKE = FAKE_ENGINE
CHINESE = Rules()


class Scripted:
    """Plays a list of moves, then passes; an exception in the list is raised."""

    def __init__(self, *moves):
        self._moves = iter(moves)

    def move(self, game, colour):
        move = next(self._moves, PASS)
        if isinstance(move, Exception):
            raise move
        return point(move) if isinstance(move, str) else move


class ScriptedNet(Scripted):
    """The same as a net."""

    def table_moves(self, table, places, draws, superko):
        return np.array([self.move(None, None)])


class Judge:
    """Says of stones and territory what it is given."""

    def __init__(self, dead=(), black=(), white=()):
        self._points = {"dead": dead, "black_territory": black, "white_territory": white}

    def status(self, game, status):
        return frozenset(map(point, self._points[status]))


def setup_of(board):
    """The stones of a drawing."""
    return {p: int(colour) for p, colour in enumerate(parse_board(board)) if colour != EMPTY}


class From(Openings):
    """Games that begin from given stones."""

    setup: dict[int, int]
    to_move: int

    def of_game(self, seed, game):
        return self.setup, self.to_move


def play(a, b, number=0, setup=None, judge=None, rules=CHINESE, to_move=BLACK):
    """The line of a game, and the game."""
    seats = {
        side: player if isinstance(player, Seat) else Seat(engine=player) for side, player in {"A": a, "B": b}.items()
    }
    terms = MatchTerms(rules, From(setup=setup or {}, to_move=to_move), 1, {"A": "A", "B": "B"})
    ((line, sgf),) = play_games(seats, [number], terms, 1, judge)
    game = Game(rules.komi, setup, superko=rules.superko == "positional")
    game.to_move = to_move
    for colour, move in moves_of(sgf):
        game.play(move, colour)
    return line, game


def pool(*words, timeout=PATIENCE):
    return EnginePool(Engine((sys.executable, "-S", str(FAKE), *words)), timeout)


def test_two_passes_end_a_game_and_the_area_counts():
    line, game = play(Scripted("D4"), Scripted())
    assert (line.winner, line.result, line.end, line.moves) == ("A", "B+353.5", "passes", 3)
    assert line.black == "A" and line.unsettled and game.over


def test_a_draw_has_no_winner():
    line, _ = play(Scripted(), Scripted(), rules=Rules(komi=0.0))
    assert (line.winner, line.result, line.end, line.void) == (None, "0", "passes", False)


@pytest.mark.parametrize("again", ["D4", "Q16"])
def test_a_refused_move_loses(again):
    line, _ = play(Scripted("D4", again), Scripted("Q16"))
    assert (line.winner, line.result, line.end) == ("B", "W+F", "illegal")
    assert line.reason == f"A plays {again}: occupied"


THREE_KOS = """
. X O .
X O . O
. X O .
. . . .
. X O .
X O . O
. X O .
. . . .
. X O .
X . X O
. X O .
"""


def test_a_triple_ko_ends_by_superko():
    """Each side takes the ko that the other has just not taken; the sixth capture would bring the first position
    back."""
    black, white = Scripted("C18", "C14", "C10"), Scripted("B10", "B18", "B14")
    line, game = play(black, white, setup=setup_of(THREE_KOS))
    assert (line.end, line.winner, line.reason) == ("illegal", "A", "B plays B14: superko")
    assert line.moves == 5


class Random:
    """Plays any candidate; passes without one."""

    def __init__(self, seed):
        self._generator = np.random.default_rng(seed)

    def move(self, game, colour):
        candidates = np.flatnonzero(game.candidates(colour))
        return int(self._generator.choice(candidates)) if len(candidates) else PASS


def test_a_long_game_with_an_engine_that_follows_it():
    """More than 420 moves with captures and kos, all of which an engine is shown when it is asked about dead stones."""
    with pool() as engines, EnginePlayer(engines, 1) as judge:
        line, game = play(Random(1), Random(2), judge=judge)
        assert judge.shown == game.moves
    assert (line.end, line.unsettled) == ("passes", ()) and line.moves > 420
    black, white = area(game.stones())
    assert line.result == result_text(black - white - 7.5)


def test_dead_stones_in_an_unconditional_region_come_off():
    """Black owns ten points and White two; with C19 alive it would be eight to three."""
    board = """
    . X O . X O
    X X X X X O
    """
    line, _ = play(Scripted(), Scripted(), setup=setup_of(board))
    assert (line.end, line.result) == ("passes", "B+0.5")
    assert not {"A19", "C19", "D19"} & set(line.unsettled) and "F19" in line.unsettled


def test_the_judge_decides_what_is_not_settled():
    line, _ = play(Scripted("D4"), Scripted("Q16"), judge=Judge(["Q16"]))
    assert (line.result, line.unsettled) == ("B+353.5", ())


JAPANESE = RULES["japanese"]


def test_territory_is_counted_by_the_judges_word():
    """One point, a dead stone and its point for Black; two points for White, and the komi."""
    line, _ = play(Scripted("D4"), Scripted("Q16"), judge=Judge(["Q16"], ["A1"], ["T1", "T2"]), rules=JAPANESE)
    assert (line.end, line.result, line.winner, line.unsettled) == ("passes", "W+5.5", "B", ())
    line, _ = play(Scripted("D4"), Scripted("Q16"), judge=Judge(["Q16"], ["A1"], ["T1", "T2"]))
    assert line.result == "B+353.5"  # the same game by area


def test_prisoners_count_where_stones_are_taken():
    line, _ = play(Scripted("Q4"), Scripted(), setup=setup_of(". O X\nX X ."), judge=Judge(), rules=JAPANESE)
    assert line.result == "W+6.5"
    line, _ = play(Scripted("A19"), Scripted(), setup=setup_of(". O X\nX X ."), judge=Judge(), rules=JAPANESE)
    assert line.result == "W+5.5"


def test_japanese_rules_know_no_superko():
    """Three kos are taken in turn for ever; the game goes on to its limit."""
    black, white = ["C18", "C14", "C10"], ["B10", "B18", "B14"]
    line, _ = play(
        Scripted(*black * 3),
        Scripted(*white * 3),
        setup=setup_of(THREE_KOS),
        judge=Judge(),
        rules=JAPANESE.model_copy(update={"most_moves": 12}),
    )
    assert (line.end, line.moves) == ("length", 12)


def test_territory_is_never_guessed():
    with pytest.raises(ValueError, match="without a judge"):
        play(Scripted(), Scripted(), rules=JAPANESE)
    line, _ = play(Scripted("D4"), Scripted(), judge=Judge(black=["D4"]), rules=JAPANESE)
    assert line.void and "no empty point" in line.reason


@pytest.mark.parametrize("error, end", [(EngineTimeout("too slow"), "timeout"), (EngineCrashed("gone"), "crash")])
def test_a_failing_engine_voids_the_game(error, end):
    line, _ = play(Scripted("D4"), Scripted(error))
    assert (line.end, line.result, line.winner, line.void) == (end, "Void", None, True)
    assert line.reason == f"B: {error}"


def test_engines_play_a_whole_game():
    with pool("stones=3") as engines, EnginePlayer(engines, 1) as one, EnginePlayer(engines, 2) as other:
        line, game = play(one, other)
    assert [move for _, move in game.moves] == [point(p) for p in ("A19", "A1", "B19", "B1", "C19", "C1")] + [
        PASS,
        PASS,
    ]
    assert line.end == "passes"


@pytest.mark.parametrize("does, end", [("refuse", "crash"), ("nonsense", "crash"), ("hang", "timeout")])
def test_an_engine_that_keeps_failing(does, end):
    with (
        pool("at=1", f"does={does}", timeout=0.3 if does == "hang" else PATIENCE) as engines,
        EnginePlayer(engines, 1) as bad,
    ):
        line, _ = play(bad, Scripted("Q1", "R1", "S1", "T1"))
    assert (line.end, line.void, line.moves) == (end, True, 0)


@pytest.mark.parametrize("does", ["crash", "nonsense"])
def test_an_engine_that_fails_once_is_shown_the_game_anew(does, tmp_path):
    with (
        pool("stones=3", "at=2", f"does={does}", f"once={tmp_path / 'once'}") as engines,
        EnginePlayer(engines, 1) as engine,
    ):
        line, game = play(engine, Scripted("Q1"))
    assert line.end == "passes"
    assert [move for colour, move in game.moves if colour == BLACK] == [point(p) for p in ("A19", "B19", "C19")] + [
        PASS
    ]


def test_the_guard_passes_and_its_moves_are_taken_back():
    """The fake guard plays three moves of its own, which nobody sees, and passes then; the net would go on."""
    with pool("stones=2") as engines, EnginePlayer(engines, 1) as guard:
        line, game = play(Seat(ScriptedNet("D4", "D5", "D6", "D7"), guard), Scripted("Q1", "Q2", "Q3"))
    assert line.end == "passes"
    assert point("A19") not in [move for _, move in game.moves]
