"""The sampler is a pure function, its epochs are permutations, its draws have the published frequencies."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.records.sampler import GONN_KEEP, Sampler, draws, keep_for_rows, permuted, stream_key


def view(n, digest="0123456789abcdef0123"):
    return SimpleNamespace(rows=(np.arange(n) * 3 + 1).astype(np.uint32), digest=digest)


def permute(positions, n, *key):
    return np.array([permuted(stream_key(*key), n, position) for position in positions])


@given(n=st.integers(1, 3000), seed=st.integers(0, 2**40))
@settings(max_examples=50)
def test_permutation_is_a_bijection_for_every_n(n, seed):
    images = permute(np.arange(n), n, "test", seed)
    assert np.array_equal(np.sort(images), np.arange(n))


def test_permutation_sends_each_position_everywhere():
    n, trials = 10, 4000
    counts = np.zeros((n, n))
    for seed in range(trials):
        counts[np.arange(n), permute(np.arange(n), n, seed)] += 1
    expected = trials / n
    assert ((counts - expected) ** 2 / expected).sum() < 130  # chi-square with 81 degrees of freedom: p = 0.0005


def test_an_epoch_holds_each_position_once_and_the_next_has_another_order():
    sampler = Sampler(view(1000), 50, 7)
    first = np.concatenate([sampler.batch(k).rows for k in range(20)])
    second = np.concatenate([sampler.batch(k).rows for k in range(20, 40)])
    assert np.array_equal(np.sort(first), view(1000).rows) and np.array_equal(np.sort(second), view(1000).rows)
    assert not np.array_equal(first, second)


def test_samples_do_not_depend_on_how_they_are_cut_into_batches():
    config = ("epochs", "sample", GONN_KEEP)
    small, large = Sampler(view(500), 10, 3, *config), Sampler(view(500), 40, 3, *config)
    for a, b in zip(zip(*[small.batch(k) for k in range(4)], strict=True), large.batch(0), strict=True):
        assert np.array_equal(np.concatenate(a), b)


def test_frozen_history_is_a_matter_of_row_and_seed_alone():
    """What GoNN's data files did: a row keeps what was drawn for it in every epoch, batch and view."""

    def kept(n, epochs, batch_size=50, seed=7, digest="0" * 20, frozen=True, sampling="epochs"):
        sampler = Sampler(view(n, digest), batch_size, seed, sampling, "sample", GONN_KEEP, frozen)
        batches = [sampler.batch(k) for k in range(epochs * n // batch_size)]
        return [np.concatenate(part) for part in zip(*batches, strict=True)]

    def by_row(rows, keep):
        return {row: set(keep[rows == row].tolist()) for row in np.unique(rows).tolist()}

    rows, symmetries, keep = kept(600, 10)
    drawn = by_row(rows, keep)
    assert all(len(kept) == 1 for kept in drawn.values())
    for other in (kept(600, 2, batch_size=40, digest="f" * 20), kept(300, 3), kept(600, 10, sampling="replacement")):
        assert all(drawn[row] == kept for row, kept in by_row(other[0], other[2]).items())
    assert by_row(*kept(600, 1, seed=8)[::2]) != drawn
    redrawn = kept(600, 10, frozen=False)  # order and symmetries are those of redrawn history
    assert np.array_equal(rows, redrawn[0]) and np.array_equal(symmetries, redrawn[1])
    assert np.mean([len(kept) == 1 for kept in by_row(redrawn[0], redrawn[2]).values()]) < 0.2


def test_a_batch_depends_on_seed_number_and_view_only():
    config = ("epochs", "sample", GONN_KEEP)
    reference = Sampler(view(400), 64, 5, *config).batch(9)
    sampler = Sampler(view(400), 64, 5, *config)
    with ThreadPoolExecutor(4) as pool:  # in any order, by any thread
        by_thread = dict(zip(range(40), pool.map(sampler.batch, range(40)), strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(reference, by_thread[9], strict=True))
    for other in (
        Sampler(view(400), 64, 6, *config).batch(9),
        Sampler(view(400), 64, 5, *config).batch(10),
        Sampler(view(400, "f" * 20), 64, 5, *config).batch(9),
    ):
        assert not np.array_equal(reference.rows, other.rows)


def test_golden_batch():
    """The data order of every finished trial: when these change, raise gonn_core.numerics.FEATURES."""
    batch = Sampler(view(1_000_000), 6, 11, "epochs", "sample", GONN_KEEP).batch(3)
    rows = [1934983, 2822608, 1503418, 310006, 1551958, 2022163]
    assert [part.tolist() for part in batch] == [rows, [3, 2, 2, 3, 1, 5], [5, 5, 5, 1, 5, 5]]


def test_turning_one_draw_off_leaves_the_others():
    full = Sampler(view(300), 32, 1, "epochs", "sample", GONN_KEEP).batch(2)
    plain = Sampler(view(300), 32, 1, augmentation="none").batch(2)
    assert np.array_equal(full.rows, plain.rows)
    assert not plain.symmetries.any() and (plain.keep == 5).all()
    assert np.array_equal(full.keep, Sampler(view(300), 32, 1, history_keep=GONN_KEEP).batch(2).keep)


@pytest.mark.parametrize("source", ["sampler", "frozen", "rows"])
def test_history_is_kept_with_the_published_frequencies(source):
    """spec: GoNN 1.3: marginal keep probabilities .900 .855 .812 .796 .780."""
    n = 200_000
    if source != "rows":
        keep = Sampler(view(n), n, 4, history_keep=GONN_KEEP, history_frozen=source == "frozen").batch(0).keep
    else:
        keep = keep_for_rows(np.arange(n) + 12345, 4, GONN_KEEP)
    marginals = [(keep >= i).mean() for i in range(1, 6)]
    assert np.allclose(marginals, [0.900, 0.855, 0.81225, 0.796, 0.780], atol=0.003)


def test_plain_draws_equal_kernel_draws():
    key = stream_key("symmetry", 3, "x")
    batch_symmetries = Sampler(view(9, "x"), 64, 3, augmentation="sample").batch(0).symmetries
    assert np.array_equal(draws(key, np.arange(64)) >> np.uint64(61), batch_symmetries)


@pytest.mark.parametrize(
    "bad",
    [{"sampling": "shuffle"}, {"augmentation": "yes"}, {"history_keep": (1.5,)}, {"batch_size": 0}, {"data_seed": -1}],
)
def test_bad_settings_are_refused(bad):
    with pytest.raises(ValueError):
        Sampler(**{"view": view(5), "batch_size": 4, "data_seed": 1, **bad})
