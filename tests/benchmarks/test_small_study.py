"""`python -m benchmarks.small_study`: a command in a terminal of its own, its table, and a round of it."""

import os
import sys

import pytest

from benchmarks.small_study import on_terminal, print_table

SILENCE = 0.5


def test_a_command_sees_a_terminal_and_is_watched():
    code = f"import sys, time; assert sys.stdout.isatty(); print('one'); time.sleep({SILENCE}); print('two')"
    watched = on_terminal([sys.executable, "-u", "-c", code], os.environ)
    assert 0 < watched.first < watched.seconds and SILENCE <= watched.longest < watched.seconds


def test_a_command_that_fails_is_told_with_its_last_words():
    with pytest.raises(RuntimeError, match=r"ended with 3:\s+out of order"):
        on_terminal([sys.executable, "-c", "print('out of order'); raise SystemExit(3)"], os.environ)


def test_medians_and_ranges_by_runner(capsys):
    print_table({"ray": [{"all of it": 3.0}, {"all of it": 1.0}, {"all of it": 2.0}], "local": [{"all of it": 1.5}]})
    head, line = capsys.readouterr().out.splitlines()
    assert head.split() == ["seconds", "ray", "local"]
    assert line.split() == ["all", "of", "it", "2.00", "[1.00..3.00]", "1.50", "[1.50..1.50]"]
