"""Arms with the same seed start equal wherever both have the same."""

import pytest
import torch

from gonn_core.config import FeatureConfig, TrainingConfig, TrialConfig
from gonn_core.features.gonn import PLANE_NAMES
from gonn_core.nets.cost import equal_start_share
from tests.nets.examples import SPECIAL, TINY, changed, weights

GLOBAL = changed(TINY, trunk={"global_pooling": True})


def assert_equal_but_for(first, second, different=()):
    """Parameters of the same name are equal, except those named, which do differ."""
    for name in first.keys() & second.keys():
        assert torch.equal(first[name], second[name]) == (name not in different), name


def test_another_seed_is_another_start():
    first, second = (TrialConfig(net=TINY, training=TrainingConfig(init_seed=seed)) for seed in (0, 1))
    assert equal_start_share(first, second) < 0.1  # what starts at a constant


def test_stdev_pooling_adds_columns():
    two, three = weights(TINY), weights(changed(TINY, head={"pooling": "mean_max_stdev"}))
    assert torch.equal(three["head.pooled.matrix"][:, :8], two["head.pooled.matrix"])
    del two["head.pooled.matrix"]
    assert_equal_but_for(two, three)


def test_one_statistic_keeps_its_columns():
    both = weights(TINY)["head.pooled.matrix"]
    for pooling, columns in (("mean", slice(4)), ("max", slice(4, 8))):
        one = weights(changed(TINY, head={"pooling": pooling}))
        assert torch.equal(one.pop("head.pooled.matrix"), both[:, columns])
        assert_equal_but_for(one, weights(TINY))


def test_deleted_channels_leave_the_others_as_they_were():
    plain = weights(changed(TINY, trunk={"dilations": ()}))
    less = weights(changed(TINY, trunk={"dilations": (), "deleted_channels": True}))
    assert plain.keys() == less.keys()
    for name in [name for name in less if name.startswith("blocks.") and less[name].shape != plain[name].shape]:
        kept = plain[name][:, :8] if name.endswith("conv2") else plain[name][:8]
        assert name[7] in "2345" and torch.equal(less.pop(name), kept)
    assert_equal_but_for(less, plain)


def test_a_plain_trunk_begins_as_a_residual_one_of_its_width():
    """Its first convolutions are the first ones of the blocks."""
    plain = weights(changed(TINY, trunk={"order": "plain", "dilations": ()}))
    assert "blocks.1.conv2" not in plain
    assert_equal_but_for(plain, weights(TINY))


def test_a_global_block_keeps_its_first_kernel():
    plain, pooled = weights(TINY), weights(GLOBAL)
    assert torch.equal(plain["blocks.3.conv1"], pooled["blocks.3.conv1"])
    rest = {name for name in plain if not name.startswith("blocks.3.")}
    assert_equal_but_for({name: plain[name] for name in rest}, pooled)


def test_center_init_adds_to_the_same_base():
    plain, strong = weights(changed(TINY, trunk={"center_init": 0.0})), weights(TINY)
    kernels = {name for name in plain if name.startswith("blocks.") and "conv" in name}
    assert_equal_but_for(plain, strong, different=kernels)
    ring = torch.ones(3, 3, dtype=torch.bool)
    ring[1, 1] = False
    twice = weights(changed(TINY, trunk={"center_init": 0.6}))
    for name in kernels:
        assert torch.equal(plain[name][:, :, ring], strong[name][:, :, ring])
        added = strong[name] - plain[name]
        assert (added[:, :, 1, 1] != 0).all()
        torch.testing.assert_close(twice[name] - plain[name], 2 * added, rtol=1e-3, atol=1e-6)


def test_a_planes_weights_do_not_depend_on_the_other_planes():
    full = weights(TINY)
    kept = [name for name in PLANE_NAMES if not name.startswith(("ladder", "own_liberties"))]
    fewer = weights(TINY, kept[::-1])
    for name in ("stem.kernel", "stem.center"):
        assert torch.equal(fewer[name], full[name][:, [PLANE_NAMES.index(plane) for plane in kept[::-1]]])


def test_inserted_blocks_start_alike_beside_others():
    """Whatever else is inserted, and however deep the net."""
    alone = weights(changed(TINY, trunk={"chain_pooling": 1, "blocks": 3}))
    assert_equal_but_for(alone, weights(SPECIAL))
    assert {name for name in alone if name.startswith("inserted.")} <= set(weights(SPECIAL))


def test_relu_before_the_last_convolution_keeps_its_half():
    both, plain = weights(TINY), weights(changed(TINY, head={"activation": "relu"}))
    assert torch.equal(plain.pop("head.out"), both.pop("head.out")[:, :4])
    assert_equal_but_for(both, plain)


def trial(net, **features):
    return TrialConfig(net=net, features=FeatureConfig(**features))


def test_share_of_equal_arms():
    assert equal_start_share(trial(TINY), trial(TINY)) == 1.0
    assert equal_start_share(trial(TINY), trial(changed(TINY, trunk={"dilations": ()}))) == 1.0


def test_share_counts_the_larger_arm():
    total = sum(values.numel() for values in weights(TINY).values())
    slopes = sum(values.numel() for name, values in weights(TINY).items() if "slopes" in name)
    for arms in ((TINY, changed(TINY, activation="relu")), (changed(TINY, activation="relu"), TINY)):
        assert equal_start_share(*map(trial, arms)) == pytest.approx((total - slopes) / total)


def test_share_without_some_planes():
    total = sum(values.numel() for values in weights(TINY).values())
    missing = 3 * 12 * 26  # three ladder planes, width 12, 25 taps and the centre kernel
    assert equal_start_share(trial(TINY), trial(TINY, ladders=False)) == pytest.approx((total - missing) / total)


def test_share_with_wider_matrix():
    larger = changed(TINY, head={"pooling": "mean_max_stdev"})
    total = sum(values.numel() for values in weights(larger).values())
    assert equal_start_share(trial(TINY), trial(larger)) == pytest.approx((total - 16) / total)
