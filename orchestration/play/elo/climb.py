"""How many games each pair of neighbours of a ladder still needs."""

import math
from collections.abc import Callable

from reports.play.ladder import Ladder, Rung

FIRST_GAMES = 100
"""Of a pair that has not met: enough to tell about how many it needs."""
LEAST_MORE = 20
_GROWTH = 4
"""A pair at most grows so much at a time: with few games their interval is a rough guess."""
_SPARE = 1.05


def games_wanted(ladder: Ladder) -> list[tuple[int, int]]:
    """(number of the lower rung, games in all that it should have with the next), of the pairs that have not enough.

    Enough: half of the 95 % interval of their difference is within the ladder's setting, or they played the most games
    there may be.
    """
    settings, wanted = ladder.file.settings, []
    for lower, (games, half) in enumerate(ladder.neighbours()):
        if games >= settings.most or (games > 0 and half is not None and half <= settings.within):
            continue
        if games == 0 or half is None:
            total = FIRST_GAMES
        else:
            needed = math.ceil(_SPARE * games * (half / settings.within) ** 2)
            total = int(min(max(needed, games + LEAST_MORE), _GROWTH * games))
        wanted.append((lower, min(total, settings.most)))
    return wanted


def climb(current: Callable[[], Ladder], play: Callable[[Rung, Rung, int], None]) -> Ladder:
    """Let neighbours play until all have games enough; the ladder then. current: the ladder with the games so far;
    play: makes the match of the stronger and the weaker have so many games."""
    while True:
        ladder = current()
        wanted = games_wanted(ladder)
        if not wanted:
            return ladder
        for lower, total in wanted:
            play(ladder.file.rungs[lower + 1], ladder.file.rungs[lower], total)
