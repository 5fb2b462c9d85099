"""Auxiliary heads: absent unless wanted, sizes, losses against slow sums, what is masked, initial weights."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import SettingError
from gonn_core.features.targets import SCORE_CLASSES
from gonn_core.nets import decayed, gradient_factors, trial_net
from gonn_core.nets.auxiliary import HEADS
from gonn_core.nets.cost import LADDERS_FACTOR

WIDTH = 8
TINY = {"net.trunk.width": WIDTH, "net.trunk.blocks": 1, "net.norm_gamma": True}


def net_with(*names, **values):
    weights = {f"training.auxiliary.{name}": 1.0 for name in names}
    return trial_net(with_values(TrialConfig(), TINY | weights | values))


def heads(*names):
    """The heads of these names, their last maps' biases set apart from 0 so that they matter."""
    auxiliary = net_with(*names).auxiliary
    with torch.no_grad():
        for name, values in auxiliary.named_parameters():
            if name.endswith("bias"):
                values.copy_(torch.linspace(-1, 1, len(values)))
    return auxiliary


def body(count=3, seed=0):
    return torch.randn(count, WIDTH, 19, 19, generator=torch.Generator().manual_seed(seed))


def loss(name, x, targets=None, **extras):
    batch = SimpleNamespace(targets=targets, extras=extras)
    return heads(name).losses(x, batch)[name].loss.item()


def test_the_ladder_head_of_the_february_net_has_41568_parameters():
    """Spec: GoNN 2.7."""
    head = net_with("ladders", **{"net.trunk.width": 192}).auxiliary.ladders
    assert sum(values.numel() for values in head.parameters()) == 41_568


def test_factors_and_decay():
    net = net_with(*HEADS)
    factors = gradient_factors(net, TrialConfig().training.optimiser)
    slow = {name for name, factor in factors.items() if name.startswith("auxiliary.") and factor == LADDERS_FACTOR}
    assert slow == {"auxiliary.ladders.norm.gamma", "auxiliary.ladders.norm.beta", "auxiliary.ladders.out"}
    assert not [name for name in decayed(net) if name.endswith(("bias", "beta", "gamma"))]
    assert "auxiliary.value.pooled.inner.kernel" in decayed(net)


def test_a_reply_head_excludes_output_planes_for_replies():
    residual = {"net.family": "residual", "net.residual.output_planes": 3, "training.auxiliary.opponent_reply": 0.15}
    with pytest.raises(SettingError, match="one of the two"):
        with_values(TrialConfig(), residual)
    joint = {"net.family": "residual", "net.residual.output_planes": 3, "training.auxiliary.joint_reply": 0.15}
    assert with_values(TrialConfig(), joint).training.auxiliary.joint_reply


def logits_of(name, x):
    """(N, rows, 361) of a head that is one map per point."""
    out = heads(name)[name].out
    return (
        (torch.einsum("rc,ncp->nrp", out.kernel, x.flatten(2)) + (0 if out.bias is None else out.bias[:, None]))
        .detach()
        .numpy()
        .astype(float)
    )


def log_softmax(values):
    return values - np.log(np.exp(values).sum())


def drawn(low, high, seed=1):
    return torch.from_numpy(np.random.default_rng(seed).integers(low, high, (3, 361)).astype(np.int8))


def test_next_occupant_against_sums():
    x, targets = body(), drawn(0, 3)
    targets[1] = -1
    logits = logits_of("next_occupant", x)
    expected = sum(-log_softmax(logits[n, :, p])[targets[n, p]] for n in (0, 2) for p in range(361)) / (3 * 361)
    assert math.isclose(loss("next_occupant", x, next_occupant=targets), expected, rel_tol=1e-5)


def test_removal_time_against_sums():
    x, targets = body(), drawn(-1, 8)
    targets[1] = -1  # an empty board
    logits = logits_of("removal_time", x)
    losses = [
        [-log_softmax(logits[n, :, p])[targets[n, p]] for p in range(361) if targets[n, p] >= 0] for n in range(3)
    ]
    expected = sum(sum(found) / max(len(found), 1) for found in losses) / 3
    assert math.isclose(loss("removal_time", x, removal_time=targets), expected, rel_tol=1e-5)


