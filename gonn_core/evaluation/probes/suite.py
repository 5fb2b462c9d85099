"""The suites: what is the same everywhere, and with ladders cut from the games of a store."""

from functools import cache

import numpy as np

from .cases import Suite
from .eyes import long_chain_eyes
from .kos import ko_threats
from .ladders import cut_ladders
from .published import published
from .races import races


MOST_LADDERS = 4000
"""Of more, so many are taken, evenly spaced."""


@cache
def drawn_suite() -> Suite:
    """The documents' positions and the drawn families."""
    return Suite((*(each.case for each in published()), *long_chain_eyes(), *races(), *ko_threats()))


def suite_with_ladders(store, games: np.ndarray) -> Suite:
    """The drawn suite and the ladders of these games (numbers, ascending) of a store."""
    return Suite((*drawn_suite().cases, *cut_ladders(store, games, MOST_LADDERS)))
