"""Loader threads: a trial's share of the cores on a GPU, one on a CPU, what a job asks for anywhere."""

import os

import pytest

from gonn_core.training.host import MOST, available_cores, loader_threads


@pytest.mark.parametrize(
    "asked, device, trials, of, expected",
    [
        (None, "cuda", 1, 8, 8),
        (None, "cuda", 3, 8, 2),
        (None, "cuda", 9, 8, 1),
        (None, "cuda", 1, 128, MOST),
        (None, "cpu", 1, 8, 1),
        (1, "cuda", 1, 8, 1),
        (5, "cpu", 1, 8, 5),
    ],
)
def test_the_share_of_the_cores(asked, device, trials, of, expected):
    assert loader_threads(asked, device, trials, of) == expected


@pytest.mark.parametrize(
    "files, expected",
    [
        ({}, 64),
        ({"cpu.max": "max 100000\n"}, 64),
        ({"cpu.max": "400000 100000\n"}, 4),
        ({"cpu.max": "50000 100000\n"}, 1),
        ({"cpu.max": "9900000 100000\n"}, 64),
        ({"cpu.max": "nonsense"}, 64),
    ],
)
def test_a_container_s_share_counts(tmp_path, monkeypatch, files, expected):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)), raising=False)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert available_cores(tmp_path) == expected
