"""Analysis for Sabaki, Lizzie and others: the fields that their readers demand, and no win rate that nobody knows."""

import io
import os
import threading

import numpy as np
import pytest

from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, point
from gonn_core.play.gtp.analysis import kata_info, leela_info, parse_asked, sabaki_info, variations
from gonn_core.play.gtp.commands import command_table
from gonn_core.play.gtp.protocol import GtpError, serve
from tests.play.gtp.board import FixedPlayer, probabilities, send, session

PREFIXES = ["", "lz-", "kata-"]


def words(line: str) -> list[str]:
    return line.split()


def read(line: str) -> list[dict[str, str]]:
    """A line as controllers read it: what stands behind each `info`, in pairs up to `pv`."""
    moves = []
    for part in line.split("info ")[1:]:
        pairs, _, pv = part.strip().partition(" pv ")
        words = pairs.split()
        moves.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": pv})
    return moves


@pytest.mark.parametrize(
    "info, first",
    [
        (sabaki_info, "info move Q16 visits 640 winrate 0.5000 prior 0.6400 order 0 pv Q16 "),
        (leela_info, "info move Q16 visits 640 winrate 5000 prior 6400 lcb 5000 order 0 pv Q16 "),
        (kata_info, "info move Q16 visits 640 winrate 0.5 prior 0.640000 lcb 0.5 order 0 pv Q16 "),
    ],
)
def test_the_policy_is_the_prior_and_never_the_win_rate(info, first):
    line = variations(probabilities(Q16=0.64, D4=0.25, K10=0.0012), info)
    assert line.startswith(first)
    moves = read(line)
    assert [(each["move"], each["order"], each["pv"]) for each in moves] == [
        ("Q16", "0", "Q16"),
        ("D4", "1", "D4"),
        ("K10", "2", "K10"),
    ]
    assert [each["visits"] for each in moves] == ["640", "250", "1"] and len({each["winrate"] for each in moves}) == 1


def test_where_no_move_is_legal_there_is_a_pass():
    (move,) = read(variations(np.full(POINTS, -1.0), leela_info, least=5))
    assert (move["move"], move["pv"], move["prior"]) == ("pass", "pass", "0")


def test_how_many_moves_are_listed():
    shares = probabilities(Q16=0.6, D4=0.3996)
    assert len(read(variations(shares, kata_info))) == 2
    assert (
        len(read(variations(shares, kata_info, least=5))) == 5 and len(read(variations(shares, kata_info, most=1))) == 1
    )


@pytest.mark.parametrize("prefix", PREFIXES)
def test_analysis_leaves_illegal_moves_out_and_stays_open(prefix):
    here = session(FixedPlayer(["Q16", "D4"]))
    held, name = send(["play b Q16", f"3 {prefix}analyze w 50", "name"], here)[1:]
    assert held.startswith("=3\ninfo move D4 ") and "move Q16" not in held and name == "= gonn"
    assert len(here.game) == 1


@pytest.mark.parametrize(
    "words", ["", "b", "100", "b 100", "B interval 100", "interval 0", "0.5", "minmoves 2 maxmoves 9"]
)
def test_analysis_is_asked_for_in_every_way_that_there_is(words):
    assert send(f"lz-analyze {words}")[0].startswith("=\ninfo move Q16 ")


@pytest.mark.parametrize(
    "asked",
    ["often", "b often", "b 50 interval", "interval -1", "b allow", "ownership maybe", "minmoves x", "b avoid w Z9 1"],
)
def test_what_is_no_way_to_ask_is_an_error(asked):
    with pytest.raises(GtpError):
        parse_asked(asked.split(), BLACK)
    assert send(f"kata-analyze {asked}")[0].startswith("? ")


def test_moves_may_be_left_out_or_chosen():
    assert parse_asked([], WHITE).colour == WHITE and parse_asked(["b"], WHITE).colour == BLACK
    asked = parse_asked(words("w 50 ownership true avoid w D4,pass 1 avoid b Q16 1"), BLACK)
    assert (asked.colour, asked.seconds, asked.barred) == (WHITE, 0.5, {point("D4"), PASS})
    assert parse_asked(["10"], BLACK).seconds == 0.1 == parse_asked(["1"], BLACK).seconds
    assert [each["move"] for each in read(send("kata-analyze b avoid b Q16,D4 1")[0])][:2] == ["Q4", "D16"]
    assert [each["move"] for each in read(send("kata-analyze b allow b D4,A1 1 minmoves 9")[0])] == ["D4", "A1"]


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_move_is_generated_with_its_analysis(prefix):
    here = session()
    answer, name = send([f"5 {prefix}genmove_analyze b 50", "name"], here)
    first, info, play = answer.split("\n")
    assert (first, play, name) == ("=5", "play Q16", "= gonn") and read(info)[0]["move"] == "Q16"
    assert here.game.moves == [(BLACK, point("Q16"))]


def test_an_analysis_comes_again_until_something_is_sent():
    into, out = os.pipe(), os.pipe()
    with (
        open(into[0], "rb") as commands,
        open(into[1], "wb", buffering=0) as send_to,
        open(out[0], "rb") as heard,
        open(out[1], "wb") as answers,
    ):
        engine = threading.Thread(target=serve, args=(commands, answers, command_table(session(), "gonn", "test")))
        engine.start()
        send_to.write(b"1 lz-analyze b 1\n")
        lines = [heard.readline() for _ in range(4)]
        assert lines[0] == b"=1\n" and lines[1].startswith(b"info move Q16 ") and len(set(lines[1:])) == 1
        send_to.write(b"\n")
        while (line := heard.readline()) == lines[1]:
            pass
        assert line == b"\n"
        send_to.write(b"2 kata-analyze interval 1\n3 name\nquit\n")
        rest = []
        while (line := heard.readline()) != b"=3 gonn\n":
            rest.append(line)
        assert rest[0] == b"=2\n" and rest[-1] == b"\n" and len(set(rest[1:-1])) == 1
        engine.join()


class Gone(io.BytesIO):
    """A controller that leaves after the first answer."""

    def write(self, data):
        if self.getvalue():
            raise BrokenPipeError
        return super().write(data)


def test_a_controller_that_leaves_during_analysis_ends_the_engine_quietly():
    serve(io.BytesIO(b"lz-analyze b 1\nname\n"), Gone(), command_table(session(), "gonn", "test"))


def test_the_raw_policy_has_a_row_of_the_board_a_line():
    here = session(player := FixedPlayer(["Q16", "D4"]))
    _, answer = send(["play b Q16", "kata-raw-nn 3"], here)
    first, head, *rows = answer.split("\n")
    assert (first, head) == ("= symmetry 3", "policy") and len(rows) == 19 and player.symmetries == [3]
    values = np.array([[float(word) for word in row.split()] for row in rows]).ravel()
    assert values.shape == (POINTS,) and np.flatnonzero(np.isnan(values)).tolist() == [point("Q16")]
    assert values[point("D4")] == pytest.approx(player.policies([0])[0, point("D4")], abs=1e-6)
    assert send("kata-raw-nn all")[0].count("policy") == 8
    assert send(["kata-raw-nn 8", "kata-raw-nn", "kata-raw-nn x"])[0] == "? symmetries are 0 to 7, or all"
