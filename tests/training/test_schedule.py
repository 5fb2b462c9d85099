"""Learning rate over samples: the table of spec GoNN 4.1, compression, the other kinds, warm-up, final drop."""

import pytest

from gonn_core.config import ScheduleConfig, TrainingConfig
from gonn_core.training.schedule import gonn_factor, learning_rate


@pytest.mark.parametrize(
    "samples, per_sample",
    [
        (0, 3.2e-4),
        (4_999_999, 3.2e-4),
        (25_000_000, 1.04e-4),
        (50_000_000, 5.1e-5),
        (65_000_000, 3.6e-5),
        (100_000_000, 2.0e-5),
        (205_000_000, 5.9e-6),
        (329_000_000, 2.5e-6),
    ],
)
def test_published_table(samples, per_sample):
    assert 0.00032 * gonn_factor(samples) == pytest.approx(per_sample, rel=0.02)


def test_the_same_as_the_formula_in_epochs():
    """Spec: k = floor((E-1)/4) for the 0-based epoch E >= 1 of a million samples, 0 for E = 0."""
    for epoch in range(60):
        k = (epoch - 1) // 4 if epoch else 0
        for inside in (0, 1, 999_999):
            assert gonn_factor(epoch * 1_000_000 + inside) == 1 / ((k + 8) / 8) ** 2


def test_compression_ends_where_the_published_run_ends():
    published = TrainingConfig(samples=205_000_000, batch_size=200, schedule=ScheduleConfig(kind="gonn"))
    short = TrainingConfig(samples=100_000, batch_size=50, schedule=ScheduleConfig(kind="gonn", compression=2050.0))
    for share in (0.0, 0.1, 0.5, 0.999):
        assert learning_rate(short, int(100_000 * share)) == learning_rate(published, int(205_000_000 * share))


def test_linear_falls_to_nothing():
    training = TrainingConfig(samples=1000, batch_size=10, schedule=ScheduleConfig(kind="linear"))
    assert learning_rate(training, 0) == 0.064
    assert learning_rate(training, 250) == pytest.approx(0.048)
    assert learning_rate(training, 1000) == 0


def test_constant_with_warm_up():
    training = TrainingConfig(samples=1000, batch_size=10, schedule=ScheduleConfig(kind="constant", warmup=100))
    assert [learning_rate(training, samples) for samples in (0, 50, 100, 990)] == [0, 0.032, 0.064, 0.064]


def rates(samples=1000, at=(0, 250, 500, 949, 950, 990), **schedule):
    training = TrainingConfig(samples=samples, batch_size=10, schedule=ScheduleConfig(**schedule))
    return [learning_rate(training, count) / 0.064 for count in at]


def test_half_life():
    assert rates(kind="half_life", half_life_share=0.25) == pytest.approx(
        [1, 1 / 2, 1 / 4, 0.5**3.796, 0.5**3.8, 0.5**3.96]
    )


def test_steps_begin_at_their_share():
    steps = ((0.25, 0.2), (0.95, 0.04))
    assert rates(kind="steps", steps=steps) == pytest.approx([1, 0.2, 0.2, 0.2, 0.04, 0.04])
    assert rates(kind="steps", steps=((0.0, 0.5),), at=(0,)) == [0.5]
    assert rates(samples=100, kind="steps", steps=((0.07, 0.5),), at=(6, 7)) == [
        1,
        0.5,
    ]  # 0.07 * 100 is a little above 7


@pytest.mark.parametrize("kind", ["gonn", "linear", "constant", "half_life", "stall_halving"])
def test_final_drop_is_for_the_last_twentieth(kind):
    plain, dropped = rates(kind=kind), rates(kind=kind, final_drop=0.1)
    assert dropped == pytest.approx([*plain[:4], 0.1 * plain[4], 0.1 * plain[5]])


@pytest.mark.parametrize("kind", ["half_life", "stall_halving", "linear"])
def test_warm_up_multiplies(kind):
    assert rates(kind=kind, warmup=500)[1] == pytest.approx(rates(kind=kind)[1] / 2)
