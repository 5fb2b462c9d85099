"""Ways to read a policy, against slow obvious ones: legal points, symmetries, entropy and squared error."""

import math

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig, TrialConfig, with_values
from gonn_core.evaluation.evaluate import evaluate, turned_back
from gonn_core.evaluation.metrics import PLAIN, Reading
from gonn_core.go.layout import KO, MOVE, PLY
from gonn_core.go.points import POINTS, SYMMETRY
from gonn_core.nets import trial_net
from gonn_core.records.views import subset
from gonn_core.training.batches import PlaneMaker
from tests.trial.helpers import starter_data


@pytest.fixture(scope="module")
def store():
    return starter_data().store


@pytest.fixture(scope="module")
def maker(store):
    return PlaneMaker(store, FeatureConfig(), torch.device("cpu"), torch.channels_last, extras=("illegal",))


@pytest.fixture(scope="module")
def rows(store):
    """Whole games, and positions with a ko."""
    view = starter_data().views["validation"].rows
    with_ko = view[np.asarray(store.moves[view, KO]) >= 0][:40]
    assert len(with_ko) == 40
    return np.concatenate([subset(starter_data().views["validation"], 260, 0).rows, with_ko]).astype(np.int64)


@pytest.fixture(scope="module")
def net():
    """Any net without symmetry: a 5x5 convolution of the planes and a bias for every point."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.conv = torch.nn.Conv2d(26, 1, 5, padding=2)
            self.bias = torch.nn.Parameter(torch.randn(POINTS))

        def forward(self, planes):
            return self.conv(planes).flatten(1) * 3 + self.bias

    return Net()


def occupied(store, row):
    """Points with a stone, bit by bit."""
    words = [int(word) for word in store.stones[row]]
    return [any(words[colour + (p >> 6)] >> (p & 63) & 1 for colour in (0, 6)) for p in range(POINTS)]


def slow_logits(net, maker, rows, symmetry=0):
    """(N, 361) logits under one symmetry, looked up point by point where the position's own points went."""
    with torch.no_grad():
        batch = maker.on_host(rows, np.full(len(rows), symmetry, np.uint8), np.full(len(rows), 5, np.uint8))
        turned = net(batch.planes).double().numpy()
    return np.array([[logits[SYMMETRY[symmetry][p]] for p in range(POINTS)] for logits in turned])


def slow_scores(logits, moves, left_out):
    """nats, rank, entropy and squared error, each as its definition reads."""
    found = []
    for row, move, out in zip(logits, moves, left_out, strict=True):
        shares = np.array([0.0 if out[p] else math.exp(row[p] - row.max()) for p in range(POINTS)])
        shares /= shares.sum()
        rank = sum(
            shares[p] > shares[move] or (shares[p] == shares[move] and p < move) for p in range(POINTS) if not out[p]
        )
        entropy = -sum(p * math.log(p) for p in shares if p > 0)
        found.append(
            (-math.log(shares[move]), rank, entropy, sum((shares[p] - (p == move)) ** 2 for p in range(POINTS)))
        )
    return [np.array(column) for column in zip(*found, strict=True)]


def assert_close(scores, expected):
    for name, found, wanted in zip(scores._fields, scores, expected, strict=False):
        np.testing.assert_allclose(found, wanted, rtol=3e-4, atol=1e-6, err_msg=name)


@pytest.fixture(scope="module")
def illegal(store, rows):
    """(N, 361) bool: stones, and the simple-ko point."""
    found = np.array([occupied(store, row) for row in rows])
    for left_out, ko in zip(found, store.moves[rows, KO], strict=True):
        left_out[ko] |= ko >= 0
    assert not found[np.arange(len(rows)), store.moves[rows, MOVE]].any()  # whatever was played is legal
    return found


def test_plain(net, maker, rows, store):
    logits = slow_logits(net, maker, rows)
    assert_close(
        evaluate(net, maker, rows, "full"), slow_scores(logits, store.moves[rows, MOVE], np.zeros(logits.shape, bool))
    )


def test_legal_only_is_renormalising_by_hand(net, maker, rows, store, illegal):
    logits = slow_logits(net, maker, rows)
    scores = evaluate(net, maker, rows, "full", reading=Reading(legal_only=True))
    assert_close(scores, slow_scores(logits, store.moves[rows, MOVE], illegal))
    plain = evaluate(net, maker, rows, "full")
    shares = torch.softmax(torch.from_numpy(logits), 1).numpy()
    on_illegal = np.array([row[out].sum() for row, out in zip(shares, illegal, strict=True)])
    np.testing.assert_allclose(scores.illegal, on_illegal, rtol=1e-4, atol=1e-6)
    assert on_illegal.max() > 0.1 and plain.illegal is None
    lost = np.log(1 - on_illegal)
    np.testing.assert_allclose(scores.nats, plain.nats + lost, rtol=1e-4)
    assert (scores.rank <= plain.rank).all() and (scores.rank < plain.rank).any()


@pytest.mark.parametrize("legal_only", [False, True])
def test_symmetry_averaging_is_the_mean_by_hand(net, maker, rows, store, illegal, legal_only):
    later = (
        store.moves[rows, PLY] > 15
    )  # an almost empty board may be symmetric: equal means, whose order rounding decides
    rows, illegal = rows[later][::3], illegal[later][::3]
    logits = np.mean([slow_logits(net, maker, rows, symmetry) for symmetry in range(8)], axis=0)
    left_out = illegal if legal_only else np.zeros(logits.shape, bool)
    scores = evaluate(net, maker, rows, "full", threads=2, reading=Reading(True, legal_only))
    assert_close(scores, slow_scores(logits, store.moves[rows, MOVE], left_out))


@pytest.mark.parametrize("tied", [True, False])
def test_averaging_changes_nothing_for_a_net_tied_under_the_symmetries(maker, rows, tied):
    conv = {
        "net.family": "conv",
        "net.activation": "relu",
        "net.conv.layers": [[3, 4], [3, 4]],
        "net.conv.head": "full",
        "net.conv.init": "fan_in",
    }
    net = trial_net(with_values(TrialConfig(), {**conv, "net.conv.tied": tied}))
    one, eight = (evaluate(net, maker, rows[::3], "full", reading=reading) for reading in (PLAIN, Reading(True)))
    assert np.allclose(one.nats, eight.nats, rtol=1e-4) == tied


@pytest.mark.parametrize("symmetry", range(8))
def test_turned_back(symmetry):
    logits = torch.zeros(1, POINTS)
    logits[0, SYMMETRY[symmetry][40]] = 1.0
    assert turned_back(logits, symmetry).argmax().item() == 40
