"""Analysis for Sabaki, Lizzie and others: the fields that their readers demand, no win rate; GoGui's pictures."""

import re

import numpy as np
import pytest

from gonn_core.go.points import BLACK, PASS, POINTS, WHITE, point
from gonn_core.play.gtp.analysis import FORMS, heat_map, parse_analysis, variations
from gonn_core.play.gtp.commands import COMMANDS, GOGUI
from gonn_core.play.gtp.protocol import GtpError
from tests.play.gtp.board import FixedPlayer, probabilities, send, session


def read(line: str) -> list[dict[str, str]]:
    """A line as controllers read it: what stands behind each `info`, in pairs up to `pv`."""
    moves = []
    for part in line.split("info ")[1:]:
        pairs, _, pv = part.strip().partition(" pv ")
        words = pairs.split()
        moves.append(dict(zip(words[::2], words[1::2], strict=True)) | {"pv": pv})
    return moves


@pytest.mark.parametrize(
    "prefix, first",
    [
        ("", "info move Q16 visits 640 winrate 0.5000 prior 0.6400 order 0 pv Q16 "),
        ("lz-", "info move Q16 visits 640 winrate 5000 prior 6400 lcb 5000 order 0 pv Q16 "),
        ("kata-", "info move Q16 visits 640 winrate 0.5 prior 0.640000 lcb 0.5 order 0 pv Q16 "),
    ],
)
def test_the_policy_is_the_prior_and_never_the_win_rate(prefix, first):
    line = variations(probabilities(Q16=0.64, D4=0.25, K10=0.0012), FORMS[prefix])
    assert line.startswith(first)
    moves = read(line)
    assert [(move["move"], move["order"], move["pv"]) for move in moves] == [
        ("Q16", "0", "Q16"),
        ("D4", "1", "D4"),
        ("K10", "2", "K10"),
    ]
    assert [move["visits"] for move in moves] == ["640", "250", "1"] and len({move["winrate"] for move in moves}) == 1


def test_how_many_moves_are_listed():
    (move,) = read(variations(np.full(POINTS, -1.0), FORMS["lz-"], least=5))  # no move is legal
    assert (move["move"], move["pv"], move["prior"]) == ("pass", "pass", "0")
    shares = probabilities(Q16=0.6, D4=0.3996)
    for counts, listed in (({}, 2), ({"least": 5}, 5), ({"most": 1}, 1)):
        assert len(read(variations(shares, FORMS["kata-"], **counts))) == listed


@pytest.mark.parametrize("prefix", FORMS)
def test_analysis_leaves_illegal_moves_out_and_stays_open(prefix):
    here = session(FixedPlayer(["Q16", "D4"]))
    held, name = send(["play b Q16", f"3 {prefix}analyze w 50", "name"], here)[1:]
    assert held.startswith("=3\ninfo move D4 ") and "move Q16" not in held and name == "= gonn"
    answer, name = send([f"5 {prefix}genmove_analyze w 50", "name"], here)
    first, info, play = answer.split("\n")
    assert (first, play, name) == ("=5", "play D4", "= gonn") and read(info)[0]["move"] == "D4"
    assert here.game.moves == [(BLACK, point("Q16")), (WHITE, point("D4"))]


@pytest.mark.parametrize(
    "words", ["", "b", "100", "b 100", "B interval 100", "interval 0", "0.5", "minmoves 2 maxmoves 9"]
)
def test_analysis_is_asked_for_in_every_way_that_there_is(words):
    assert send(f"lz-analyze {words}")[0].startswith("=\ninfo move Q16 ")


@pytest.mark.parametrize(
    "words", ["often", "b often", "b 50 interval", "b allow", "ownership maybe", "minmoves x", "b avoid w Z9 1"]
)
def test_what_is_no_way_to_ask_is_an_error(words):
    with pytest.raises(GtpError):
        parse_analysis(words.split(), BLACK)
    assert send(f"kata-analyze {words}")[0].startswith("? ")


def test_moves_may_be_left_out_or_chosen():
    words = ["w", "50", "ownership", "true", "avoid", "w", "D4,pass", "1", "avoid", "b", "Q16", "1", "minmoves", "3"]
    assert parse_analysis(words, BLACK) == (WHITE, 3, POINTS, {point("D4"), PASS})
    assert [move["move"] for move in read(send("kata-analyze b avoid b Q16,D4 1")[0])][:2] == ["Q4", "D16"]
    assert [move["move"] for move in read(send("kata-analyze b allow b D4,A1 1 minmoves 9")[0])] == ["D4", "A1"]


def test_listed_analyze_commands_are_commands():
    assert send("gogui-analyze_commands")[0][2:].split("\n") == list(GOGUI)
    assert all(line.split("/")[2].split()[0] in COMMANDS for line in GOGUI)


def test_a_heat_map_shades_and_labels_points():
    lines = heat_map(probabilities(Q16=0.64, D4=0.25, K10=0.04, A1=0.0025), WHITE).split("\n")
    colours = dict((line.split()[2], line.split()[1]) for line in lines if line.startswith("COLOR"))
    assert colours.keys() == {"Q16", "D4", "K10", "A1"}
    greens = [int(colours[name][3:5], 16) for name in ("Q16", "D4", "K10", "A1")]
    assert greens == sorted(greens) and len(set(greens)) == 4  # the likelier, the redder
    labels = next(line for line in lines if line.startswith("LABEL"))[6:]
    assert set(re.findall(r"(\w+) (\d+)(?: |$)", labels)) == {("Q16", "64"), ("D4", "25"), ("K10", "4")}
    assert lines[-1].startswith("TEXT White: Q16 64.0% D4 25.0% K10 4.0% A1 0.2%")
    flat = heat_map(np.full(POINTS, 1 / POINTS), BLACK)
    assert flat.split("\n")[-1].startswith("TEXT Black: A19 0.3% B19 0.3%")


def test_the_policy_of_either_side_changes_nothing():
    here = session()
    first, second, third = send(["gonn-policy", "gonn-policy w", "gonn-policy b"], here)
    assert first == third and "TEXT Black: Q16" in first and "TEXT White: Q16" in second
    assert here.game.to_move == BLACK
    assert send("gonn-policy green") == ["? invalid color or coordinate"]
