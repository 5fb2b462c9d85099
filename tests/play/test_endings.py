"""Games that would not end by themselves: a triple ko, and players that never pass."""

import numpy as np
import torch

from gonn_core.config import FeatureConfig
from gonn_core.go.points import BLACK, POINTS, SIZE, WHITE
from gonn_core.play.choice import Choice
from gonn_core.play.game import Game
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import MOST_MOVES, Openings, Rules

KO_ROWS = (4, 9, 14)
BORDER = 9


class Fond(torch.nn.Module):
    """A net that loves some points, the first most, and is indifferent to all others."""

    def __init__(self, points):
        super().__init__()
        self.logits = torch.zeros(POINTS)
        for rank, point in enumerate(points):
            self.logits[point] = 50 - rank

    def forward(self, planes):
        return self.logits.expand(len(planes), POINTS)


def fond(*points: int, **choice) -> NetPlayer:
    return NetPlayer(Fond(points), FeatureConfig(ladders=False, history=0), Choice(kind="argmax", **choice), chunk=2)


def triple_ko(superko: bool) -> Game:
    """Everything is settled, Black's on the left, White's on the right, but for three kos on the border; White holds
    the second."""
    colours = np.tile(np.array([BLACK] * BORDER + [WHITE] * (SIZE - BORDER), np.uint8), SIZE).reshape(SIZE, SIZE)
    for col in (1, 3, 15, 17):
        colours[1, col] = 0
    for row, holder in zip(KO_ROWS, (BLACK, WHITE, BLACK), strict=True):
        colours[row, BORDER - 1 : BORDER + 1] = (0, BLACK) if holder == BLACK else (WHITE, 0)
    return Game(setup={int(p): int(c) for p, c in enumerate(colours.ravel()) if c}, to_move=WHITE, superko=superko)


def ko_takers() -> dict[int, NetPlayer]:
    """Players that take a ko wherever they may: White by a move left of the border, Black by one right of it."""
    return {
        BLACK: fond(*(row * SIZE + BORDER for row in KO_ROWS), passing="no_candidates"),
        WHITE: fond(*(row * SIZE + BORDER - 1 for row in KO_ROWS), passing="no_candidates"),
    }


def play_out(game: Game, most: int) -> None:
    players = ko_takers()
    while not game.over and len(game) < most:
        game.play(players[game.to_move].moves([game], np.array([0.5]))[0])


def test_a_triple_ko_goes_round_until_superko_refuses_and_the_game_ends():
    endless = triple_ko(superko=False)
    play_out(endless, 120)
    boards = {endless.table.stones[0, row].tobytes() for row in range(120)}
    assert len(boards) == 6 and not endless.over  # six positions, over and over
    game = triple_ko(superko=True)
    for number in range(5):
        play_out(game, number + 1)
    refused = next(row * SIZE + BORDER for row in KO_ROWS if game.why_illegal(row * SIZE + BORDER, BLACK) == "superko")
    assert not game.candidates()[refused]
    play_out(game, MOST_MOVES)
    assert game.over and len(game) < 100


def test_players_that_never_come_to_an_end_stop_after_722_moves():
    """Two players that fill all but simple eyes and capture each other's stones again and again."""
    players = {
        "A": Seat(fond(*range(POINTS), passing="no_candidates")),
        "B": Seat(fond(*range(POINTS - 1, -1, -1), passing="no_candidates")),
    }
    ((line, _),) = play_games(players, [0], MatchTerms(Rules(), Openings(), 0, {"A": "A", "B": "B"}), places=1)
    assert (line.end, line.moves, line.unsettled) == ("length", 722, ()) and line.winner in ("A", "B")
