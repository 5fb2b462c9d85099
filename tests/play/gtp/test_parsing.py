"""Lines of a controller -> commands: numbers, comments, control characters, bounds; words -> colours, points,
numbers."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, point, point_name
from gonn_core.play.gtp.protocol import (
    LONGEST_LINE,
    GtpCommand,
    GtpError,
    colour,
    number,
    parse_line,
    read_commands,
    vertex,
    whole,
)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (b"name\n", GtpCommand("", "name", [])),
        (b"12 play b Q16\n", GtpCommand("12", "play", ["b", "Q16"])),
        (b"  7\tplay \t w  pass  # nothing to gain\r\n", GtpCommand("7", "play", ["w", "pass"])),
        (b"na\x00me\x07\x7f\n", GtpCommand("", "name", [])),
        (b"12name\n", GtpCommand("", "12name", [])),
        (b"007 name\n", GtpCommand("007", "name", [])),
        (b"echo \xe9\xa0\x85x\n", GtpCommand("", "echo", ["\xe9\xa0\x85x"])),
        (b"\n", None),
        (b" \t \r\n", None),
        (b"# a comment\n", None),
    ],
)
def test_a_line_is_a_command(line, command):
    assert parse_line(line) == command


@pytest.mark.parametrize(
    ("line", "number", "problem"),
    [
        (b"12\n", "12", "command missing"),
        (b"2147483648 name\n", "", "identity numbers end"),
        (b"9" * 5000 + b" name\n", "", "identity numbers end"),
    ],
)
def test_what_is_no_command_says_so(line, number, problem):
    command = parse_line(line)
    assert (command.id, command.name) == (number, "") and problem in command.problem


def test_a_line_that_is_too_long_is_one_error_and_the_next_is_read():
    stream = io.BytesIO(b"3 play " + b"x" * 3 * LONGEST_LINE + b"\nname\n")
    first, second = read_commands(stream)
    assert first.id == "3" and "lines end at" in first.problem
    assert second == GtpCommand("", "name", [])


def test_only_a_comment_may_be_longer():
    command, blank, end = read_commands(
        io.BytesIO(b"name # " + b"x" * 2 * LONGEST_LINE + b"\n#" + b"y" * 2 * LONGEST_LINE + b"\nquit")
    )
    assert command == GtpCommand("", "name", []) and blank is None and end == GtpCommand("", "quit", [])


def test_a_line_of_the_greatest_length_is_taken():
    line = b"name " + b"x" * (LONGEST_LINE - 6) + b"\n"
    assert len(line) == LONGEST_LINE
    (command,) = read_commands(io.BytesIO(line))
    assert command.problem is None and command.name == "name"


@settings(max_examples=40)
@given(st.binary(max_size=300))
def test_any_bytes_are_one_command_a_line(data):
    commands = list(read_commands(io.BytesIO(data)))
    assert len(commands) == len(data.split(b"\n")) - data.endswith(b"\n") - (data == b"")
    for command in commands:
        assert command is None or bool(command.name) != bool(command.problem)


def test_colours_and_vertices():
    assert [colour(word) for word in ("b", "B", "black", "w", "WHITE")] == [BLACK, BLACK, BLACK, WHITE, WHITE]
    assert [vertex(word) for word in ("pass", "PASS", "q16", "T1")] == [PASS, PASS, point("Q16"), POINTS - 1]
    for p in range(POINTS):
        assert vertex(point_name(p)) == vertex(point_name(p).lower()) == p


@pytest.mark.parametrize("word", ["", "-1", "1.5", "2147483648", "9" * 5000, "\u00b2", "0x13"])
def test_bad_whole_numbers(word):
    with pytest.raises(GtpError, match="syntax error"):
        whole(word)


@pytest.mark.parametrize("word", ["", "nan", "inf", "-Infinity", "1e999", "1_0", "7,5", "--1", "1e", "\u00b2"])
def test_bad_numbers(word):
    with pytest.raises(GtpError, match="syntax error"):
        number(word)
