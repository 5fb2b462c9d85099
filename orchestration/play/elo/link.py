"""Tying a ladder to GNU Go: the level of it whose results with the strongest rung are away from 0 and 100 %."""

from collections.abc import Callable
from dataclasses import dataclass

from gonn_core.rating.matches import Match, game_points

LEVELS = (1, 4, 7, 10)
"""Tried from the weakest on; 10 is GNU Go's own and the published opponent's."""
TRIED_GAMES = 10


@dataclass(frozen=True)
class TriedLevel:
    """The first games with one level: points of the rung."""

    level: int
    points: float
    games: int

    @property
    def open(self) -> bool:
        """Whether the results are away from 0 and 100 %."""
        return 0 < self.points < self.games

    @property
    def share(self) -> float:
        return self.points / self.games


def try_levels(play: Callable[[int, int], Match]) -> list[TriedLevel]:
    """A few games with each level, up to the first that the rung does not win half of. play: (level, games in all) ->
    the match, the rung as A.

    A level of which no game came to a result ends it too.
    """
    tried = []
    for level in LEVELS:
        # the first games alone: where more were played by now, the choice of a level stays as it was
        first = [game for game in play(level, TRIED_GAMES).games if game.game < TRIED_GAMES]
        if not first:
            break
        tried.append(TriedLevel(level, sum(game_points(game, "A") for game in first), len(first)))
        if tried[-1].share < 0.5:
            break
    return tried


def best_level(tried: list[TriedLevel]) -> TriedLevel | None:
    """The level whose results are nearest to even; None when all are 0 or 100 %."""
    open_levels = [level for level in tried if level.open]
    return min(open_levels, key=lambda level: (abs(level.share - 0.5), level.level), default=None)


def no_link(name: str, tried: list[TriedLevel]) -> str:
    """The sentence of a ladder that no level links."""
    if not tried:
        return f"No link to GNU Go: no game of {name} with it came to a result."
    results = ", ".join(f"{level.points:g} of {level.games} at level {level.level}" for level in tried)
    return f"No link to GNU Go: {name} took {results}; nothing between 0 and 100 %."


def link_sentence(name: str, engine: str, match: Match) -> str:
    """The sentence of a ladder that is linked."""
    return f"Linked to {engine} by {len(match.games)} games of {name}, which took {match.points('A'):g} points."
