"""Batches ahead of the steps: order, errors, independence of threads, planes as the device wants them."""

import itertools
import threading
import time

import numpy as np
import pytest
import torch

from gonn_core.config import FeatureConfig
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.features.planes import make_planes, packed_bytes
from gonn_core.features.sets import plane_names
from gonn_core.features.source import plane_source
from gonn_core.go.layout import MOVE
from gonn_core.training.batches import PlaneMaker, ahead, training_batches
from tests.features.configs import CAZENAVE, CLARK, GO_NN
from tests.trial.helpers import starter_data, tiny_config

CPU = torch.device("cpu")


@pytest.mark.parametrize("threads", [1, 3])
def test_results_come_in_order(threads):
    def slow_when_even(k):
        time.sleep(0.002 * (k % 2 == 0))
        return k * k

    assert list(ahead(slow_when_even, range(30), threads)) == [k * k for k in range(30)]


def test_an_error_comes_where_its_result_was_due():
    results = ahead(lambda k: 1 // (3 - k), range(10), 2)
    assert list(itertools.islice(results, 3)) == [0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_closing_early_leaves_no_thread_behind():
    made = []
    results = ahead(made.append, range(1000), 2)
    next(results)
    results.close()
    assert len(made) <= 6
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batches")]


def batches(threads, memory_format=torch.channels_last, count=12, **values):
    config, data = tiny_config(**values), starter_data()
    maker = PlaneMaker(data.store, config.features, CPU, memory_format)
    return list(training_batches(config, data.views["train"], maker, 0, count, threads))


def test_the_number_of_threads_does_not_matter():
    for one, three in zip(batches(1), batches(3), strict=True):
        assert torch.equal(one.planes, three.planes) and torch.equal(one.targets, three.targets)


def test_shape_and_memory_format():
    planes, targets, _ = batches(1)[0]
    assert planes.shape == (8, 26, 19, 19) and planes.dtype == torch.float32 and targets.dtype == torch.int64
    assert planes.is_contiguous(memory_format=torch.channels_last)
    assert batches(1, torch.contiguous_format)[0].planes.is_contiguous()
    assert set(planes.unique().tolist()) == {0.0, 1.0}


def test_chosen_planes_are_those_of_the_full_set():
    full, some = batches(1)[0], batches(1, features__history=1, features__ladders=False)[0]
    names = [
        name
        for name in PLANE_NAMES
        if name not in ("history_2", "history_3", "history_4", "history_5") and not name.startswith("ladder")
    ]
    assert torch.equal(some.planes, full.planes[:, [PLANE_NAMES.index(name) for name in names]])


@pytest.mark.parametrize(
    "features", [FeatureConfig(), FeatureConfig(liberties=2, ladders=False), GO_NN, CLARK, CAZENAVE], ids=str
)
def test_unpacked_bits_are_the_planes(features):
    """What a CUDA device does with packed bits, done here on the CPU."""
    store = starter_data().store
    rows = np.arange(100, 140, dtype=np.int64)
    rows = rows[store.moves[rows, MOVE] >= 0]
    batch = rows, (rows % 8).astype(np.uint8), np.full(len(rows), 5, np.uint8)
    maker = PlaneMaker(store, features, CPU, torch.channels_last)
    packed, targets = np.empty((len(rows), packed_bytes(features)), np.uint8), np.empty(len(rows), np.int64)
    make_planes(features, plane_source(store), *batch, packed, targets)
    expected = maker.on_host(*batch)
    unpacked = maker._unpack(torch.from_numpy(packed))
    assert torch.equal(unpacked, expected.planes) and unpacked.stride() == expected.planes.stride()
    assert expected.planes.shape[1] == len(plane_names(features)) and targets.tolist() == expected.targets.tolist()


def test_a_row_without_a_move_is_refused():
    store = starter_data().store
    row = np.flatnonzero(store.moves[:, MOVE] < 0)[:1].astype(np.int64)
    maker = PlaneMaker(store, FeatureConfig(), CPU, torch.channels_last)
    with pytest.raises(ValueError, match=f"row {row[0]} of the store has no move"):
        maker.on_host(row, np.zeros(1, np.uint8), np.zeros(1, np.uint8))
