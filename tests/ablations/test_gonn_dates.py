"""GoNN's bases have the nets and the recipe of their date: the author's parameter counts, start, rates and factors
(spec: GoNN 2.6, 2.7, 3.1, 4.1; figures of a comparison with the author's code)."""

import pytest

from ablations.arms import resolve
from ablations.registry import load_registry
from gonn_core.config import ScheduleConfig, with_values
from gonn_core.features.sets import plane_names
from gonn_core.nets import count_parameters, trial_net
from gonn_core.training.schedule import learning_rate

REGISTRY = load_registry()
STEM_CENTER = 4_992
PRELU_SLOPES = 192 * 9 + 16
"""Of 4 blocks' two norms each and the trunk's end; of the 16 pooled channels."""
LADDER_BLOCK, WIDE_SHARED, WIDE_SPLIT, LADDER_HEAD = 88_248, 222_144, 2 * 221_952, 41_568
FEBRUARY = 3_285_048 - LADDER_HEAD
"""As published, without the head that was switched off."""
JANUARY_18 = FEBRUARY - 3 * 25 * 192 - STEM_CENTER + 32 * 48
"""Without ladder planes and stem centre, and with the stdev of 32 pooled channels."""


def config(base):
    return REGISTRY.base(base).config


def parameters(base) -> int:
    return count_parameters(config(base).net, len(plane_names(config(base).features)))


@pytest.mark.parametrize(
    "base, planes, count",
    [
        ("gonn-b4", 13, 2_835_488),
        ("gonn-b4-2018-01", 13, 2_835_488 + PRELU_SLOPES + LADDER_BLOCK),
        ("gonn-b4-2018-01-18", 23, JANUARY_18),
        ("gonn-b4-2018-01-27", 25, JANUARY_18 + 2 * 25 * 192),
        ("gonn-b4-2018-02", 26, FEBRUARY),
        ("gonn-b4-2018-02-13", 26, FEBRUARY - WIDE_SHARED + WIDE_SPLIT),
        ("gonn-b5", 26, 3_597_792),
        ("gonn-b12", 26, 8_250_720),
        ("gonn-april-12b", 26, 8_057_424),
    ],
)
def test_nets_of_every_date_have_their_planes_and_parameters(base, planes, count):
    assert len(plane_names(config(base).features)) == planes and parameters(base) == count


def rms(values) -> float:
    return float(values.detach().double().square().mean().sqrt())


FULL, HALF = 0.0254, 0.0127
"""The last convolution: 0.8796 sqrt(2/(96*25)), and half of it."""


@pytest.mark.parametrize(
    "base, stem, matrix, out, center",
    [
        ("gonn-b4", 0.0690, 0.0898, FULL, 1.0),
        ("gonn-b4-2018-01", 0.0690, 0.0898, FULL, 1.0),
        ("gonn-b4-2018-01-18", 0.0519, 0.0635, FULL, 1.0),
        ("gonn-b4-2018-01-27", 0.0498, 0.0635, HALF, 1.0),
        ("gonn-b4-2018-02", 0.0488, 0.0778, HALF, 1.0),
        ("gonn-b4-2018-02-13", 0.0488, 0.0778, HALF, 1.0),
        ("gonn-b5", 0.0488, 0.0778, HALF, 1.345),
        ("gonn-april-12b", 0.0488, 0.0778, HALF, 1.345),
    ],
)
def test_nets_of_every_date_start_as_the_authors_did(base, stem, matrix, out, center):
    """r.m.s. of the stem's kernel, the head's matrix, its last convolution; a block's centre tap by a corner's."""
    net = dict(trial_net(with_values(config(base), {"net.trunk.blocks": 2})).named_parameters())
    assert rms(net["stem.kernel"]) == pytest.approx(stem, rel=0.01)
    assert rms(net["head.pooled.matrix"]) == pytest.approx(matrix, rel=0.03)
    assert rms(net["head.out"]) == pytest.approx(out, rel=0.03)
    kernel = net["blocks.1.conv1"]
    assert rms(kernel[:, :, 1, 1]) / rms(kernel[:, :, 0, 0]) == pytest.approx(center, rel=0.015)


