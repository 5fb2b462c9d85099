"""Arms with the same seed start equal wherever both have the same."""

import torch

from tests.nets.examples import TINY, changed, weights


def assert_equal_but_for(first, second, different=()):
    """Parameters of the same name are equal, except those named, which do differ."""
    for name in first.keys() & second.keys():
        assert torch.equal(first[name], second[name]) == (name not in different), name


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


def test_relu_before_the_last_convolution_keeps_its_half():
    both, plain = weights(TINY), weights(changed(TINY, head={"activation": "relu"}))
    assert torch.equal(plain.pop("head.out"), both.pop("head.out")[:, :4])
    assert_equal_but_for(both, plain)
