"""The line that counts games."""

import io

import pytest

from orchestration.play import progress as play_progress
from orchestration.play.progress import GameCount


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds that a test sets."""
    now = [100.0]
    monkeypatch.setattr(play_progress.time, "monotonic", lambda: now[0])
    return now


def test_plain_lines_come_every_few_seconds(clock):
    stream = io.StringIO()
    with GameCount("match", 10, stream) as count:
        count.step("A 1")
        assert stream.getvalue() == ""
        clock[0] += 6
        count.step("A 2")
        assert stream.getvalue() == "match: 2/10 games, 20.0/min, ETA 0:24, A 2\n"
        clock[0] += 6
        count.tick()  # nothing new: nothing is said
        count.note("game 3 voided")
        clock[0] += 54
        count.tick()  # but once a minute
    lines = stream.getvalue().splitlines()
    assert lines[1:] == [
        "game 3 voided",
        "match: 2/10 games, 1.8/min, ETA 4:24, A 2",
        "match: 2/10 games, 1.8/min, ETA 4:24, A 2",
    ]


def test_a_terminal_has_one_line(clock):
    stream = Terminal()
    with GameCount("match", 3, stream) as count:
        clock[0] += 1
        count.step(games=3)
    assert (
        stream.getvalue().count("\n") == 1
        and stream.getvalue().rstrip("\n").rpartition("\x1b[K")[2] == "match: 3/3 games, 180.0/min, ETA 0:00"
    )


def test_nothing_is_said_when_nothing_was_played(clock):
    stream = io.StringIO()
    with GameCount("match", 3, stream):
        pass
    assert stream.getvalue() == ""
