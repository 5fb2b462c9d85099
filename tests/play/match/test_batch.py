"""Batched games: each a pure function of the match and its number; their ends, results and SGF files; killed and gone
on with."""

import os
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch
from sgfmill import sgf

from gonn_core.config import FeatureConfig
from gonn_core.go.points import BLACK, PASS, POINTS, WHITE
from gonn_core.play.choice import Choice
from gonn_core.play.game import Game
from gonn_core.play.match import games as match_games
from gonn_core.play.match.games import MatchTerms, Seat
from gonn_core.play.match.players import NetEntrant, load_player, parse_player
from gonn_core.play.match.playing import play_match
from gonn_core.play.match.record import MatchRecord, describe_match, open_match
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import Openings, Rules, game_draws
from gonn_core.play.scoring import area, cleanup
from gonn_core.training.environment import keep_memory
from tests.play.made_trials import untrained_trial


class Fixed(torch.nn.Module):
    """The same logits everywhere, falling from point to point; with `fast` it costs nothing."""

    def forward(self, planes):
        return -torch.arange(POINTS, dtype=torch.float32).expand(len(planes), -1) / 50


PLAIN = FeatureConfig(ladders=False)
NAMES = {"A": "one net", "B": "another]"}
MOVES = 40
"""Of the games of the match that is killed."""


def terms(seed: int = 1, openings: str = "empty", **rules) -> MatchTerms:
    return MatchTerms(Rules(**rules), Openings(kind=openings), seed, NAMES)


def fixed(**choice) -> NetPlayer:
    return NetPlayer(Fixed(), PLAIN, Choice(**choice), chunk=4)


def convolutional(seed: int) -> NetPlayer:
    """A net with a convolution and weights of its own, in chunks as matches have them."""
    torch.manual_seed(seed)
    return NetPlayer(
        torch.nn.Sequential(torch.nn.Conv2d(26, 1, 5, padding=2), torch.nn.Flatten()), FeatureConfig(), Choice()
    )


def play_games(players, *arguments, **options):
    seats = {side: Seat(player) for side, player in players.items()}
    return match_games.play_games(seats, *arguments, **options)


def by_number(games):
    return {line.game: (line, text) for line, text in games}


def test_a_game_is_the_same_whatever_is_played_beside_it():
    players, setting = {"A": convolutional(1), "B": convolutional(2)}, terms(openings="stones", most_moves=40)
    together = by_number(play_games(players, range(12), setting, places=12))
    assert sorted(together) == list(range(12)) and len({text for _, text in together.values()}) == 12
    for numbers, places in (([5], 1), ([3, 11, 0], 2)):
        for number, game in by_number(play_games(players, numbers, setting, places)).items():
            assert game == together[number]
    assert by_number(play_games(players, [5], terms(seed=2, openings="stones", most_moves=40)))[5] != together[5]


def moves_of(text: bytes) -> list[tuple[int, int]]:
    found = []
    for node in sgf.Sgf_game.from_bytes(text).get_main_sequence():
        colour, move = node.get_move()
        if colour is not None:
            found.append(({"b": BLACK, "w": WHITE}[colour], PASS if move is None else (18 - move[0]) * 19 + move[1]))
    return found


def test_games_end_by_passes_with_the_score_of_what_stands():
    players, setting = {"A": fixed(), "B": fixed(kind="sampled")}, terms()
    for line, text in play_games(players, range(4), setting, places=4):
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
        moves = []
        played = play_games(players, range(3), terms(most_moves=most), places=2, on_moves=moves.append)
        lines = [line for line, _ in played]
        assert sum(moves) == 3 * most
        assert [(line.end, line.moves, line.unsettled) for line in lines] == [("length", most, ())] * 3


def test_draws_are_pure_functions_of_seed_game_and_move():
    assert np.array_equal(game_draws(1, 2, 722)[:10], game_draws(1, 2, 10))
    streams = [game_draws(seed, game, 5).tolist() for seed in (0, 1) for game in (0, 1)]
    assert len({tuple(stream) for stream in streams}) == 4


def test_a_guard_needs_an_engine():
    with pytest.raises(ValueError, match="engine"):
        Seat(fixed(passing="guard"))


@pytest.fixture(scope="module")
def trials(tmp_path_factory):
    runs = tmp_path_factory.mktemp("runs")
    return {"A": untrained_trial(runs), "B": untrained_trial(runs, training__init_seed=7)}


def made_match(trials, root, most_moves: int):
    rules = Rules(most_moves=most_moves)
    entrants = {side: NetEntrant(parse_player(str(folder)), 1.0, rules) for side, folder in trials.items()}
    identities = [entrant.identity for entrant in entrants.values()]
    return entrants, open_match(root, describe_match(*identities, rules, Openings().model_dump(), 3))


DRIVER = """
import sys
from gonn_core.play.match import playing
from tests.play.match.test_batch import MOVES, NAMES, made_match
if __name__ == "__main__":
    playing.FLUSH_SECONDS = 0.1
    entrants, record = made_match({"A": sys.argv[1], "B": sys.argv[2]}, sys.argv[3], MOVES)
    for line in playing.play_match(record, entrants, NAMES, 100_000, 1, lambda: False):
        print(line.game, flush=True)
"""


@pytest.mark.system
def test_killed_and_gone_on_with_it_is_the_same_match(trials, tmp_path):
    (tmp_path / "driver.py").write_text(DRIVER)
    command = [
        sys.executable,
        str(tmp_path / "driver.py"),
        str(trials["A"]),
        str(trials["B"]),
        str(tmp_path / "killed"),
    ]
    driver = subprocess.Popen(
        command, stdout=subprocess.PIPE, cwd=os.getcwd(), env={**os.environ, "PYTHONPATH": os.getcwd()}
    )
    driver.stdout.readline()
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    entrants, record = made_match(trials, tmp_path / "killed", MOVES)
    finished = set(record.games())
    assert finished
    games = max(finished) + 25
    with open(record.folder / "games.jsonl", "ab") as file:
        file.write(b'{"game":')
    entrants, record = made_match(trials, tmp_path / "killed", MOVES)
    again = {line.game for line in play_match(record, entrants, NAMES, games, 2, lambda: False)}
    assert again == set(range(games)) - finished
    players = {side: load_player(entrant.plain_net)[0] for side, entrant in entrants.items()}
    for line, text in play_games(
        players, [min(finished), max(finished), min(again)], MatchTerms.of(record.match, NAMES)
    ):
        assert (
            MatchRecord(record.folder).games()[line.game] == line
            and (record.folder / "sgf" / f"{line.game}.sgf").read_bytes() == text
        )
    assert not list(play_match(record, entrants, NAMES, games, 2, lambda: False))


def test_memory_is_kept_where_malloc_can():
    """Run twice: the second call finds it so already. On glibc a large array that is freed is not given back to the
    system."""
    assert keep_memory() == keep_memory()
    if keep_memory():
        sizes = []
        for _ in range(20):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            torch.ones(4 << 20, dtype=torch.uint8)
            sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
        assert min(sizes) < 100  # of 1,024 pages
