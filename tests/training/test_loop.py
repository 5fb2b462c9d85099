"""The trainer: golden losses, state in and out, precision."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gonn_core import numerics
from gonn_core.go.layout import MOVE
from gonn_core.training.batches import Batch, PlaneMaker, training_batches
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Diverged, Trainer
from gonn_core.training.schedule import learning_rate
from tests.trial.helpers import first_starter_data as starter_data
from tests.trial.helpers import tiny_config

CPU = torch.device("cpu")

CANONICAL = {
    "net__activation": "prelu",
    "net__norm_gamma": True,
    "net__stem__center_kernel": True,
    "net__trunk__width": 24,
    "net__trunk__blocks": 3,
    "net__trunk__dilations": [2],
    "net__trunk__global_pooling": True,
    "net__trunk__center_init": 0.3,
    "net__head__pooling": "mean_max",
    "training__optimiser__center_factor": 1.5,
    "training__optimiser__learning_rate": 0.00001,
    "data__history_keep": [0.9, 0.95, 0.95, 0.98, 0.98],
}
"""Every part of GoNN's method, small. At this rate rounding (threads, memory format) moves the losses by at most 2e-7
in 20 steps, a forgotten centre factor by 4e-6, plain momentum by 1e-5; at the usual rate flipped ReLUs blow rounding up
to percents."""

GOLDEN = {
    (1, 1, 1): [
        5.86074829, 5.89843798, 5.8924036, 6.11479568, 5.86839867, 5.8218441, 5.82634068, 5.92157269, 6.16721344,
        5.98450947, 6.05007553, 5.85705519, 5.87174177, 5.76319981, 5.98458052, 5.82101631, 5.85920477, 5.67174911,
        5.79047012, 6.06671095,
    ],
}  # fmt: skip
"""Versions of features, nets and training -> losses."""


def run(config, steps, memory_format="channels_last", threads=1, view=None):
    """A trainer and its first losses on the bundled games."""
    reset_torch(threads)
    data = starter_data()
    view = view or data.views["train"]
    trainer = Trainer(config, len(view.rows), CPU, memory_format)
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS[memory_format])
    return trainer, [trainer.step(batch).item() for batch in training_batches(config, view, maker, 0, steps, 1)]


def all_moves():
    """All moves of the bundled games: a view that does not change when the data set's splits do."""
    store = starter_data().store
    return SimpleNamespace(rows=np.flatnonzero(store.moves[:, MOVE] >= 0), digest="0" * 20)


def test_golden_losses():
    """The first 20 losses. Should they change on purpose, raise the version of what changed in gonn_core.numerics and
    add a line.

    On any processor: with kernels for AVX-512 or with those for SSE alone, one thread or two, they are within 3e-7 of
    those kept.
    """
    _, losses = run(tiny_config(**CANONICAL), 20, view=all_moves())
    assert losses == pytest.approx(GOLDEN[tuple(numerics.versions().values())], rel=1e-6)


def test_memory_format_and_threads_only_round():
    """The losses agree at the canonical rate: a wrong gradient in one of the layouts would show."""
    usual = run(tiny_config(**CANONICAL), 8)[1]
    assert run(tiny_config(**CANONICAL), 8, "contiguous")[1] == pytest.approx(usual, rel=1e-6)
    assert run(tiny_config(**CANONICAL), 8, threads=2)[1] == pytest.approx(usual, rel=1e-6)


@pytest.mark.parametrize("precision, memory_format", [("fp32", "contiguous"), ("bf16", "channels_last")])
def test_state_goes_in_and_out_bit_for_bit(precision, memory_format):
    config = tiny_config(**{**CANONICAL, "training__optimiser__learning_rate": 0.05, "training__precision": precision})
    whole, losses = run(config, 6, memory_format)
    first, _ = run(config, 3, memory_format)
    state = {name: tensor.clone().contiguous() for name, tensor in first.state().items()}
    data = starter_data()
    resumed = Trainer(config, data.views["train"].n, CPU, memory_format)
    resumed.load_state(state)
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS[memory_format])
    assert [
        resumed.step(batch).item() for batch in training_batches(config, data.views["train"], maker, 3, 6, 1)
    ] == losses[3:]
    assert resumed.samples == whole.samples == 48
    for name, tensor in whole.state().items():
        assert torch.equal(tensor, resumed.state()[name]), name
    assert resumed.train_means()["nats"] == pytest.approx(sum(losses) / 6)


def test_state_of_another_net_is_refused():
    state = run(tiny_config(), 1)[0].state()
    other = Trainer(tiny_config(net__trunk__width=12), 1000, CPU, "channels_last")
    with pytest.raises(ValueError, match="another net"):
        other.load_state(state)


def test_mean_loss_and_divergence():
    trainer, losses = run(tiny_config(), 3)
    assert trainer.train_means()["nats"] == pytest.approx(sum(losses) / 3)
    trainer.forget_loss()
    assert math.isnan(trainer.train_means()["nats"])
    trainer.step(Batch(torch.full((8, 26, 19, 19), float("inf")), torch.zeros(8, dtype=torch.int64)))
    with pytest.raises(Diverged, match="at 32 samples"):
        trainer.train_means()
    finite = run(tiny_config(), 0)[0]
    with torch.no_grad():
        finite.net.head.out.mul_(1e9)
    finite.step(Batch(torch.rand(8, 26, 19, 19), torch.zeros(8, dtype=torch.int64)))
    with pytest.raises(Diverged, match="at 8 samples"):
        finite.train_means()


def test_bf16_is_close_to_fp32():
    values = {**CANONICAL, "training__optimiser__learning_rate": 0.01}
    full, short = (run(tiny_config(**values, training__precision=precision), 3)[1] for precision in ("fp32", "bf16"))
    assert full != short and short == pytest.approx(full, rel=0.03)


def test_the_rate_of_a_step_is_that_of_the_samples_before_it(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "gonn_core.training.loop.learning_rate",
        lambda training, samples: asked.append(samples) or learning_rate(training, samples),
    )
    run(tiny_config(), 3)
    assert asked == [0, 8, 16]
