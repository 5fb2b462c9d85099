"""Rows of games in play equal those that the position store's replay writes of the same moves, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.features.sets import computed_planes
from gonn_core.features.source import STRONGEST, PlaneSource
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from gonn_core.go.replay import make_workspace, replay_game
from gonn_core.play.game import Game, copy_game, make_table, plane_rows, present_rows
from gonn_core.play.kernels import add_ladders
from tests.features import configs
from tests.features.helpers import make_set

SETS = [
    configs.GONN,
    configs.GO_NN,
    configs.CLARK,
    configs.CAZENAVE,
    configs.GONN.model_copy(update={"past_boards": 3}),
]


def played(seed: int, moves: int, setup=None) -> Game:
    """A random game with passes in it, its ladders looked for after every move."""
    generator, work = np.random.default_rng(seed), make_workspace()
    game = Game(setup=setup, to_move=WHITE if setup else BLACK, superko=False)
    for _ in range(moves):
        add_ladders(game.table, np.zeros(1, np.int64), work)
        near = [p for p in np.flatnonzero(game.legal_points()).tolist() if p % 19 < 7 and p // 19 < 7]
        game.play(int(generator.choice(near)) if near and generator.random() < 0.95 else PASS)
    add_ladders(game.table, np.zeros(1, np.int64), work)
    return game


def replayed(game: Game) -> PlaneSource:
    """The same game as the store would hold it."""
    moves = game.moves
    rows = len(moves) + 1
    stones, ladders, out = (
        np.zeros((rows, 12), np.uint64),
        np.zeros((rows, 6), np.uint64),
        np.zeros((rows, 4), np.int16),
    )
    setup = np.array([colour * POINTS + point for point, colour in game.setup.items()], np.int16)
    points, colours = (
        np.array([point for _, point in moves], np.int16),
        np.array([colour for colour, _ in moves], np.uint8),
    )
    written, _ = replay_game(setup, points, colours, stones, ladders, out, True, make_workspace())
    assert written == rows
    return PlaneSource(
        stones,
        ladders,
        out,
        np.zeros(rows, np.int32),
        np.zeros(1, np.int64),
        np.array([len(setup)], np.int32),
        setup,
        STRONGEST,
    )


@settings(max_examples=6)
@given(st.integers(0, 2**32), st.integers(2, 120), st.sampled_from([None, {60: BLACK, 61: WHITE, 80: BLACK}]))
def test_rows_are_the_stores(seed, moves, setup):
    game = played(seed, moves, setup)
    expected, table = replayed(game), game.table
    rows = len(game) + 1
    assert np.array_equal(table.stones[0, :rows], expected.stones)
    assert np.array_equal(table.ladders[0, :rows], expected.ladders)
    assert np.array_equal(table.moves[0, :rows], expected.moves)


@pytest.mark.parametrize("features", SETS, ids=lambda features: f"{features.set}-{features.past_boards}")
def test_planes_of_games_side_by_side_are_those_of_recorded_ones(features):
    games = [played(1, 30), played(2, 3, {60: BLACK, 61: WHITE}), played(3, 0), played(4, 55, {5: WHITE})]
    table = make_table(len(games), 60)
    for place, game in enumerate(games):
        copy_game(game.table, 0, table, place)
    which = np.arange(len(games))
    for keep in (0, 1, 5):
        planes, _ = make_set(features, plane_rows(table), present_rows(table, which), symmetry=3, keep=keep)
        assert planes.shape[1] == len(computed_planes(features))
        for game, seen in zip(games, planes, strict=True):
            expected, _ = make_set(features, _frozen(replayed(game)), [len(game)], symmetry=3, keep=keep)
            assert np.array_equal(seen, expected[0])


def _frozen(source: PlaneSource) -> PlaneSource:
    for array in source:
        array.flags.writeable = False
    return source


def test_a_second_move_in_a_row_by_one_player_ends_the_history_that_is_shown():
    """As GoNN's planes have it (spec: GoNN 1.3): a chain of earlier moves in which the players alternate."""
    game = Game()
    for move, colour in ((10, BLACK), (20, WHITE), (30, WHITE), (40, BLACK)):
        game.play(move, colour)
    planes, _ = make_set(configs.GONN, plane_rows(game.table), [4])
    assert [np.flatnonzero(plane).tolist() for plane in planes[0, 18:23]] == [[40], [30], [], [], []]
    game.to_move = BLACK
    planes, _ = make_set(configs.GONN, plane_rows(game.table), [4])
    assert [np.flatnonzero(plane).tolist() for plane in planes[0, 18:23]] == [[], [], [], [], []]
