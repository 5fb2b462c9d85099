"""What each command of the engine does, on drawn boards and with a player that needs no net."""

import re

import numpy as np
import pytest

from gonn_core.go.points import BLACK, WHITE, point
from gonn_core.play.game import Game
from gonn_core.play.rules import game_draws
from gonn_core.records.sgf import read_game
from tests.boards import parse_board
from tests.paths import ROOT
from tests.play.gtp.board import FixedPlayer, send, session
from tests.records.sgf_tools import sgf


def at_board(text: str, player=None, to_move=BLACK):
    """A session whose game starts from a drawn board."""
    here = session(player)
    colours = parse_board(text)
    here.game = Game(setup={int(p): int(colours[p]) for p in np.flatnonzero(colours)}, to_move=to_move)
    return here


def test_every_documented_command_is_listed_and_known():
    names = send("list_commands")[0][2:].split("\n")
    rows = [line for line in (ROOT / "docs" / "play.md").read_text().splitlines() if line.startswith("|")]
    documented = {word.strip("`").split()[0] for row in rows for word in re.findall("`[^`]+`", row)}
    assert set(names) <= documented and len(names) == len(set(names))
    assert set(send([f"known_command {name}" for name in names])) == {"= true"}
    assert send(["known_command nonsense", "known_command Name"]) == ["= false", "= false"]


def test_reg_genmove_changes_nothing_and_says_what_genmove_will():
    player = FixedPlayer()
    here = session(player, seed=5)
    assert send(["reg_genmove w", "reg_genmove w", "showboard"], here)[-1].endswith("move 1, black to move, komi 7.5")
    assert send(["genmove w"], here) == ["= Q16"] and here.game.to_move == BLACK
    assert {draw for _, draw in player.asked} == {float(game_draws(5, 0, 1)[0])}


def test_draws_are_those_of_the_seed_the_game_and_the_move():
    player = FixedPlayer()
    here = session(player, seed=9)
    send(["clear_board", "genmove b", "play w A1", "genmove b", "undo", "genmove b", "clear_board", "genmove b"], here)
    first, second = game_draws(9, 1, 3), game_draws(9, 2, 1)
    assert [draw for _, draw in player.asked] == [first[0], first[2], first[2], second[0]]


def test_illegal_moves_are_refused_with_their_reason():
    here = session()
    assert send(
        ["play b B19", "play b A18", "play w A19", "play b B19", "play b Z1", "play green A1", "play b resign"], here
    )[2:] == ["? illegal move (suicide)", "? illegal move (occupied)", *["? invalid color or coordinate"] * 3]
    assert len(here.game) == 2


def test_only_19x19():
    here = session()
    assert send(["play b A1", "boardsize 9", "boardsize 19.0", "boardsize", "boardsize 19"], here) == [
        "=",
        "? unacceptable size",
        "? syntax error",
        "? syntax error: boardsize SIZE",
        "=",
    ]
    assert len(here.game) == 0


def test_komi_stays_when_the_board_is_cleared():
    here = session()
    assert send(["komi 6.5", "clear_board", "komi nan", "komi 1e999", "komi -5"], here) == [
        "=",
        "=",
        "? syntax error",
        "? syntax error",
        "=",
    ]
    assert here.game.komi == -5


@pytest.mark.parametrize(
    ("stones", "points"),
    [
        (2, "D4 Q16"),
        (5, "D4 Q16 D16 Q4 K10"),
        (8, "D4 Q16 D16 Q4 D10 Q10 K4 K16"),
        (9, "D4 Q16 D16 Q4 D10 Q10 K4 K16 K10"),
    ],
)
def test_fixed_handicap(stones, points):
    here = session()
    assert send(f"fixed_handicap {stones}", here) == [f"= {points}"]
    assert here.game.setup == {point(name): BLACK for name in points.split()} and here.game.to_move == WHITE
    assert send("undo", here) == ["? cannot undo"]


