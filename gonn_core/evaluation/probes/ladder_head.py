"""What a ladder head (`training.auxiliary.ladders`) says of stones whose capture in a ladder hangs on one far stone
(spec: GoNN 7.1, 7.2).

Asked are the pairs of `ladders.cut_ladders`: two positions that differ in one stone. The stones in question are those
that stand in both and that the solver finds laddered in exactly one of them. Right is a probability above one half
where they are, below where they are not.
"""

from typing import NamedTuple

import numpy as np
import torch

from gonn_core.evaluation.probes.cases import Case, Suite
from gonn_core.evaluation.probes.ladders import CAPTURE, RUN
from gonn_core.evaluation.probes.measure import on_positions
from gonn_core.evaluation.probes.scoring import LadderHead
from gonn_core.features.positions import Position
from gonn_core.go.board import Board
from gonn_core.go.points import EMPTY, point
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.features import FeatureConfig

PUBLISHED = {
    "laddertarget": {point("O3"): 0.998, point("Q17"): 0.973},
    "laddertargetbroken": {point("O3"): 0.005, point("Q17"): 0.019},
}
"""Documents' position -> stone -> probability of the published net that learned nothing but ladders (spec: GoNN 7.1,
7.2)."""


class LadderPair(NamedTuple):
    """Two positions that differ in one stone, and the stones in both that are laddered in the first alone."""

    works: Position
    fails: Position
    stones: list[int]


def ladder_head(net: PolicyNet) -> torch.nn.Module | None:
    """The ladder head of a net; None for a net that was trained without one."""
    return net.auxiliary["ladders"] if net.auxiliary is not None and "ladders" in net.auxiliary else None


def head_answers(net: PolicyNet, features: FeatureConfig, suite: Suite, shown: list[Position]) -> LadderHead:
    """What the ladder head of a net makes of a suite's ladders, and of the positions `shown`; the net is asked in
    inference mode, on the CPU. Raises ValueError for a net without one."""
    training = net.training
    net.eval()
    try:
        pairs = {number: ladder_pair(case) for number, case in enumerate(suite.cases) if case.group in (CAPTURE, RUN)}
        telling = {number: pair for number, pair in pairs.items() if pair is not None}
        positions = [position for pair in telling.values() for position in (pair.works, pair.fails)]
        probabilities = laddered(net, features, positions)
        maps = laddered(net, features, shown)
    finally:
        net.train(training)
    means = np.full((2, len(suite.cases)), np.nan, np.float32)
    for place, (number, pair) in enumerate(telling.items()):
        means[:, number] = probabilities[2 * place : 2 * place + 2, pair.stones].mean(1)
    return LadderHead(means[0], means[1], maps)


def laddered(net: PolicyNet, features: FeatureConfig, positions: list[Position]) -> np.ndarray:
    """(N, 361) float32: the head's probability at each point that a stone there is laddered."""
    head = ladder_head(net)
    if head is None:
        raise ValueError("the net has no ladder head")
    return on_positions(features, positions, lambda planes: torch.sigmoid(head(net.body(planes))))


def ladder_pair(case: Case) -> LadderPair | None:
    """The pair of a case; None where the solver's planes do not tell the two positions apart."""
    assert case.twin is not None
    both = set(_stones(case.position)) & set(_stones(case.twin))
    here, there = (both & set(_laddered_stones(position)) for position in (case.position, case.twin))
    if here - there and not there - here:
        return LadderPair(case.position, case.twin, sorted(here - there))
    if there - here and not here - there:
        return LadderPair(case.twin, case.position, sorted(there - here))
    return None


def _stones(position: Position) -> list[int]:
    return np.flatnonzero(Board(position.stones).colours() != EMPTY).tolist()


def _laddered_stones(position: Position) -> list[int]:
    board = Board(position.stones, position.ko)
    marked = np.unpackbits(board.ladders().astype("<u8").view(np.uint8), bitorder="little")[: len(board.colours())]
    return np.flatnonzero(marked.astype(bool) & (board.colours() != EMPTY)).tolist()
