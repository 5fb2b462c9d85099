"""A net on a suite of probes: the probabilities of right and wrong moves, and those of a ladder head
(`training.auxiliary.ladders`; spec: GoNN 7.1, 7.2)."""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from gonn_core.evaluation.probes.stored import CaseAnswers
from gonn_core.evaluation.probes.suite import Case, Suite
from gonn_core.features.gonn import HISTORY
from gonn_core.features.planes import make_planes
from gonn_core.features.sets import computed_planes, plane_indices
from gonn_core.features.source import Position, plane_source, position_rows
from gonn_core.go.points import POINTS, SIZE
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
        symmetries, shown = np.zeros(len(batch), np.uint8), np.full(len(batch), HISTORY, np.uint8)
        make_planes(features, source, batch, symmetries, shown, planes, targets)
        out[first : first + len(batch)] = evaluate(torch.from_numpy(planes)[:, selected]).float().numpy()
    return out


def policies(net: torch.nn.Module, features: FeatureConfig, positions: Sequence[Position]) -> np.ndarray:
    """(N, 361) float32 move probabilities of a net in inference mode on the CPU."""
    return on_positions(features, positions, lambda planes: torch.softmax(net(planes).float(), 1))


def answers(net: torch.nn.Module, features: FeatureConfig, suite: Suite) -> CaseAnswers:
    """The probabilities of a net, which is put into inference mode, in every case. `right` is 0 where no move is named
    right."""
    net.eval()
    in_cases = policies(net, features, [case.position for case in suite.cases])
    in_counterparts = iter(
        policies(net, features, [case.counterpart for case in suite.cases if case.counterpart is not None])
    )
    pairs = [
        _best(case, policy, next(in_counterparts) if case.counterpart is not None else None)
        for case, policy in zip(suite.cases, in_cases, strict=True)
    ]
    return CaseAnswers(*np.array(pairs, np.float32).reshape(-1, 3).T)


def _best(case: Case, policy: np.ndarray, counterpart: np.ndarray | None) -> tuple[float, float, float]:
    right = list(case.right)
    if counterpart is not None:
        against = counterpart[right]
    else:
        against = policy[list(case.wrong)] if case.wrong else np.delete(policy, right)
    total = policy[right].sum() + against.sum()
    share = policy[right].sum() / total if total > 0 else case.chance
    return policy[right].max(initial=0.0), against.max(initial=0.0), share


def ladder_maps(net: PolicyNet, features: FeatureConfig, positions: Sequence[Position]) -> np.ndarray | None:
    """(N, 361) float32: the ladder head's probability at each point that a stone there is laddered, on the CPU; the net
    is put into inference mode. None for a net that was trained without such a head."""
    if net.auxiliary is None or "ladders" not in net.auxiliary:
        return None
    head = net.auxiliary["ladders"]
    net.eval()
    return on_positions(features, positions, lambda planes: torch.sigmoid(head(net.body(planes))))
