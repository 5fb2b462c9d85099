"""Learning rate over samples: the table of spec GoNN 4.1, compression, the other kinds, warm-up, final drop."""

import math

import numpy as np
import pytest

from gonn_core.config import ScheduleConfig, TrainingConfig
from gonn_core.training.schedule import gonn_factor, knots_factor, learning_rate


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
    assert 0.00032 * gonn_factor(ScheduleConfig(), samples) == pytest.approx(per_sample, rel=0.02)


class AuthorsDrops:
    """The author's counting, epoch by epoch: the rate of an epoch is set when the one before it is done."""

    def __init__(self, exponent: int, offset: int, drop_every_epochs: int):
        self.exponent, self.offset, self.drop_every_epochs, self.drops = exponent, offset, drop_every_epochs, 0

    def factor(self) -> float:
        return 1 / ((self.drops + self.offset) / self.offset) ** self.exponent

    def epoch_done(self, epoch: int) -> None:
        self.drops = epoch // self.drop_every_epochs


EARLY = ScheduleConfig(exponent=4, offset=14, first_drop=4_500_000)
"""December 2017 to 2018-02-24."""
DAY_OF_B5 = ScheduleConfig(exponent=4, offset=18, first_drop=4_500_000)
"""2018-02-25 to 2018-03-05."""


@pytest.mark.parametrize(
    "schedule, epoch_samples, drop_every", [(EARLY, 500_000, 8), (DAY_OF_B5, 500_000, 8), (ScheduleConfig(), 10**6, 4)]
)
def test_drops_are_those_of_the_authors_epochs(schedule, epoch_samples, drop_every):
    rate = AuthorsDrops(schedule.exponent, schedule.offset, drop_every)
    for epoch in range(700):
        for inside in (0, 1, epoch_samples - 1):
            assert gonn_factor(schedule, epoch * epoch_samples + inside) == rate.factor()
        rate.epoch_done(epoch)


KNOTS = ((0, 1.0), (8_000_000, 0.44), (14_000_000, 0.3), (28_000_000, 0.136))


def test_knots_are_joined_by_straight_lines_of_the_logarithm():
    samples = np.arange(0, 28_000_001, 123_457)
    line = np.interp(samples, [at for at, _ in KNOTS], [math.log(factor) for _, factor in KNOTS])
    assert [knots_factor(KNOTS, int(at)) for at in samples] == pytest.approx(np.exp(line), rel=1e-12)
    assert [knots_factor(KNOTS, at) for at, _ in KNOTS] == [factor for _, factor in KNOTS]


def test_behind_the_last_knot_its_line_goes_on():
    assert knots_factor(KNOTS, 42_000_000) == pytest.approx(0.136 * 0.136 / 0.3)


def test_knots_that_cannot_be_are_refused():
    for knots in (
        (),
        ((0, 1.0),),
        ((5, 1.0), (9, 0.5)),
        ((0, 1.0), (9, 0.5), (9, 0.4)),
        ((0, 1.0), (9, 0.5), (3, 0.4)),
    ):
        with pytest.raises(ValueError, match="knots"):
            ScheduleConfig(kind="knots", knots=knots)
    with pytest.raises(ValueError, match="no other kind has them"):
        ScheduleConfig(kind="linear", knots=KNOTS)
    for name in ("exponent", "offset", "first_drop", "drop_every"):
        with pytest.raises(ValueError, match="are of kind gonn, not of linear"):
            ScheduleConfig(kind="linear", **{name: 3})


@pytest.mark.parametrize("schedule", [EARLY, ScheduleConfig(), ScheduleConfig(kind="knots", knots=KNOTS)])
def test_every_schedule_in_published_samples_can_be_compressed(schedule):
    published = TrainingConfig(samples=28_000_000, batch_size=200, schedule=schedule)
    short = TrainingConfig(samples=100_000, batch_size=50, schedule=schedule.model_copy(update={"compression": 280.0}))
    for share in (0.0, 0.1, 0.5, 0.999):
        assert learning_rate(short, int(100_000 * share)) == learning_rate(published, int(28_000_000 * share))


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


@pytest.mark.parametrize("kind", ["half_life", "stall_halving", "linear", "constant"])
def test_warm_up_multiplies(kind):
    assert rates(kind=kind, warmup=500)[:2] == pytest.approx([0, rates(kind=kind)[1] / 2])


def test_linear_falls_to_nothing():
    assert rates(kind="linear", at=(0, 250, 1000)) == pytest.approx([1, 0.75, 0])
