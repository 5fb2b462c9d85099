"""What is said while a store is built and while archives come."""

import sys

from gonn_core.records.build import Progress
from orchestration.data.prepare import BuildProgress
from orchestration.data.verbs import DownloadProgress
from tests.orchestration.terminals import Terminal

HALF = Progress("a\x1b.tar", 0, 2, 0.5, 1200, 250_000, 10.0)
HALF_LINE = "a\\x1b.tar (1 of 2), 1,200 games, 250,000 positions, 50 %, 10 s left"


def test_a_quick_build_says_nothing(capsys):
    with BuildProgress() as progress:
        progress(HALF)
    assert capsys.readouterr() == ("", "")
    assert [bar.text for bar in progress.bars()] == [HALF_LINE]


def test_a_terminal_shows_how_much_of_the_files_is_read_and_nothing_afterwards(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with BuildProgress() as progress:
        progress(HALF)
    store = terminal.drawn()[-1]
    assert store.startswith("store ") and store.endswith(f" {HALF_LINE}")
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")  # up to the bar, and gone


def test_a_download_that_is_done_is_a_line(capsys):
    with DownloadProgress() as progress:
        progress("KGS-2015.tar", 1_000_000, 2_500_000)
        progress("KGS-2015.tar", 2_500_000, 2_500_000)
    assert capsys.readouterr() == ("", "KGS-2015.tar: 2.5 of 2.5 MB\n")


def test_a_terminal_shows_the_download_and_keeps_its_last_line(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with DownloadProgress() as progress:
        progress("KGS-2015.tar", 1_000_000, 0)
        progress("KGS-2015.tar", 2_500_000, 2_500_000)
    assert "KGS-2015.tar: 2.5 of 2.5 MB" in terminal.drawn()
