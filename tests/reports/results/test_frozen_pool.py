"""The seed noise that a complete study goes on to be judged with: kept as it was, read with suspicion."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from reports.results.frozen_pool import NOISE_FILE, judged_with, read_pool, write_pool
from reports.results.seed_pool import PriorNoise
from reports.stats.seed_noise import Differences

NOISE = PriorNoise(
    {"ko_plane of other": Differences({1: -0.0123, 4: 0.1 + 0.2}, {"a": 1.0, "b": -1.0})}, 1.25e-6, ("other",)
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
DIFFERENCES = st.builds(
    Differences,
    st.dictionaries(st.integers(0, 99), NUMBERS, min_size=1, max_size=4),
    st.dictionaries(st.text("abc123", min_size=1), NUMBERS, min_size=2, max_size=4),
)


@given(st.dictionaries(st.text("xyz ", min_size=1), DIFFERENCES, max_size=3), st.none() | NUMBERS)
def test_what_is_kept_is_read_to_the_last_digit(tmp_path_factory, differences, variance):
    folder = tmp_path_factory.mktemp("kept")
    write_pool(folder, PriorNoise(differences, variance, ("one", "two")), "2026-01-02T03:04:05+00:00", "abc")
    found = read_pool(folder)
    assert (found.differences, found.evaluation_variance, found.studies) == (differences, variance, ("one", "two"))
    assert found.since == "2026-01-02T03:04:05+00:00"


def test_without_a_file_it_is_todays_and_with_one_todays_stands_beside_it(tmp_path):
    today = replace(NOISE, studies=("today",))
    assert judged_with(tmp_path, today) is today and read_pool(tmp_path) is None
    write_pool(tmp_path, NOISE, "then", "abc")
    found = judged_with(tmp_path, today)
    assert found.studies == ("other",) and found.today is today and found.differences == NOISE.differences


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 2}, "of format 2"),
        ({"differences": None}, "damaged"),
        ({"differences": {"x": {}}}, "damaged .*weights|damaged .*by_seed"),
        ({"differences": {"x": {"weights": {"a": 1, "b": -1}, "by_seed": {"1": "NaN"}}}}, "no finite number"),
        ({"differences": {"x": {"weights": {"a": 1, "b": -1}, "by_seed": {"one": 0.1}}}}, "damaged"),
        ({"differences": {"x": {"weights": {"a": 1, "b": -1}, "by_seed": {}}}}, "without arms or seeds"),
        ({"evaluation_variance": [1]}, "damaged"),
        ({"studies": 3}, "damaged"),
        ({"when": 3}, "damaged"),
    ],
)
def test_a_damaged_file_is_one_line_that_says_what_to_do(tmp_path, change, message):
    write_pool(tmp_path, NOISE, "then", "abc")
    path = tmp_path / NOISE_FILE
    path.write_text(json.dumps({**read_json(path), **change}))
    with pytest.raises(InputError, match=message) as caught:
        read_pool(tmp_path)
    assert "\n" not in str(caught.value) and NOISE_FILE in str(caught.value)
    for text in ("", "[]", "{", '{"format": 1}'):
        path.write_text(text)
        with pytest.raises(InputError):
            read_pool(tmp_path)
