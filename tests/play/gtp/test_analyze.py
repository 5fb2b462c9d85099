"""Pictures: drawing commands of GoGui, boards of unconditional life."""

import re

import numpy as np

from gonn_core.go.points import BLACK, POINTS, WHITE, point
from gonn_core.play.gtp.analysis import GOGUI, alive_board, heat_map
from gonn_core.play.gtp.commands import command_table
from tests.boards import bitboards, parse_board
from tests.play.gtp.board import probabilities, send, session


def test_listed_analyze_commands_are_commands():
    table = command_table(session(), "gonn", "test")
    assert send("gogui-analyze_commands")[0][2:].split("\n") == list(GOGUI)
    for line in GOGUI:
        kind, _, command = line.split("/")
        assert kind in ("gfx", "bwboard") and command.split()[0] in table


def test_a_heat_map_shades_and_labels_points():
    lines = heat_map(probabilities(Q16=0.64, D4=0.25, K10=0.04, A1=0.0025), WHITE).split("\n")
    colours = dict((line.split()[2], line.split()[1]) for line in lines if line.startswith("COLOR"))
    assert colours.keys() == {"Q16", "D4", "K10", "A1"} and all(
        re.fullmatch("#[0-9a-f]{6}", each) for each in colours.values()
    )
    greens = [int(colours[name][3:5], 16) for name in ("Q16", "D4", "K10", "A1")]
    assert greens == sorted(greens) and len(set(greens)) == 4  # the likelier, the redder
    assert set(re.findall(r"(\w+) (\d+)(?: |$)", next(line for line in lines if line.startswith("LABEL"))[6:])) == {
        ("Q16", "64"),
        ("D4", "25"),
        ("K10", "4"),
    }
    assert lines[-1].startswith("TEXT White: Q16 64.0% D4 25.0% K10 4.0% A1 0.2%")


def test_a_flat_policy_has_a_picture_too():
    assert heat_map(np.full(POINTS, 1 / POINTS), BLACK).split("\n")[-1].startswith("TEXT Black: A19 0.3% B19 0.3%")
    certain = np.zeros(POINTS)
    certain[point("T1")] = 1
    assert heat_map(certain, BLACK).split("\n")[:2] == ["COLOR #dc1414 T1", "LABEL T1 100"]


def test_the_policy_of_either_side_changes_nothing():
    here = session()
    first, second, third = send(["gonn-policy", "gonn-policy w", "gonn-policy b"], here)
    assert first == third and "TEXT Black: Q16" in first and "TEXT White: Q16" in second
    assert here.game.to_move == BLACK
    assert send("gonn-policy green") == ["? invalid color or coordinate"]


def test_unconditional_life_is_marked():
    stones = bitboards(parse_board("""
        . X . X O .
        X X X X O .
        O O O O O .
    """))  # fmt: skip
    rows = alive_board(stones).split("\n")
    assert len(rows) == 19 and all(len(row.split(" ")) == 19 for row in rows)
    assert (
        rows[0].split()[:5] == ["b", "b", "b", "b", '""']
        and rows[1].split()[:5] == ["b"] * 4 + ['""']
        and set(rows[2].split()) == {'""'}
    )
