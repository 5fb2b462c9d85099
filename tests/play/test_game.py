"""Rules of a game in play: captures, ko, superko, suicide, eyes, undo; against the slow board and drawn ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import boards as sgfmill_boards

from gonn_core.go.points import BLACK, EMPTY, PASS, POINTS, SIZE, WHITE
from gonn_core.play.game import Game, IllegalMove
from tests.boards import colours_of, named_points, parse_board
from tests.go import slow_board


def game_of(text: str, to_move: int = BLACK, **options) -> tuple[Game, dict[str, int]]:
    """A game that starts from a drawn board, and the drawing's named points."""
    colours = parse_board(text)
    setup = {int(p): int(colours[p]) for p in np.flatnonzero(colours)}
    return Game(setup=setup, to_move=to_move, **options), named_points(text)


def slow_candidates(board, legal, colour):
    """Legal points that are no simple eyes, from the words of the spec."""
    found = set()
    for p in legal:
        row, col = divmod(p, SIZE)
        around = slow_board.neighbours(p)
        corners = [(row + dr, col + dc) for dr in (-1, 1) for dc in (-1, 1)]
        corners = [r * SIZE + c for r, c in corners if 0 <= r < SIZE and 0 <= c < SIZE]
        enemies = sum(board[q] == 3 - colour for q in corners)
        is_eye = all(board[q] == colour for q in around) and (enemies == 0 or (enemies == 1 and len(corners) == 4))
        if not is_eye:
            found.add(p)
    return found


class SlowGame:
    """The same rules by immutable boards and a list of those that stood."""

    def __init__(self, board):
        self.states = [(tuple(board), slow_board.NO_KO)]

    def why_illegal(self, p, colour):
        board, ko = self.states[-1]
        if board[p] != EMPTY:
            return "occupied"
        if p == ko:
            return "ko"
        after = slow_board.play(board, ko, p, colour)
        if after is None:
            return "suicide"
        return "superko" if any(after[0] == stood for stood, _ in self.states) else None

    def play(self, p, colour):
        board, ko = self.states[-1]
        self.states.append((board, slow_board.NO_KO) if p == PASS else slow_board.play(board, ko, p, colour))


THREE_KOS = """
    . X O . . . . . . .
    X a b O . . X O . .
    . X O . . X e f O .
    . X O . . . X O . .
    X c d O . . . . . .
    . X O . . . . . . .
    """
"""Each pair of letters is a ko: one of the two holds a stone, a, c and e White's, b, d and f Black's."""


def ko_game(seed: int, moves: int):
    """A random game that is mostly about three kos, so that positions come back often, with moves taken back; yields it
    with its slow twin."""
    generator = np.random.default_rng(seed)
    colours, at = parse_board(THREE_KOS), named_points(THREE_KOS)
    for pair in ("ab", "cd", "ef"):
        side = int(generator.integers(2))
        colours[at[pair[side]]] = (WHITE, BLACK)[side]
    near = [r * SIZE + c for r in range(6) for c in range(10)]
    game, slow = Game(setup={int(p): int(colours[p]) for p in np.flatnonzero(colours)}), SlowGame(colours.tolist())
    for _ in range(moves):
        takes = [at[name] for name in ("ace" if game.to_move == WHITE else "bdf")]
        points = takes if generator.random() < 0.95 else near
        legal = [p for p in points if slow.why_illegal(p, game.to_move) is None]
        yield game, slow, near
        if len(game) and generator.random() < 0.1:
            slow.states.pop()
            game.undo()
            continue
        move = int(generator.choice(legal)) if legal else PASS
        slow.play(move, game.to_move)
        game.play(move)


@settings(max_examples=4)
@given(st.integers(0, 2**32))
def test_random_ko_games_agree_with_the_slow_rules(seed):
    for game, slow, points in ko_game(seed, 40):
        board = slow.states[-1][0]
        assert colours_of(game.stones()).tolist() == list(board)
        colour = game.to_move
        reasons = {p: slow.why_illegal(p, colour) for p in points}
        legal, candidates = game.legal_points(), game.candidates()
        assert {p for p in points if legal[p]} == {p for p, reason in reasons.items() if reason is None}
        assert {p: game.why_illegal(p, colour) for p in points} == reasons
        here = [p for p in points if legal[p]]
        assert {p for p in points if candidates[p]} == slow_candidates(board, here, colour)


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_whole_games_agree_with_sgfmill_on_captures_and_undo_restores_them(seed):
    generator = np.random.default_rng(seed)
    game, other, past = Game(superko=False), sgfmill_boards.Board(SIZE), []
    for _ in range(150):
        points = np.flatnonzero(game.candidates())
        move = int(generator.choice(points))
        past.append((game.stones().tolist(), game.to_move, game.candidates().tolist(), game.board.ko))
        row, col = divmod(move, SIZE)
        other.play(SIZE - 1 - row, col, "bw"[game.to_move - 1])
        game.play(move)
    theirs = [other.get(SIZE - 1 - p // SIZE, p % SIZE) for p in range(POINTS)]
    assert colours_of(game.stones()).tolist() == [{None: EMPTY, "b": BLACK, "w": WHITE}[c] for c in theirs]
    for stones, to_move, candidates, ko in reversed(past):
        game.undo()
        assert (game.stones().tolist(), game.to_move, game.candidates().tolist(), game.board.ko) == (
            stones,
            to_move,
            candidates,
            ko,
        )
    with pytest.raises(ValueError, match="no move"):
        game.undo()


def test_reasons_and_a_refused_move_changes_nothing():
    game, at = game_of("""
    . O X .
    O a O X
    . O X .
    . . . .""")
    before = game.stones().tolist()
    for point, reason in ((1, "occupied"), (0, "suicide")):
        with pytest.raises(IllegalMove, match=reason) as caught:
            game.play(point, BLACK)
        assert caught.value.reason == reason and game.stones().tolist() == before and len(game) == 0
    game.play(at["a"], BLACK)
    assert game.why_illegal(SIZE + 2, WHITE) == "ko"
    with pytest.raises(ValueError, match="valid are 0..360"):
        game.why_illegal(400, WHITE)


def test_three_kos_taken_in_turn_come_back_unless_superko_forbids_it():
    """White holds one ko, Black two; each takes where it may, and the sixth taking would bring back the start."""
    for superko in (True, False):
        text = THREE_KOS
        for name, stone in (("a", "."), ("b", "X"), ("c", "O"), ("d", "."), ("e", "."), ("f", "X")):
            text = text.replace(f" {name}", f" {stone}")
        at = named_points(THREE_KOS)
        game, _ = game_of(text, WHITE, superko=superko)
        start = game.stones().tolist()
        for name in "adebc":
            game.play(at[name])
        assert game.to_move == BLACK
        assert game.why_illegal(at["f"], BLACK) == ("superko" if superko else None)
        if not superko:
            game.play(at["f"])
            assert game.stones().tolist() == start


def test_more_moves_than_there_was_room_for():
    game = Game()
    for _ in range(400):
        game.play(PASS)
    assert len(game) == 400 and game.passes == 400


def test_simple_eyes_as_drawn():
    text = """
    a X . . . . . . X e X f X
    X X . X X O . . O X X X X
    . . X b X . .
    . . X X O X .
    . X X . X c X
    . X d X O X O
    . X X X . . ."""
    game, at = game_of(text, BLACK)
    candidates, legal = game.candidates(), game.legal_points()
    assert all(legal[p] for p in at.values())
    assert {name: bool(candidates[p]) for name, p in at.items()} == {
        "a": False,
        "b": False,
        "c": True,
        "d": False,
        "e": True,
        "f": False,
    }
