"""What a ladder head (`training.auxiliary.ladders`) says of stones whose capture in a ladder hangs on one far stone
(spec: GoNN 7.1, 7.2).

Asked are the pairs of `ladders.cut_ladders`: two positions that differ in one stone. The stones in question are those
that stand in both and that the solver finds laddered in exactly one of them. Right is a probability above one half
where they are, below where they are not.
"""

import numpy as np
import torch

from gonn_core.evaluation.probes.cases import Case, Suite
from gonn_core.evaluation.probes.ladders import CAPTURE, RUN
from gonn_core.evaluation.probes.measure import on_positions
from gonn_core.evaluation.probes.scoring import LadderHead
from gonn_core.features.positions import Position
from gonn_core.go.board import Board
from gonn_core.go.points import EMPTY, point

PUBLISHED = {
    "laddertarget": {point("O3"): 0.998, point("Q17"): 0.973},
    "laddertargetbroken": {point("O3"): 0.005, point("Q17"): 0.019},
}
"""Documents' position -> stone -> probability of the published net that learned nothing but ladders (spec: GoNN 7.1,
7.2)."""


def has_ladder_head(net: torch.nn.Module) -> bool:
    """Whether the net was trained with one."""
    return hasattr(net, "auxiliary") and "ladders" in net.auxiliary


def head_answers(net: torch.nn.Module, features, suite: Suite, shown: list[Position]) -> LadderHead:
    """What the ladder head of a net makes of a suite's ladders, and of the positions `shown`; the net is asked in
    inference mode, on the CPU."""
    training = net.training
    net.eval()
    try:
        asked = {number: asked_of(case) for number, case in enumerate(suite.cases) if case.group in (CAPTURE, RUN)}
        asked = {number: each for number, each in asked.items() if each is not None}
        probabilities = laddered(
            net, features, [position for works, fails, _ in asked.values() for position in (works, fails)]
        )
        maps = laddered(net, features, shown)
    finally:
        net.train(training)
    found = np.full((2, len(suite.cases)), np.nan, np.float32)
    for pair, (number, (_, _, stones)) in enumerate(asked.items()):
        found[:, number] = probabilities[2 * pair : 2 * pair + 2, stones].mean(1)
    return LadderHead(found[0], found[1], maps)


def laddered(net: torch.nn.Module, features, positions: list[Position]) -> np.ndarray:
    """(N, 361) float32: the head's probability at each point that a stone there is laddered."""
    return on_positions(features, positions, lambda planes: torch.sigmoid(net.auxiliary["ladders"](net.body(planes))))


def asked_of(case: Case) -> tuple[Position, Position, list[int]] | None:
    """(where it works, where it fails, stones in question) of a pair; None where the solver's planes do not tell the
    two apart."""
    both = set(_stones(case.position)) & set(_stones(case.twin))
    here, there = (both & set(_laddered_stones(position)) for position in (case.position, case.twin))
    if here - there and not there - here:
        return case.position, case.twin, sorted(here - there)
    if there - here and not here - there:
        return case.twin, case.position, sorted(there - here)
    return None


def _stones(position: Position) -> list[int]:
    return np.flatnonzero(Board(position.stones).colours() != EMPTY).tolist()


def _laddered_stones(position: Position) -> list[int]:
    board = Board(position.stones, position.ko)
    marked = np.unpackbits(board.ladders().astype("<u8").view(np.uint8), bitorder="little")[: len(board.colours())]
    return np.flatnonzero(marked.astype(bool) & (board.colours() != EMPTY)).tolist()
