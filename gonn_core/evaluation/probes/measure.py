"""A net on a suite of probes: the probabilities of right and wrong moves, and what a ladder head says.

A ladder head (`training.auxiliary.ladders`; spec: GoNN 7.1, 7.2) is asked about the pairs of `ladders.cut_ladders`: two
positions that differ in one stone. The stones in question are those that both positions have and that the solver finds
laddered in exactly one of them. Right is a probability above one half where they are, below where they are not.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch

from gonn_core.evaluation.probes.cases import Case, Suite
from gonn_core.evaluation.probes.ladders import CAPTURE, RUN
from gonn_core.evaluation.probes.stored import CaseAnswers, LadderHead
from gonn_core.features.gonn import HISTORY
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import Position, plane_source, position_rows
from gonn_core.go.board import Board
from gonn_core.go.points import EMPTY, POINTS, SIZE
from gonn_core.nets.policy_net import PolicyNet
from gonn_core.settings.features import FeatureConfig

_BATCH = 256


@torch.no_grad()
def on_positions(
    features: FeatureConfig, positions: Sequence[Position], evaluate: Callable[[torch.Tensor], torch.Tensor]
) -> np.ndarray:
    """(N, 361) float32: what `evaluate` makes of the planes (n, C, 19, 19) of positions, on the CPU, all of each
    position's history shown."""
    rows = position_rows(positions)
    source, computed = plane_source(rows), len(computed_planes(features))
    selected = torch.from_numpy(plane_indices(features))
    out = np.empty((len(positions), POINTS), np.float32)
    for first in range(0, len(positions), _BATCH):
        batch = rows.rows[first : first + _BATCH]
        planes, targets = np.empty((len(batch), computed, SIZE, SIZE), np.float32), np.empty(len(batch), np.int64)
        make_planes(
            features,
            source,
            batch,
            np.zeros(len(batch), np.uint8),
            np.full(len(batch), HISTORY, np.uint8),
            planes,
            targets,
        )
        out[first : first + len(batch)] = evaluate(torch.from_numpy(planes)[:, selected]).float().numpy()
    return out


def policies(net: torch.nn.Module, features: FeatureConfig, positions: Sequence[Position]) -> np.ndarray:
    """(N, 361) float32 move probabilities of a net in inference mode on the CPU."""
    return on_positions(features, positions, lambda planes: torch.softmax(net(planes).float(), 1))


def answers(net: torch.nn.Module, features: FeatureConfig, suite: Suite) -> CaseAnswers:
    """What a net in inference mode makes of every case. `right` is 0 where no move is named right."""
    with _evaluating(net):
        in_cases = policies(net, features, [case.position for case in suite.cases])
        in_twins = iter(policies(net, features, [case.twin for case in suite.cases if case.twin is not None]))
    pairs = [
        _best(case, policy, next(in_twins) if case.twin is not None else None)
        for case, policy in zip(suite.cases, in_cases, strict=True)
    ]
    return CaseAnswers(*np.array(pairs, np.float32).reshape(-1, 3).T)


def _best(case: Case, policy: np.ndarray, twin: np.ndarray | None) -> tuple[float, float, float]:
    right = list(case.right)
    best = policy[right].max(initial=0.0)
    if twin is not None:
        against = twin[right]
    else:
        against = policy[list(case.wrong)] if case.wrong else np.delete(policy, right)
    total = policy[right].sum() + against.sum()
    return best, against.max(initial=0.0), policy[right].sum() / total if total > 0 else case.chance


@contextmanager
def _evaluating(net: torch.nn.Module) -> Iterator[None]:
    """Evaluation mode, put back afterwards."""
    training = net.training
    net.eval()
    try:
        yield
    finally:
        net.train(training)


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
    with _evaluating(net):
        pairs = {number: ladder_pair(case) for number, case in enumerate(suite.cases) if case.group in (CAPTURE, RUN)}
        decided = {number: pair for number, pair in pairs.items() if pair is not None}
        positions = [position for pair in decided.values() for position in (pair.works, pair.fails)]
        probabilities = laddered(net, features, positions)
        maps = laddered(net, features, shown)
    means = np.full((2, len(suite.cases)), np.nan, np.float32)
    for place, (number, pair) in enumerate(decided.items()):
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
    in_both = set(_stones(case.position)) & set(_stones(case.twin))
    here, there = (in_both & set(_laddered_stones(position)) for position in (case.position, case.twin))
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
