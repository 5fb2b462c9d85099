"""Shares of points that players of given strengths take, told by another way than the product's."""

import math


def expected_share(elo: float) -> float:
    """Share of points of a player who is `elo` stronger."""
    return 1 / (1 + math.pow(10, -elo / 400))
