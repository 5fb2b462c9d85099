"""The comparison of committed pages: last digits may differ, nothing else."""

import io

import numpy as np
import pytest
from matplotlib.image import imsave

from tests.reports.same_text import same_csv, same_picture, same_text


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("a −0.12345 [1,234]", "a −0.12346 [1,234]", True),
        ("46.2 %, 1,234.5", "46.3 %, 1,234.6", True),
        ("1.5e-05", "1.6e-05", True),
        ("−0.1234", "−0.1236", False),
        ("81,548", "81,549", False),
        ("1.5e-05", "1.5e-04", False),
        ("helps 0.1", "hurts 0.1", False),
    ],
)
def test_texts(one, other, same):
    assert same_text(one, other) is same_text(other, one) is same


@pytest.mark.parametrize(
    "one, other, same",
    [
        ("616.815", "616.816", True),
        ("0", "1.1e-16", True),
        ("0.5,a 1.25 b", "0.5,a 1.26 b", True),
        ("616.815", "616.817", False),
        ("0.285", "0.28501", False),
        ("3597792", "3597793", False),
        ("1", "", False),
        ("0.1", "-0.1", False),
        ("1,2", "1", False),
    ],
)
def test_cells(one, other, same):
    assert same_csv(f"x,{one}\n", f"x,{other}\n") is same_csv(f"x,{other}\n", f"x,{one}\n") is same


def test_pictures_may_differ_in_shades_and_single_pixels():
    values = np.random.default_rng(0).random((50, 60, 4))
    shade, pixel, line = values.copy(), values.copy(), values.copy()
    shade[:, :, 0] = np.clip(shade[:, :, 0] + 0.01, 0, 1)
    pixel[3, 4, :3] = 1 - np.round(pixel[3, 4, :3])
    line[7, :, :3] = 1 - np.round(line[7, :, :3])
    kept, *others = (picture(one) for one in (values, shade, pixel, line, values[:40]))
    assert [same_picture(other, kept) for other in others] == [True, True, False, False]


def picture(values) -> bytes:
    buffer = io.BytesIO()
    imsave(buffer, values, format="png")
    return buffer.getvalue()
