"""A net on a suite of probes: the probabilities of right and wrong moves."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from gonn_core.evaluation.probes.cases import Case, Suite
from gonn_core.evaluation.probes.scoring import CaseAnswers
from gonn_core.features.gonn import HISTORY
from gonn_core.features.planes import make_planes
from gonn_core.features.positions import Position, position_rows
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import plane_source
from gonn_core.go.points import POINTS, SIZE
from gonn_core.settings.features import FeatureConfig

BATCH = 256


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
    for first in range(0, len(positions), BATCH):
        batch = rows.rows[first : first + BATCH]
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
    training = net.training
    net.eval()
    try:
        own = policies(net, features, [case.position for case in suite.cases])
        twins = iter(policies(net, features, [case.twin for case in suite.cases if case.twin is not None]))
    finally:
        net.train(training)
    pairs = [
        _best(case, policy, next(twins) if case.twin is not None else None)
        for case, policy in zip(suite.cases, own, strict=True)
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
