"""The line that counts games."""

import io

from orchestration.play.match import GameCount


class Clock:
    """Seconds that a test sets."""

    seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_plain_lines_come_every_few_seconds():
    stream, clock = io.StringIO(), Clock()
    with GameCount("match", 10, stream, clock) as count:
        count.step("A 1")
        assert stream.getvalue() == ""
        clock.seconds += 6
        count.step("A 2")
        assert stream.getvalue() == "match: 2/10 games, 20.0/min, ETA 0:24, A 2\n"
        clock.seconds += 6
        count.tick()  # nothing new: nothing is said
        count.note("game 3 voided")
        clock.seconds += 54
        count.tick()  # but once a minute
    lines = stream.getvalue().splitlines()
    assert lines[1:] == [
        "game 3 voided",
        "match: 2/10 games, 1.8/min, ETA 4:24, A 2",
        "match: 2/10 games, 1.8/min, ETA 4:24, A 2",
    ]
