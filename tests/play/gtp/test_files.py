"""Games that a controller has read from SGF files, or written to them."""

import pytest

from gonn_core.go.points import BLACK, WHITE, point
from gonn_core.records.sgf import read_game
from tests.play.gtp.board import send, session
from tests.records.sgf_tools import sgf


def saved(folder, name: str, data: bytes) -> str:
    (folder / name).write_bytes(data)
    return str(folder / name)


def test_a_game_is_read_to_its_end_or_to_a_move(tmp_path):
    file = saved(tmp_path, "a game.sgf", sgf("B pd W dd B pp W dp", "SZ[19]KM[0.5]"))
    here = session()
    assert send(["play b K10", f"loadsgf {file}", "get_komi"], here) == ["=", "=", "= 0.5"]
    assert len(here.game) == 4 and here.game.to_move == BLACK
    assert send(f"loadsgf {file} 3", here) == ["="] and here.game.moves == [
        (BLACK, point("Q16")),
        (WHITE, point("D16")),
    ]
    assert send(["undo", "undo", "undo"], here) == ["=", "=", "? cannot undo"]


def test_setup_stones_and_who_moves(tmp_path):
    handicap = saved(tmp_path, "h.sgf", sgf("", "SZ[19]HA[2]AB[pp][dd]"))
    here = session()
    assert send(f"loadsgf {handicap}", here) == ["="]
    assert here.game.setup == {point("Q4"): BLACK, point("D16"): BLACK} and here.game.to_move == WHITE
    both = saved(tmp_path, "b.sgf", sgf("", "SZ[19]AB[pp]AW[dd]"))
    assert send(f"loadsgf {both}", here) == ["="] and here.game.to_move == BLACK
    assert (
        send(f"loadsgf {saved(tmp_path, 'w.sgf', sgf('W aa', 'SZ[19]'))} 1", here) == ["="]
        and here.game.to_move == WHITE
    )


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
