"""The comparison of committed pages: last digits may differ, nothing else."""

import io

import numpy as np
import pytest
from matplotlib.image import imsave

from tests.reports.same_text import same_csv, same_file, same_picture, same_text


@pytest.mark.parametrize(
    "one, other",
    [
        ("a −0.12345 [1,234]", "a −0.12346 [1,234]"),
        ("46.2 %, 1,234.5", "46.3 %, 1,234.6"),
        ("1.5e-05", "1.6e-05"),
    ],
)
def test_numbers_in_text_may_differ_by_one_in_the_last_place(one, other):
    assert same_text(one, other) and same_text(other, one)


@pytest.mark.parametrize(
    "one, other",
    [
        ("a −0.1234", "a −0.1334"),
        ("−0.1234", "−0.1236"),
        ("16 games", "17 games"),
        ("81,548", "81,549"),
        ("1.5e-05", "1.5e-04"),
        ("helps 0.1", "hurts 0.1"),
    ],
)
def test_texts_that_differ(one, other):
    assert not same_text(one, other) and not same_text(other, one)


@pytest.mark.parametrize(
    "one, other",
    [
        ("616.815", "616.816"),
        ("0", "1.1e-16"),
        ("0.5,a 1.25 b", "0.5,a 1.26 b"),
    ],
)
def test_cells_may_differ_by_one_in_the_last_digit(one, other):
    assert same_csv(f"x,{one}\n", f"x,{other}\n") and same_csv(f"x,{other}\n", f"x,{one}\n")


@pytest.mark.parametrize(
    "one, other",
    [
        ("616.815", "616.817"),
        ("0.285", "0.28501"),
        ("3597792", "3597793"),
        ("1", ""),
        ("0.1", "-0.1"),
        ("1,2", "1"),
        ("1e-05", "1.0001e-05"),
    ],
)
def test_cells_that_differ(one, other):
    assert not same_csv(f"x,{one}\n", f"x,{other}\n") and not same_csv(f"x,{other}\n", f"x,{one}\n")


def picture(values) -> bytes:
    buffer = io.BytesIO()
    imsave(buffer, values, format="png")
    return buffer.getvalue()


def test_pictures_may_differ_in_shades_and_single_pixels():
    values = np.random.default_rng(0).random((50, 60, 4))
    shade, pixel, line = values.copy(), values.copy(), values.copy()
    shade[:, :, 0] = np.clip(shade[:, :, 0] + 0.01, 0, 1)
    pixel[3, 4, :3] = 1 - np.round(pixel[3, 4, :3])
    line[7, :, :3] = 1 - np.round(line[7, :, :3])
    kept = picture(values)
    assert same_picture(picture(shade), kept) and same_picture(picture(pixel), kept)
    assert not same_picture(picture(line), kept) and not same_picture(picture(values[:40]), kept)


def test_files_are_compared_by_their_kind():
    assert same_file("x.md", b"0.5", b"0.6") and not same_file("x.csv", b"0.5", b"0.6")
