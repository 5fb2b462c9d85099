"""Batched games: each a pure function of the match and its number; their ends, results and SGF files; killed and gone
on with."""

import numpy as np
import torch
from sgfmill import sgf

from gonn_core.config import FeatureConfig
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from gonn_core.play.game import Game
from gonn_core.play.match import games as match_games
from gonn_core.play.match.games import MatchTerms, Seat
from gonn_core.play.net_player import MoveChoice, NetPlayer
from gonn_core.play.rules import Openings, Rules, game_draws
from gonn_core.play.scoring import area, cleanup


class Fixed(torch.nn.Module):
    """The same logits everywhere, falling from point to point; with `fast` it costs nothing."""

    def forward(self, planes):
        return -torch.arange(POINTS, dtype=torch.float32).expand(len(planes), -1) / 50


PLAIN = FeatureConfig(ladders=False)
NAMES = {"A": "one net", "B": "another]"}


def terms(seed: int = 1, openings: str = "empty", **rules) -> MatchTerms:
    return MatchTerms(Rules(**rules), Openings(kind=openings), seed, NAMES)


def fixed(**choice) -> NetPlayer:
    return NetPlayer(Fixed(), PLAIN, MoveChoice(**choice), chunk=4)


def convolutional(seed: int) -> NetPlayer:
    """A net with a convolution and weights of its own, in chunks as matches have them."""
    torch.manual_seed(seed)
    return NetPlayer(
        torch.nn.Sequential(torch.nn.Conv2d(26, 1, 5, padding=2), torch.nn.Flatten()), FeatureConfig(), MoveChoice()
    )


def play_games(players, *arguments, **options):
    seats = {side: Seat(player) for side, player in players.items()}
    return match_games.play_games(seats, *arguments, **options)


def by_number(games):
    return {line.game: (line, text) for line, text in games}


def test_a_game_is_the_same_whatever_is_played_beside_it():
    players, setting = {"A": convolutional(1), "B": convolutional(2)}, terms(openings="stones", most_moves=20)
    together = by_number(play_games(players, range(8), setting, places=8))
    assert sorted(together) == list(range(8)) and len({text for _, text in together.values()}) == 8
    for numbers, places in (([5], 1), ([3, 7, 0], 2)):
        for number, game in by_number(play_games(players, numbers, setting, places)).items():
            assert game == together[number]
    assert by_number(play_games(players, [5], terms(seed=2, openings="stones", most_moves=20)))[5] != together[5]


def moves_of(text: bytes) -> list[tuple[int, int]]:
    found = []
    for node in sgf.Sgf_game.from_bytes(text).get_main_sequence():
        colour, move = node.get_move()
        if colour is not None:
            found.append(({"b": BLACK, "w": WHITE}[colour], PASS if move is None else (18 - move[0]) * 19 + move[1]))
    return found


def test_games_end_by_passes_with_the_score_of_what_stands():
    players, setting = {"A": fixed(), "B": fixed(kind="sampled")}, terms()
    for line, text in play_games(players, range(2), setting, places=2):
        moves, game = moves_of(text), Game()
        for number, (colour, move) in enumerate(moves):
            assert colour == (BLACK, WHITE)[number % 2]
            game.play(move)
        assert line.end == "passes" and line.moves == len(moves) and game.over and not line.unsettled
        dead, unsettled = cleanup(game.stones())
        black, white = area(game.stones(), dead)
        margin = black - white - 7.5
        assert not unsettled and line.result == f"{'B' if margin > 0 else 'W'}+{abs(margin):g}"
        assert line.black == "AB"[line.game % 2] and line.winner == (line.black if margin > 0 else "BA"[line.game % 2])
        root = sgf.Sgf_game.from_bytes(text).get_root()
        assert (
            root.get("PB") == NAMES[line.black]
            and root.get("RE") == line.result
            and root.get("KM") == 7.5
            and root.get("RU") == "Chinese"
        )


def test_the_moves_are_those_that_the_players_choose_one_by_one():
    players, setting = {"A": fixed(), "B": fixed(kind="sampled")}, terms(seed=9, most_moves=60)
    (_, text) = by_number(play_games(players, range(3), setting))[1]
    game, draws = Game(), game_draws(9, 1, 60)
    for colour, move in moves_of(text):
        assert players["B" if colour == BLACK else "A"].moves([game], draws[len(game)][None]) == [move]
        game.play(move)


def test_a_game_without_an_end_is_scored_as_it_stands():
    players = {"A": fixed(), "B": fixed()}
    for most in (1, 7, 50):
        lines = [line for line, _ in play_games(players, range(3), terms(most_moves=most), places=2)]
        assert [(line.end, line.moves, line.unsettled) for line in lines] == [("length", most, ())] * 3


def test_draws_are_pure_functions_of_seed_game_and_move():
    assert np.array_equal(game_draws(1, 2, 722)[:10], game_draws(1, 2, 10))
    streams = [game_draws(seed, game, 5).tolist() for seed in (0, 1) for game in (0, 1)]
    assert len({tuple(stream) for stream in streams}) == 4
