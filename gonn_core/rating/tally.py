"""Results of many matches as the tables that ratings are made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gonn_core.play.match.record import player_id
from gonn_core.rating.matches import SIDES, Match, game_points


@dataclass(frozen=True)
class Tally:
    """Players by the order in which matches name them, and (n, n) tables by Black's and White's number: points of
    Black, games.

    A match of a player against itself (the same identity on both sides) tells nothing of ratings and is left out.
    """

    ids: tuple[str, ...]
    identities: Mapping[str, dict]
    points: np.ndarray
    games: np.ndarray

    def number(self, player: str) -> int:
        """Number of the player of that id."""
        return self.ids.index(player)

    @property
    def met(self) -> np.ndarray:
        """(n, n) games of two players, whoever was Black."""
        return self.games + self.games.T

    @property
    def taken(self) -> np.ndarray:
        """(n, n) points of the row's player against the column's, with either colour."""
        return self.points + (self.games - self.points).T


def tally(matches: Sequence[Match], first: Sequence[dict] = ()) -> Tally:
    """Points and games of all players of these matches. first: identities of players who come before the others, with
    or without games."""
    identities = {player_id(each): each for each in first}
    identities |= {player_id(match.players[side]): match.players[side] for match in matches for side in SIDES}
    ids = tuple(identities)
    points, games = np.zeros((len(ids), len(ids))), np.zeros((len(ids), len(ids)))
    for match in matches:
        number = {side: ids.index(player_id(match.players[side])) for side in SIDES}
        if number["A"] == number["B"]:
            continue
        for game in match.games:
            white = "B" if game.black == "A" else "A"
            points[number[game.black], number[white]] += game_points(game, game.black)
            games[number[game.black], number[white]] += 1
    return Tally(ids, identities, points, games)
