"""Elo and shares of points: 400 Elo are odds of ten to one."""

import math

ELO_OF_UNIT = 400 / math.log(10)
"""Elo of one unit of log odds."""

NORMAL_95 = 1.959963984540054
"""Half-width, in standard deviations, of the central 95 % of a normal distribution."""


def normal_share(deviations: float) -> float:
    """Probability that a standard normal variable is below `deviations`; right in the far tail too, where
    statistics.NormalDist loses its digits."""
    return 0.5 * math.erfc(-deviations / math.sqrt(2))
