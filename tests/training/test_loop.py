"""The trainer: golden losses, state in and out, precision, speed of an arm alone."""

import math

import pytest
import torch

from gonn_core import numerics
from gonn_core.training.batches import Batch, PlaneMaker, training_batches
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Diverged, Trainer
from gonn_core.training.schedule import learning_rate
from gonn_core.training.speed import measure_speed
from tests.trial.helpers import starter_data, tiny_config

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
    "training__optimiser__learning_rate": 0.0001,
    "data__history_keep": [0.9, 0.95, 0.95, 0.98, 0.98],
}
"""Every part of GoNN's method, small. At this rate rounding (threads, memory format) moves the losses by 2.5e-7 in 20 steps, a centre
factor of 1.49 by 5e-6; at the usual rate rounding is blown up to percents."""

GOLDEN = {
    (1, 1, 1): [
        5.74433184, 5.93133736, 6.00436592, 6.05608797, 5.85989571, 5.91736555, 5.92629862, 5.88080788, 6.10505152, 5.94617653,
        6.0861392, 5.90083885, 6.19459963, 5.82743645, 5.69475889, 5.80744791, 5.78508997, 5.79175282, 5.74770832, 5.91304827,
    ],
}  # fmt: skip
"""Versions of features, nets and training -> losses."""


def run(config, steps, memory_format="channels_last", threads=1):
    """A trainer and its first losses on the bundled games."""
    reset_torch(threads)
    data = starter_data()
    view = data.views["train"]
    trainer = Trainer(config, view.n, CPU, memory_format)
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS[memory_format])
    return trainer, [trainer.step(batch).item() for batch in training_batches(config, view, maker, 0, steps, 1)]


def test_golden_losses():
    """The first 20 losses. Should they change on purpose, raise the version of what changed in gonn_core.numerics and add a line."""
    _, losses = run(tiny_config(**CANONICAL), 20)
    assert losses == pytest.approx(GOLDEN[tuple(numerics.versions().values())], rel=1e-6)


def test_memory_format_and_threads_only_round():
    """The losses agree at the canonical rate: a wrong gradient in one of the layouts would show."""
    usual = run(tiny_config(**CANONICAL), 8)[1]
    assert run(tiny_config(**CANONICAL), 8, "contiguous")[1] == pytest.approx(usual, rel=1e-6)
    assert run(tiny_config(**CANONICAL), 8, threads=2)[1] == pytest.approx(usual, rel=1e-6)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("memory_format", ["channels_last", "contiguous"])
def test_state_goes_in_and_out_bit_for_bit(precision, memory_format):
    config = tiny_config(**{**CANONICAL, "training__optimiser__learning_rate": 0.05, "training__precision": precision})
    whole, losses = run(config, 6, memory_format)
    first, _ = run(config, 3, memory_format)
    state = {name: tensor.clone().contiguous() for name, tensor in first.state().items()}
    data = starter_data()
    resumed = Trainer(config, data.views["train"].n, CPU, memory_format)
    resumed.load_state(state)
    maker = PlaneMaker(data.store, config.features, CPU, MEMORY_FORMATS[memory_format])
    assert [resumed.step(batch).item() for batch in training_batches(config, data.views["train"], maker, 3, 6, 1)] == losses[3:]
    assert resumed.samples == whole.samples == 48
    for name, tensor in whole.state().items():
        assert torch.equal(tensor, resumed.state()[name]), name
    assert resumed.train_nats() == pytest.approx(sum(losses) / 6)


def test_state_of_another_net_is_refused():
    state = run(tiny_config(), 1)[0].state()
    other = Trainer(tiny_config(net__trunk__width=12), 1000, CPU, "channels_last")
    with pytest.raises(ValueError, match="another net"):
        other.load_state(state)


def test_mean_loss_and_divergence():
    trainer, losses = run(tiny_config(), 3)
    assert trainer.train_nats() == pytest.approx(sum(losses) / 3)
    trainer.forget_loss()
    assert math.isnan(trainer.train_nats())
    trainer.step(Batch(torch.full((8, 26, 19, 19), float("inf")), torch.zeros(8, dtype=torch.int64)))
    with pytest.raises(Diverged, match="at 32 samples"):
        trainer.train_nats()


def test_bf16_is_close_to_fp32():
    values = {**CANONICAL, "training__optimiser__learning_rate": 0.01}
    full, short = (run(tiny_config(**values, training__precision=precision), 3)[1] for precision in ("fp32", "bf16"))
    assert full != short and short == pytest.approx(full, rel=0.03)


def test_the_rate_of_a_step_is_that_of_the_samples_before_it(monkeypatch):
    asked = []
    monkeypatch.setattr("gonn_core.training.loop.learning_rate", lambda training, samples: asked.append(samples) or learning_rate(training, samples))
    run(tiny_config(), 3)
    assert asked == [0, 8, 16]


def test_global_state_is_set():
    torch.set_default_dtype(torch.float64), torch.set_grad_enabled(False), torch.set_num_threads(2)
    reset_torch(1)
    assert torch.get_default_dtype() == torch.float32 and torch.is_grad_enabled() and torch.get_num_threads() == 1
    assert torch.rand(3).tolist() == torch.rand(3, generator=torch.Generator().manual_seed(0)).tolist()


def test_speed_counts_samples():
    speed = measure_speed(tiny_config(), CPU, 0.1)
    assert speed.device == "cpu" and speed.steps >= 5 and speed.samples_per_s > 0 and speed.samples_per_cpu_s > 0
    data = starter_data()
    config = tiny_config()
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last)
    batches = training_batches(config, data.views["train"], maker, 0, 10_000, 1)
    assert measure_speed(config, CPU, 0.05, batches=batches).steps >= 5
    batches.close()