def test_handicaps_that_are_none():
    for command in ("fixed_handicap 1", "fixed_handicap 10", "place_free_handicap 1", "place_free_handicap 0"):
        assert send(command) == ["? invalid number of stones"]
    for command in ("", " A1", " A1 A1", " A1 pass", " A1 I5", " A1 Q"):
        assert send("set_free_handicap" + command) == ["? bad vertex list"]
    for command in ("fixed_handicap 2", "place_free_handicap 2", "set_free_handicap A1 B1"):
        assert send(["play b K10", command])[1] == send(["fixed_handicap 2", command])[1] == "? board not empty"
        assert send(["play b K10", "undo", command])[2].startswith("=")


def test_free_handicap():
    here = session()
    assert send(["set_free_handicap A1 T19 k10", "genmove w"], here) == ["=", "= Q16"]
    assert here.game.setup == {point(name): BLACK for name in ("A1", "T19", "K10")}
    assert send("place_free_handicap 4") == ["= D4 Q16 D16 Q4"]
    assert len(send("place_free_handicap 30")[0].split()) == 1 + 9  # an engine may place fewer


def test_the_board_is_drawn():
    board = send(["fixed_handicap 2", "play w A19", "showboard"])[2].split("\n")
    assert board[0] == "=" and board[1] == board[21] == "   A B C D E F G H J K L M N O P Q R S T"
    assert board[2] == "19(O). . . . . . . . . . . . . . . . . . 19"
    assert board[5] == "16 . . . . . . . . . . . . . . . X . . . 16"
    assert board[22] == "move 2, black to move, komi 7.5"
    assert send(["play w T1", "showboard"])[1].split("\n")[20] == " 1 . . . . . . . . . . . . . . . . . .(O)1"


FINISHED = "\n".join([". O X . " + "X " * 15, *["X " * 19] * 9, *["O " * 19] * 8, ". O . " + "O " * 16])
"""Black has the upper ten rows and White the lower nine, both for certain; B19 is dead."""


def test_dead_stones_and_the_score():
    here = at_board(FINISHED)
    alive, dead, seki = (send(f"final_status_list {status}", here)[0] for status in ("alive", "DEAD", "seki"))
    assert dead == "= B19" and seki == "="
    chains = alive[2:].split("\n")
    assert [len(chain.split()) for chain in chains] == [10 * 19 - 3, 9 * 19 - 2]  # a line for each chain
    assert send("final_status_list black_territory", here) == ["? syntax error"]
    assert send(["final_score", "komi 0.5", "final_score"], here) == [f"= B+{19 - 7.5:g}", "=", f"= B+{19 - 0.5:g}"]


def test_clean_up_takes_dead_stones_before_it_passes():
    here = at_board(FINISHED)
    assert send(
        ["kgs-genmove_cleanup w", "kgs-genmove_cleanup b", "kgs-genmove_cleanup b", "final_status_list dead"], here
    ) == ["= pass", "= A19", "= pass", "="]


def test_clocks_are_read_and_forgotten():
    good = [
        "time_settings 600 30 25",
        "time_left b 57 0",
        "time_left white 29.5 3",
        "kgs-time_settings none",
        "kgs-time_settings absolute 600",
        "kgs-time_settings byoyomi 600 30 5",
        "kgs-time_settings Canadian 600 300 25",
        "kgs-game_over",
    ]
    assert send(good) == ["="] * len(good)
    bad = [
        "time_settings 600 30 many",
        "time_left green 57 0",
        "kgs-time_settings byoyomi 600",
        "kgs-time_settings hourglass 5",
        "kgs-time_settings absolute x",
    ]
    assert all(answer.startswith("? ") for answer in send(bad))


