"""The suites: what is the same everywhere, and with ladders cut from the games of a store."""

from functools import cache

import numpy as np

from gonn_core.evaluation.probes.cases import Suite
from gonn_core.evaluation.probes.eyes import long_chain_eyes
from gonn_core.evaluation.probes.kos import ko_threats
from gonn_core.evaluation.probes.ladders import cut_ladders
from gonn_core.evaluation.probes.published import published
from gonn_core.evaluation.probes.races import races

MOST_LADDERS = 4000
"""Of more, so many are taken, evenly spaced."""


@cache
def drawn_suite() -> Suite:
    """The documents' positions and the drawn families."""
    return Suite((*(each.case for each in published()), *long_chain_eyes(), *races(), *ko_threats()))


def suite_with_ladders(store, games: np.ndarray) -> Suite:
    """The drawn suite and the ladders of these games (numbers, ascending) of a store."""
    return Suite((*drawn_suite().cases, *cut_ladders(store, games, MOST_LADDERS)))
