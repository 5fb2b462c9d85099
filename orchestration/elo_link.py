"""Tying a ladder to GNU Go: the level of it whose results with the strongest rung are away from 0 and 100 %."""

from collections.abc import Callable
from dataclasses import dataclass

from gonn_core.rating.matches import Match

LEVELS = (1, 4, 7, 10)
"""Tried from the weakest on; 10 is GNU Go's own and the published opponent's."""
TRIED_GAMES = 10


@dataclass(frozen=True)
class Trial:
    """Games with one level: points of the rung."""

    level: int
    points: float
    games: int
    match: Match

    @property
    def open(self) -> bool:
        """Whether the results are away from 0 and 100 %."""
        return 0 < self.points < self.games

    @property
    def share(self) -> float:
        return self.points / self.games


def try_levels(play: Callable[[int, int], Match]) -> list[Trial]:
    """A few games with each level, up to the first that the rung does not win half of. play: (level, games in all) -> the match, the rung as A.

    A level of which no game came to a result ends it too.
    """
    tried = []
    for level in LEVELS:
        match = play(level, TRIED_GAMES)
        if not match.games:
            break
        tried.append(Trial(level, match.points("A"), len(match.games), match))
        if tried[-1].share < 0.5:
            break
    return tried


def best_level(tried: list[Trial]) -> Trial | None:
    """The level whose results are nearest to even; None when all are 0 or 100 %."""
    open_ = [trial for trial in tried if trial.open]
    return min(open_, key=lambda trial: (abs(trial.share - 0.5), trial.level)) if open_ else None


def no_link(name: str, tried: list[Trial]) -> str:
    """The sentence of a ladder that no level links."""
    results = ", ".join(f"{trial.points:g} of {trial.games} at level {trial.level}" for trial in tried)
    return f"No link to GNU Go: {name} took {results}; nothing between 0 and 100 %." if results else f"No link to GNU Go: no game of {name} with it came to a result."


def link_sentence(name: str, engine: str, match: Match) -> str:
    """The sentence of a ladder that is linked."""
    return f"Linked to {engine} by {len(match.games)} games of {name}, which took {match.points('A'):g} points."