def test_a_start_of_its_own_is_the_same_draw_at_another_size():
    paired = with_values(
        config("gonn-b4"), {"net.stem.fan_in": "paired", "net.head.fan_in": "paired", "net.trunk.blocks": 1}
    )
    one, other = (
        dict(trial_net(each).named_parameters())
        for each in (paired, with_values(paired, {"net.stem.fan_in": "own", "net.head.fan_in": "own"}))
    )
    sizes = {"stem.kernel": (26 / 13) ** 0.5, "head.pooled.matrix": (2 / 3) ** 0.5}
    for name, values in one.items():
        size = sizes.get(name, 1.0)
        assert values.equal(other[name]) if size == 1 else values.mul(size).allclose(other[name], rtol=1e-6, atol=0)


@pytest.mark.parametrize("base", ["gonn-b5", "gonn-b12", "gonn-b4-2018-02"])
def test_the_published_planes_and_statistics_start_alike_either_way(base):
    paired = with_values(config(base), {"net.trunk.blocks": 1})
    own = with_values(paired, {"net.stem.fan_in": "own", "net.head.fan_in": "own"})
    one, other = (dict(trial_net(each).named_parameters()) for each in (paired, own))
    assert one.keys() == other.keys() and all(values.equal(other[name]) for name, values in one.items())


def rate(base, samples: int) -> float:
    """Per sample, as the author counted."""
    training = config(base).training
    return learning_rate(training, samples) / training.batch_size


@pytest.mark.parametrize(
    "base, start, head",
    [
        ("gonn-b4", 0.00032, 1.0),
        ("gonn-b4-2018-01", 0.00032, 1.0),
        ("gonn-b4-2018-01-18", 0.00032, 1.0),
        ("gonn-b4-2018-01-27", 0.00032, 0.25),
        ("gonn-b4-2018-02", 0.00032, 0.25),
        ("gonn-b4-2018-02-13", 0.00032, 0.25),
    ],
)
def test_before_march_the_rate_falls_with_the_fourth_power(base, start, head):
    assert config(base).training.optimiser.head_factor == head and config(base).training.batch_size == 100
    for epoch in (0, 8, 9, 16, 17, 50, 127):  # of half a million; set when the one before is done
        drops = max(0, epoch - 1) // 8
        assert rate(base, epoch * 500_000) == pytest.approx(start / ((drops + 14) / 14) ** 4)


def test_april_has_the_knots_and_the_decay_of_its_script():
    for millions, per_sample in (
        (0, 2.5e-4),
        (8, 1.1e-4),
        (14, 7.5e-5),
        (28, 3.4e-5),
        (50, 1.6e-5),
        (82, 7.2e-6),
        (114, 4.2e-6),
        (156, 2.8e-6),
        (218, 1.8e-6),
    ):
        assert rate("gonn-april-12b", millions * 10**6) == pytest.approx(per_sample)
    optimiser = config("gonn-april-12b").training.optimiser
    assert (optimiser.weight_decay, optimiser.weight_decay_rows) == (3e-5, 0.0)
    assert rate("gonn-b12", 10**6) / rate("gonn-april-12b", 10**6) == pytest.approx(1.4, abs=0.05)
    assert 3.6 < rate("gonn-b12", 10**8) / rate("gonn-april-12b", 10**8) < 3.8


def test_what_gonn_b5_says_of_the_schedule_of_its_day_is_so():
    of_its_day = config("gonn-b5").training.model_copy(
        update={"schedule": ScheduleConfig(exponent=4, offset=18, first_drop=4_500_000)}
    )
    ratio = rate("gonn-b5", 205_000_000) / (learning_rate(of_its_day, 205_000_000) / 200)
    assert any(f"({ratio:.2f} times lower at 205M samples)" in text for text in REGISTRY.base("gonn-b5").inferred)


@pytest.mark.parametrize(
    "base, budget",
    [
        ("gonn-b12", "paper"),
        *((base, budget) for base in ("gonn-b12", "gonn-b5") for budget in ("smoke", "cpu", "gpu")),
    ],
)
def test_the_second_loss_begins_half_way_with_a_rate_of_its_own(base, budget):
    arms = resolve(REGISTRY, "l2_policy_loss", budget, base=base)
    off, on = arms.off.training, arms.on.training
    assert off.loss == "cross_entropy" and 2 * on.loss_from == on.samples == off.samples
    last = on.loss_from - 1
    assert learning_rate(on, last) == learning_rate(off, last)
    assert learning_rate(on, on.loss_from) == on.loss_rate_factor * learning_rate(off, on.loss_from)
    assert on.loss_rate_factor > 1