def test_a_game_on_kgs():
    """What the bridge sends: it takes back two moves by undo, marks dead stones, and cleans up when these are
    disputed."""
    here = session()
    lines = [
        "boardsize 19",
        "clear_board",
        "komi 0.5",
        "kgs-time_settings byoyomi 600 30 5",
        "place_free_handicap 3",
        "time_left w 600 0",
        "genmove w",
        "play b C14",
        "genmove w",
        "undo",
        "undo",
        "play b R5",
        "genmove w",
        "play b pass",
        "final_status_list dead",
        "kgs-genmove_cleanup w",
        "kgs-game_over",
    ]
    answers = send(lines, here)
    assert all(answer.startswith("=") for answer in answers)
    assert [answers[i] for i in (4, 6, 8, 12, 15)] == ["= D4 Q16 D16", "= Q4", "= A19", "= A19", "= B19"]


def test_rules_of_the_server_that_count_area_are_taken():
    assert send(["kgs-rules chinese", "kgs-rules AGA", "kgs-rules japanese"]) == [
        "=",
        "=",
        "? rules that are not counted here; valid: chinese, aga, new_zealand",
    ]


def saved(folder, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_a_game_is_read_to_its_end_or_to_a_move(tmp_path):
    file = saved(tmp_path, "a game.sgf", sgf("B pd W dd B pp W dp", "SZ[19]KM[0.5]"))
    here = session()
    assert send(["play b K10", f"loadsgf {file}", "get_komi"], here) == ["=", "=", "= 0.5"]
    assert len(here.game) == 4 and here.game.to_move == BLACK
    moves = [(BLACK, point("Q16")), (WHITE, point("D16"))]
    assert send(f"loadsgf {file} 3", here) == ["="] and here.game.moves == moves
    assert send(["undo", "undo", "undo"], here) == ["=", "=", "? cannot undo"]


@pytest.mark.parametrize(
    "moves, root, setup, to_move",
    [
        ("", "HA[2]AB[pp][dd]", {"Q4": BLACK, "D16": BLACK}, WHITE),
        ("", "AB[pp]AW[dd]", {"Q4": BLACK, "D16": WHITE}, BLACK),
        ("W aa", "", {}, WHITE),
    ],
)
def test_setup_stones_and_who_moves(tmp_path, moves, root, setup, to_move):
    here = session()
    assert send(f"loadsgf {saved(tmp_path, 'a.sgf', sgf(moves, 'SZ[19]' + root))} 1", here) == ["="]
    assert here.game.setup == {point(name): stone for name, stone in setup.items()} and here.game.to_move == to_move


@pytest.mark.parametrize(
    "name, data, why",
    [
        ("small.sgf", sgf("B aa", "SZ[9]"), " (not 19x19)"),
        ("broken.sgf", b"(;SZ[19]", " (broken syntax)"),
        ("illegal.sgf", sgf("B aa W aa", "SZ[19]"), " (illegal move 2, occupied)"),
        ("game.txt", sgf("B aa", "SZ[19]"), ""),
        ("gone.sgf", None, ""),
    ],
)
def test_what_cannot_be_read_leaves_the_game_as_it_was(tmp_path, name, data, why):
    file = str(tmp_path / name) if data is None else saved(tmp_path, name, data)
    here = session()
    assert send(["play b Q16", f"loadsgf {file}"], here) == ["=", f"? cannot load file{why}"]
    assert here.game.moves == [(BLACK, point("Q16"))]
    assert send("loadsgf", here) == ["? syntax error: loadsgf FILE [MOVE]"]


def test_the_game_is_printed_or_written(tmp_path):
    here = session()
    moves = ["fixed_handicap 2", "komi 0.5", "play w K10", "play b pass"]
    printed = send([*moves, "printsgf"], here)[-1]
    assert printed.startswith("= (;") and printed == send("printsgf -", here)[0]
    read = read_game(printed[2:].encode(), "kgs")
    assert read.komi == 0.5 and read.colours.tolist() == [WHITE, BLACK] and len(read.setup) == 2
    file = tmp_path / "out put.sgf"
    assert send(f"printsgf {file}", here) == ["="]
    other = session()
    assert send(f"loadsgf {file}", other) == ["="] and other.game.moves == here.game.moves
    assert send([f"printsgf {tmp_path}/x.txt", f"printsgf {file}/x.sgf"], here) == [
        "? the file's name must end in .sgf",
        "? cannot write file",
    ]
