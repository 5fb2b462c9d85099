"""Initial draws: distribution, stability, and what the published initialisation says of them (spec: GoNN 2.6)."""

import hashlib

import numpy as np
import pytest
import torch
from scipy.special import ndtr, ndtri

from gonn_core import numerics
from gonn_core.nets.init import Draws, truncated_normal
from tests.nets.examples import B5, TINY, changed, weights

TRUNCATED_STD = 0.87962566

GOLDEN_START = {1: "433cac27cf1fce0305400db6d753eba4408b753201e62b8eaafd0990734bc586"}


def rms(values) -> float:
    return float(torch.as_tensor(values).double().square().mean().sqrt())


def sigma(fan_in: int) -> float:
    return (2 / fan_in) ** 0.5


def test_truncated_normal_is_the_inverse_distribution_function():
    uniform = np.linspace(0, 1, 100_001)
    expected = ndtri(ndtr(-2) + uniform * (ndtr(2) - ndtr(-2)))
    assert np.abs(truncated_normal(uniform) - expected).max() < 1e-9


def test_a_draw_depends_on_seed_name_and_part_alone():
    first = Draws(1).he("kernel", (8, 8), 9)
    assert (first == Draws(1).he("kernel", (8, 8), 9)).all()
    for other in (
        Draws(2).he("kernel", (8, 8), 9),
        Draws(1).he("kernel2", (8, 8), 9),
        Draws(1).he("kernel", (8, 8), 9, "part"),
    ):
        assert not (first == other).any()


def test_rows_do_not_depend_on_how_many_follow():
    long = Draws(0).he("kernel", (5000, 9), 9)
    assert (long[:7] == Draws(0).he("kernel", (7, 9), 9)).all()


@pytest.fixture(scope="module")
def b5():
    return weights(B5)


def test_stem_kernel_and_its_centre(b5):
    kernel, center = b5["stem.kernel"], b5["stem.center"]
    assert rms(kernel) == pytest.approx(TRUNCATED_STD * sigma(26 * 25), rel=0.01)
    assert rms(center) == pytest.approx(0.3 * TRUNCATED_STD * sigma(26), rel=0.03)
    assert rms(kernel[:, :, 2, 2] + center[:, :, 0, 0]) == pytest.approx(
        3.25**0.5 * TRUNCATED_STD * sigma(26 * 25), rel=0.03
    )


@pytest.mark.parametrize("name", ["blocks.1.conv1", "blocks.3.conv1", "blocks.5.conv2"])
def test_block_kernels_have_a_stronger_centre(b5, name):
    kernel = b5[name]
    ring = torch.cat([kernel.flatten(2)[:, :, :4], kernel.flatten(2)[:, :, 5:]], 2)
    assert rms(ring) == pytest.approx(0.0299, abs=0.0002)  # the figure in the table of learned weights (spec: GoNN 6)
    assert rms(kernel[:, :, 1, 1]) / rms(ring) == pytest.approx(1.345, rel=0.01)


def test_norms_and_slopes_start_at_constants():
    for name, values in weights(changed(TINY, prelu_init=0.25)).items():
        expected = {"gamma": 1.0, "beta": 0.0, "slopes": 0.25, "slopes1": 0.25, "slopes2": 0.25}.get(
            name.rpartition(".")[2]
        )
        assert expected is None or (values == expected).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_golden_initial_weights(threads):
    """Bit for bit on every machine and thread count. A change here is a new `numerics.NETS`."""
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        digest = hashlib.sha256()
        for name, values in weights(
            changed(TINY, trunk={"global_pooling": True}, head={"pooling": "mean_max_stdev"}), init_seed=7
        ).items():
            digest.update(name.encode() + values.numpy().astype("<f4").tobytes())
    finally:
        torch.set_num_threads(before)
    assert digest.hexdigest() == GOLDEN_START[numerics.NETS]
