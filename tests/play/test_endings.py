"""A game that would not end by itself."""

import torch

from gonn_core.config import FeatureConfig
from gonn_core.go.points import POINTS
from gonn_core.play.match.games import MatchTerms, Seat, play_games
from gonn_core.play.net_player import MoveChoice, NetPlayer
from gonn_core.play.rules import Openings, Rules


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
    return NetPlayer(
        Fond(points), FeatureConfig(ladders=False, history=0), MoveChoice(kind="argmax", **choice), chunk=2
    )


def test_players_that_never_come_to_an_end_stop_after_722_moves():
    """Two players that fill all but simple eyes and capture each other's stones again and again."""
    players = {
        "A": Seat(fond(*range(POINTS), passing="no_candidates")),
        "B": Seat(fond(*range(POINTS - 1, -1, -1), passing="no_candidates")),
    }
    ((line, _),) = play_games(players, [0], MatchTerms(Rules(), Openings(), 0, {"A": "A", "B": "B"}), places=1)
    assert (line.end, line.moves, line.unsettled) == ("length", 722, ()) and line.winner in ("A", "B")
