"""Area against sgfmill; territory on drawn boards; unconditional life on these and against an exhaustive attacker."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import boards as sgfmill_boards

from gonn_core.go.board import Board
from gonn_core.go.points import BLACK, POINTS, SIZE, WHITE
from gonn_core.play.game import Game
from gonn_core.play.scoring import area, cleanup, pass_alive, result_text, territory
from tests.boards import bitboards, draw, marked_points, parse_board
from tests.go import slow_board


def random_position(seed: int, moves: int) -> Game:
    generator, game = np.random.default_rng(seed), Game()
    for _ in range(moves):
        points = np.flatnonzero(game.candidates())
        if len(points) == 0:
            break
        game.play(int(generator.choice(points)))
    return game


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.integers(0, 400))
def test_area_agrees_with_sgfmill(seed, moves):
    game = random_position(seed, moves)
    other = sgfmill_boards.Board(SIZE)
    colours = game.board.colours()
    black, white = (
        [(SIZE - 1 - p // SIZE, p % SIZE) for p in np.flatnonzero(colours == c).tolist()] for c in (BLACK, WHITE)
    )
    other.apply_setup(black, white, [])
    points = area(game.stones())
    assert points[0] - points[1] == other.area_score()


def test_dead_stones_are_taken_off_first():
    colours = parse_board("""
    . X . . O .
    X X . . O O
    """)
    assert area(bitboards(colours), {4, 23, 24}) == (POINTS, 0)
    assert [result_text(margin) for margin in (3.5, -12, 0)] == ["B+3.5", "W+12", "0"]


def game_of(board: str, to_move: int = BLACK) -> Game:
    return Game(setup={int(p): int(colour) for p, colour in enumerate(parse_board(board)) if colour}, to_move=to_move)


def test_territory_is_empty_points_prisoners_and_dead_stones():
    """A dead stone counts for itself and for its point, and taking it off costs the points that it takes."""
    game = game_of("""
    b X . O w
    b X O O w
    O X X O w
    X X . O O
    """)
    assert territory(game, {38}, {BLACK: {0, 19}, WHITE: {4, 23, 42}}) == (2 + 2, 3)
    for move, colour in ((2, WHITE), (59, BLACK), (19, BLACK)):  # two neutral points, then the capture
        game.play(move, colour)
    assert game.captured == {BLACK: 0, WHITE: 1}
    assert territory(game, set(), {BLACK: {0, 38}, WHITE: {4, 23, 42}}) == (2 + 1, 3)


def test_prisoners_are_counted_through_a_ko_and_what_is_taken_back():
    game = game_of(
        """
    . X O .
    X . X O
    . X O .
    """,
        WHITE,
    )
    seen = []
    for move in (20, 200, 201, 21):  # White takes, threats elsewhere, Black takes back
        game.play(move)
        seen.append(tuple(game.captured.values()))
    assert seen == [(1, 0), (1, 0), (1, 0), (1, 1)]
    game.undo()
    assert game.captured == {BLACK: 1, WHITE: 0}


@pytest.mark.parametrize(
    "dead, black, white",
    [({1}, set(), set()), (set(), {0}, set()), (set(), {5}, {5}), ({-1}, set(), set()), (set(), {POINTS}, set())],
)
def test_words_that_contradict_the_board_are_no_territory(dead, black, white):
    with pytest.raises(ValueError):
        territory(Game(setup={0: BLACK}), dead, {BLACK: black, WHITE: white})


DRAWN = """
    b X b X . O w O w O
    X X X X . O O O O O
    . . . . . . . . .
    X X X X X . O O .
    X a X a X . O . .
    X X X X X . O O O
    . . . . . . . . .
    """


def test_two_eyes_live_and_one_does_not():
    text = DRAWN.replace("b", ".").replace("w", ".").replace("a", ".")
    owned = pass_alive(bitboards(parse_board(text)))
    colours = parse_board(text)
    black = set(np.flatnonzero(colours == BLACK).tolist()) | marked_points(DRAWN, "b") | marked_points(DRAWN, "a")
    white = {*range(5, 10), *range(24, 29)}
    assert set(np.flatnonzero(owned[BLACK]).tolist()) == black, draw(owned[BLACK].astype(np.uint8))
    # White's corner has two eyes; its open chain further down has none.
    assert set(np.flatnonzero(owned[WHITE]).tolist()) == white, draw(owned[WHITE].astype(np.uint8))


def test_stones_inside_a_living_chains_region_are_dead_and_a_large_region_is_unsettled():
    text = """
    . X O . X . . X . .
    X X . X X . . X . .
    . X X X X X X X . .
    . . . . . . . . . ."""
    game = Game(setup={int(p): int(c) for p, c in enumerate(parse_board(text)) if c})
    dead, unsettled = cleanup(game.stones())
    assert dead == {2} and {0, 3, 21} <= set(range(POINTS)) - unsettled and {5, 6, 24, 25} & unsettled == set()
    assert 200 in unsettled and 8 in unsettled


def slow_owner(board, colour: int) -> set[int]:
    """Benson's rule from its words, by sets: the points that are for certain `colour`'s."""
    chains, regions, seen = [], [], set()
    for p in range(POINTS):
        if p in seen:
            continue
        part, waiting = {p}, [p]
        while waiting:
            for q in slow_board.neighbours(waiting.pop()):
                if q not in part and (board[q] == colour) == (board[p] == colour):
                    part.add(q)
                    waiting.append(q)
        seen |= part
        (chains if board[p] == colour else regions).append(frozenset(part))

    def touches(region, chain):
        return any(q in chain for p in region for q in slow_board.neighbours(p))

    def vital(region, chain):
        return touches(region, chain) and all(
            any(q in chain for q in slow_board.neighbours(p)) for p in region if board[p] == 0
        )

    living, kept = set(chains), set(regions)
    while True:
        left = {chain for chain in living if sum(vital(region, chain) for region in kept) >= 2}
        regions_left = {region for region in kept if all(chain in left for chain in chains if touches(region, chain))}
        if left == living and regions_left == kept:
            break
        living, kept = left, regions_left
    return set().union(*living, *(region for region in kept if any(vital(region, chain) for chain in living)))


@settings(max_examples=12)
@given(st.integers(0, 2**32), st.floats(0.02, 0.3))
def test_unconditional_life_agrees_with_the_slow_rule(seed, emptiness):
    """Full boards of two or three large patches with holes: eyes of all kinds, shared and false ones, stones inside."""
    generator = np.random.default_rng(seed)
    rows, cols = np.divmod(np.arange(POINTS), SIZE)
    cut = generator.normal(size=3)
    patch = cut[0] * (rows - 9) + cut[1] * (cols - 9) + 20 * cut[2] * np.sin(cols / 4) > 0
    colours = np.where(patch, BLACK, WHITE).astype(np.uint8)
    strays = generator.random(POINTS) < 0.03
    colours[strays] = BLACK + WHITE - colours[strays]
    colours[generator.random(POINTS) < emptiness] = 0
    position = Board(bitboards(colours))
    owned, board = pass_alive(position.stones()), position.colours().tolist()
    for colour in (BLACK, WHITE):
        assert set(np.flatnonzero(owned[colour]).tolist()) == slow_owner(board, colour)


def _attack(board: Board, colour: int, points: list[int], depth: int, alive: set[int], seen: set) -> bool:
    """Whether `colour`, moving alone among `points`, can take a stone at `alive`."""
    key = board.stones().tobytes()
    if key in seen:
        return False
    seen.add(key)
    if any(board.colour(p) != 3 - colour for p in alive):
        return True
    if depth == 0:
        return False
    for p in points:
        if board.legal(p, colour):
            after = board.copy()
            after.play(p, colour)
            after.ko = -1
            if _attack(after, colour, points, depth - 1, alive, seen):
                return True
    return False


@settings(max_examples=8)
@given(st.integers(0, 2**32))
def test_no_attacker_that_moves_alone_takes_what_is_unconditionally_alive(seed):
    """Late positions of random games in a small corner: everything the rule calls alive survives any number of enemy
    moves in a row."""
    generator = np.random.default_rng(seed)
    colours = np.zeros(POINTS, np.uint8)
    points = [r * SIZE + c for r in range(3) for c in range(5)]
    for p in points:
        colours[p] = generator.choice([0, BLACK, BLACK, BLACK, WHITE])
    stones = Board(bitboards(colours)).stones()
    owned, board = pass_alive(stones), Board(stones)
    alive = {p for p in points if owned[BLACK][p] and board.colour(p) == BLACK}
    near = [r * SIZE + c for r in range(4) for c in range(6) if board.colour(r * SIZE + c) != BLACK]
    if alive:
        assert not _attack(board, WHITE, near, len(near) + 2, alive, set())
