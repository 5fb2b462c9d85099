"""Nets with known answers on the bundled games."""

import json
import math

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig
from gonn_core.errors import InputError
from gonn_core.evaluation.evaluate import BATCH, NotFinite, evaluate, history_kept
from gonn_core.evaluation.metrics import VALUES, Scores
from gonn_core.evaluation.stored import load_evaluations, pack_arrays
from gonn_core.features.sets import past_board_names, plane_names
from gonn_core.files.seals import digest_of
from gonn_core.go.layout import MOVE
from gonn_core.records.sampler import GONN_KEEP
from gonn_core.records.views import subset
from gonn_core.training.batches import PlaneMaker
from tests.trial.helpers import starter_data


class Flat(torch.nn.Module):
    """Equal logits, and what it was shown."""

    def __init__(self, planes=26):
        super().__init__()
        self.norm = torch.nn.BatchNorm2d(planes)
        self.seen = []

    def forward(self, planes):
        assert not self.training and not torch.is_grad_enabled()
        self.seen.append(planes)
        self.norm(planes)
        return torch.zeros(len(planes), 361)


class OpponentsLastMove(torch.nn.Module):
    """Bets on the point before the opponent's last move in reading order: known without looking at the answer."""

    def forward(self, planes):
        return 5.0 * torch.roll(planes[:, 18].flatten(1), -1, 1)


class Diverged(torch.nn.Module):
    """Has not a number to say of one position in all."""

    def forward(self, planes):
        logits = torch.zeros(len(planes), 361)
        logits[-1, 7] = torch.nan
        return logits


@pytest.fixture(scope="module")
def maker():
    return PlaneMaker(starter_data().store, FeatureConfig(), torch.device("cpu"), torch.channels_last)


@pytest.fixture(scope="module")
def rows():
    return subset(starter_data().views["validation"], 300, 0).rows


def test_equal_logits(maker, rows):
    net = Flat()
    scores = evaluate(net, maker, rows, "full")
    np.testing.assert_allclose(scores.nats, math.log(361), rtol=1e-6)
    moves = starter_data().store.moves[rows, MOVE]
    assert (scores.rank == moves).all()  # ties go by point, and the symmetry is the identity
    assert [len(planes) for planes in net.seen] == [BATCH] * (len(rows) // BATCH) + [len(rows) % BATCH]
    assert net.training and net.norm.num_batches_tracked == 0


def test_a_diverged_net_has_no_scores(maker, rows):
    with pytest.raises(NotFinite, match="diverged"):
        evaluate(Diverged(), maker, rows, "full")


def test_known_bets(maker, rows):
    store = starter_data().store
    scores = evaluate(OpponentsLastMove(), maker, rows, "full")
    for row, nats, rank in zip(rows.astype(int), scores.nats, scores.rank, strict=True):
        last = store.moves[row - 1, MOVE] if not store.moves[row, 3] & 2 else -1
        bet, move = ((last - 1) % 361 if last >= 0 else -1), store.moves[row, MOVE]
        total = 361 if bet < 0 else 360 + math.exp(5)
        assert nats == pytest.approx(math.log(total) - 5 * (bet == move), rel=1e-5)
        assert rank == (0 if bet == move else move + (bet > move))


def test_threads_and_neighbours_do_not_matter(maker, rows):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Conv2d(26, 1, 3, padding=1), torch.nn.Flatten())
    one, three = evaluate(net, maker, rows, "full"), evaluate(net, maker, rows, "full", threads=3)
    assert (one.nats == three.nats).all() and (one.rank == three.rank).all()
    tail = evaluate(net, maker, rows[100:], "full")
    np.testing.assert_allclose(tail.nats, one.nats[100:], rtol=1e-5)


