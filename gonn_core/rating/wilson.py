"""Wilson's interval of a share."""

import math

from gonn_core.rating.elo import NORMAL_95


def wilson(points: float, games: float, deviations: float = NORMAL_95) -> tuple[float, float]:
    """Ends of the interval of the share points / games, at 95 % unless said. Raises ValueError without games."""
    if games <= 0 or not 0 <= points <= games:
        raise ValueError(f"{points} points of {games} games")
    share, squared = points / games, deviations**2
    middle = (share + squared / (2 * games)) / (1 + squared / games)
    half = deviations / (1 + squared / games) * math.sqrt(share * (1 - share) / games + squared / (4 * games**2))
    return max(0.0, middle - half), min(1.0, middle + half)