def test_ownership_against_sums():
    x, targets = body(), drawn(-1, 2)
    logits = logits_of("ownership", x)[:, 0]
    sign = np.where(targets == 1, -1, 1)
    expected = np.where(targets >= 0, np.log1p(np.exp(sign * logits)), 0).sum() / (3 * 361)
    assert math.isclose(loss("ownership", x, ownership=targets), expected, rel_tol=1e-5)


def test_opponent_reply_against_sums():
    x, future = body(), torch.tensor([[7], [-1], [360]])
    logits = logits_of("opponent_reply", x)[:, 0]
    expected = -(log_softmax(logits[0])[7] + log_softmax(logits[2])[360]) / 3
    assert math.isclose(loss("opponent_reply", x, future=future), expected, rel_tol=1e-5)


def test_joint_reply_is_bilinear_in_the_move_played_and_the_reply():
    x, moves, future = body(), torch.tensor([3, 200, 18]), torch.tensor([[7], [-1], [360]])
    head = heads("joint_reply").joint_reply
    flat = x.flatten(2)
    queries = [head.query.kernel @ flat[n, :, moves[n]] + head.query.bias for n in range(3)]
    rows = [(queries[n] @ (head.key.kernel @ flat[n]) / math.sqrt(32)).detach().double().numpy() for n in range(3)]
    expected = -(log_softmax(rows[0])[7] + log_softmax(rows[2])[360]) / 3
    assert math.isclose(loss("joint_reply", x, moves, future=future), expected, rel_tol=1e-4)


def test_value_and_moves_left():
    x = body()
    pooled = heads("value").value.pooled(x).detach().numpy().astype(float)
    expected = -(log_softmax(pooled[0])[1] + log_softmax(pooled[2])[0]) / 3
    assert math.isclose(loss("value", x, value=torch.tensor([1, -1, 0])), expected, rel_tol=1e-5)
    left = heads("moves_left").moves_left.pooled(x).detach().numpy()[:, 0].astype(float)
    errors = np.abs(left - np.array([5, 300, 60]) / 20)
    expected = np.where(errors <= 10, errors**2 / 2, 10 * (errors - 5)).mean()
    assert math.isclose(loss("moves_left", x, moves_left=torch.tensor([5.0, 300.0, 60.0])), expected, rel_tol=1e-5)


def test_moves_left_and_score_as_classes():
    x = body()
    pooled = heads("moves_left_class").moves_left_class.pooled(x).detach().numpy().astype(float)
    expected = -(log_softmax(pooled[0])[0] + log_softmax(pooled[1])[15] + log_softmax(pooled[2])[19]) / 3
    left = torch.tensor([19.0, 300.0, 555.0])
    assert math.isclose(loss("moves_left_class", x, moves_left=left), expected, rel_tol=1e-5)
    head = heads("score").score
    assert head.outputs == SCORE_CLASSES
    pooled = head.pooled(x).detach().numpy().astype(float)
    expected = -(log_softmax(pooled[0])[39] + log_softmax(pooled[2])[7]) / 3
    assert math.isclose(loss("score", x, score=torch.tensor([39, -1, 7])), expected, rel_tol=1e-5)


def test_the_ladder_loss_is_summed_over_the_points():
    x, stones = body(), drawn(0, 2).bool()
    logits = net_with("ladders").auxiliary.ladders(x).detach().numpy().astype(float)
    expected = np.log1p(np.exp(np.where(stones, -1, 1) * logits)).sum() / 3
    assert math.isclose(loss("ladders", x, ladders=stones), expected, rel_tol=1e-5)


def test_losses_stay_fp32_under_autocast():
    future, points = torch.tensor([[7], [-1], [360]]), drawn(0, 2)
    extras = {name: points for name in ("ladders", "next_occupant", "removal_time", "ownership")}
    extras |= {"future": future, "value": torch.tensor([1, -1, 0]), "moves_left": torch.tensor([5.0, 300.0, 60.0])}
    extras["score"] = torch.tensor([-1, 0, 39])
    with torch.autocast("cpu", torch.bfloat16):
        found = net_with(*HEADS).auxiliary.losses(
            body(), SimpleNamespace(targets=torch.tensor([1, 2, 3]), extras=extras)
        )
    assert {head.loss.dtype for head in found.values()} == {torch.float32} and all(
        torch.isfinite(head.loss) for head in found.values()
    )