def test_history_as_published_is_dropped_once(maker):
    rows = starter_data().views["validation"].rows[:5000]
    keep = history_kept(rows, "as_published")
    assert (history_kept(rows, "full") == 5).all()
    assert (keep == history_kept(rows, "as_published")).all() and (
        keep[100:] == history_kept(rows[100:], "as_published")
    ).all()
    for i, share in enumerate(np.cumprod(GONN_KEEP)):
        assert (keep > i).mean() == pytest.approx(share, abs=0.025)
    net = Flat()
    evaluate(net, maker, rows[:256], "as_published")
    shown = net.seen[0][:, 18:23].flatten(2).any(2).sum(1).numpy()
    plain = Flat()
    evaluate(plain, maker, rows[:256], "full")
    there = plain.seen[0][:, 18:23].flatten(2).any(2)
    assert (shown == np.array([there[i, : keep[i]].sum() for i in range(256)])).all()
    with pytest.raises(ValueError, match="valid are full, as_published, none"):
        history_kept(rows, "some")


def test_without_history_no_earlier_move_is_shown_in_whatever_planes(rows):
    """Planes of past moves are empty, past boards are those of history dropping; all other planes are as ever."""
    store, some = starter_data().store, rows[:300]
    assert (history_kept(some, "none") == 0).all()
    for features in (FeatureConfig(), FeatureConfig(history=0, past_boards=5)):
        names = plane_names(features)
        shown = {*past_board_names(features.past_boards), *(f"history_{k}" for k in range(1, 6))}
        history = [number for number, name in enumerate(names) if name in shown]
        beside = [number for number in range(len(names)) if number not in history]
        maker = PlaneMaker(store, features, torch.device("cpu"), torch.channels_last)
        with_it, without = Flat(len(names)), Flat(len(names))
        evaluate(with_it, maker, some[:256], "full")
        evaluate(without, maker, some[:256], "none")
        assert len(history) == features.history + 2 * features.past_boards
        assert not without.seen[0][:, history].any() and with_it.seen[0][:, history].any()
        assert torch.equal(without.seen[0][:, beside], with_it.seen[0][:, beside])


def test_progress_and_no_rows(maker, rows):
    done = []
    evaluate(Flat(), maker, rows, "full", on_batch=done.append)
    assert done == [*range(BATCH, len(rows), BATCH), len(rows)]
    assert len(evaluate(Flat(), maker, rows[:0], "full").nats) == 0


def test_stored_and_loaded(tmp_path):
    folder = tmp_path / "eval"
    folder.mkdir()
    scores = Scores(np.array([1.0, 2.5, 4.0], np.float32), np.array([0, 3, 360], np.uint16))
    data = pack_arrays(scores, np.array([5, 6, 9]), np.array([0, 0, 1]))
    assert data == pack_arrays(scores, np.array([5, 6, 9]), np.array([0, 0, 1]))
    (folder / "abc.npz").write_bytes(data)
    named = "metric_set weights samples split subset history symmetry_averaging positions games nats top1 top4 requests"
    summary = {"format": 1, "id": "abc", **dict.fromkeys(named.split(), 0), "arrays": digest_of(data)}
    (folder / "abc.json").write_text(json.dumps(summary))
    (evaluation,) = load_evaluations(tmp_path)
    assert (
        evaluation.summary["id"] == "abc"
        and evaluation.rows.tolist() == [5, 6, 9]
        and evaluation.games.tolist() == [0, 0, 1]
    )
    assert VALUES["top4"](evaluation.scores).tolist() == [1, 1, 0]
    assert evaluation.sums.of("nats").sums.tolist() == [3.5, 4.0]
    with pytest.raises(ValueError, match="valid are nats, top1, top2"):
        evaluation.sums.of("elo")
    (folder / "abc.npz").write_bytes(data[:40])
    with pytest.raises(InputError, match="not the arrays that were written"):
        load_evaluations(tmp_path)
    (folder / "abc.json").write_text('{"format": 2}')
    with pytest.raises(InputError, match="reads format 1"):
        load_evaluations(tmp_path)
    assert load_evaluations(tmp_path / "none") == []
