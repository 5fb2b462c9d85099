"""No file makes the readers work longer than its length asks for: eight times the bytes cost about eight times the
processor time, never sixty-four times."""

import gzip
import io
import lzma
import time

import pytest

from gonn_core.records.archives import ArchiveReading
from gonn_core.records.archives import tar as tar_archives
from gonn_core.records.archives.members import read_members
from gonn_core.records.sgf import (
    MAX_NODES,
    game_texts,
    has_too_many_nodes,
    parse_komi,
    parse_rank,
    parse_result,
    parse_year,
    read_games,
    without_utf16,
)
from tests.records.sgf_tools import numbered_game, tar_bytes

NODES = b"(;" + b";" * (MAX_NODES + 1)
GROWTH, MOST = 8, 24
"""How much longer the second input is, and the ratio of times that is still no square: 64 would be one."""


def seconds(work, data: bytes) -> float:
    """Processor time of `work` on `data`, the least of three."""
    taken = []
    for _ in range(3):
        before = time.process_time()
        work(data)
        taken.append(time.process_time() - before)
    return min(taken)


def assert_linear(work, text, n: int) -> None:
    """`text(n)` is an input of length n or so; work that is too short to be told from nothing is made longer."""
    while (short := seconds(work, text(n))) < 0.0005 and n < 1 << 20:
        n *= 4
    assert seconds(work, text(GROWTH * n)) < MOST * max(short, 0.0005)


VALUES = {
    "unclosed": lambda n: NODES + b"[" * n,
    "unclosed and escaped": lambda n: NODES + b"[\\" * n,
    "unclosed behind a lone backslash": lambda n: NODES + b"[" * n + b"\\",
    "closed": lambda n: NODES + b"[]" * n,
    "escaped ends": lambda n: NODES + b"[" + b"\\]" * n,
}


@pytest.mark.parametrize("kind", VALUES)
def test_values_are_passed_over_in_one_go(kind):
    assert_linear(has_too_many_nodes, VALUES[kind], 2000)


FILES = {
    "unclosed values": lambda n: NODES + b"[" * n,
    "starts of games": lambda n: b"(;" * n,
    "starts far apart": lambda n: b"( " * n + b";",
    "spaces before a node": lambda n: b"(" + b" " * n + b";SZ[19])",
    "empty games": lambda n: b"(;)" * n,
    "names of properties": lambda n: b"(;" + b"A" * n + b"[])",
    "one property again and again": lambda n: b"(;SZ[19]" + b"C[]" * n + b")",
    "variations": lambda n: b"(;SZ[19]" + b"(;B[aa])" * min(n, 9000) + b")",
    "closing brackets": lambda n: b"(;SZ[19]" + b")" * n,
    "rectangles turned over": lambda n: b"(;SZ[19]AB" + b"[ss:aa]" * n + b")",
    "moves in one node": lambda n: b"(;SZ[19];B" + b"[aa]" * n + b")",
    "rank and spaces": lambda n: b"(;SZ[19]PB[]PW[]BR[6d" + b" " * n + b"x])",
    "handicap": lambda n: b"(;SZ[19]HA[" + b" " * n + b"x])",
    "zeros of UTF-16": lambda n: b"\xff\xfe" + b"(\0;\0" + b"[\0" * n,
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_is_read_in_time_that_grows_with_its_length(kind):
    assert_linear(lambda data: list(read_games(data, "kgs", lenient=True)), FILES[kind], 500)


@pytest.mark.parametrize("filler", [b" ", b"9", b"ama", b"(", b"1999", b"B+"])
@pytest.mark.parametrize("start", [b"", b"6d", b"ama", b"B+"])
def test_values_of_the_root_are_read_in_one_go(start, filler):
    def work(data: bytes) -> None:
        parse_rank(data, "kgs"), parse_komi(data), parse_result(data), parse_year(data)

    assert_linear(work, lambda n: start + filler * n + b"x", 2000)


def test_texts_of_games_come_one_after_the_other():
    assert_linear(lambda data: list(game_texts(without_utf16(data))), lambda n: b"(;)(;C[(;])" * n, 500)


def test_an_extended_header_of_tar_is_read_in_one_go():
    def work(data: bytes) -> None:
        assert tar_archives._pax_records(data) == {}

    assert_linear(work, lambda n: b"5 a=\n" * n, 2000)


def test_a_member_that_comes_byte_by_byte_is_gathered_in_one_go(monkeypatch, tmp_path):
    monkeypatch.setattr(tar_archives, "_CHUNK", 1)

    def work(data: bytes) -> None:
        stream = tar_archives._TarStream(tmp_path, io.BytesIO(data), ArchiveReading(), "a.tar")
        assert len(stream.read(len(data))) == len(data)

    assert_linear(work, lambda n: b"x" * n, 500)


@pytest.mark.parametrize("packed", [gzip.compress, lzma.compress])
def test_archives_in_many_small_streams_are_read(packed, tmp_path):
    data = tar_bytes({"a.sgf": numbered_game(1)})
    suffix = {gzip.compress: ".tar.gz", lzma.compress: ".tar.xz"}[packed]
    path = tmp_path / f"parts{suffix}"
    path.write_bytes(b"".join(packed(data[i : i + 7]) for i in range(0, len(data), 7)))
    assert [member.data for member in read_members(path, ArchiveReading())] == [numbered_game(1)]
