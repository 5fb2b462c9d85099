"""The loop: every command gets one answer, whatever comes; held answers end with the next line; a defect ends no
game."""

import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gonn_core.go.points import BLACK, WHITE, point_name
from gonn_core.play.game import Game
from gonn_core.play.gtp.commands import COMMANDS, command_table
from gonn_core.play.gtp.protocol import Held, read_commands, serve, vertex
from tests.play.gtp.board import FixedPlayer, send, session


def answers_of(data: bytes, table) -> str:
    answers = io.BytesIO()
    serve(io.BytesIO(data), answers, table)
    return answers.getvalue().decode("ascii")


def test_answers_are_framed():
    table = {"empty": lambda: None, "lines": lambda: "one\n\n  \ntwo\n", "odd": lambda: "caf\xe9"}
    assert (
        answers_of(b"empty\n5 empty\n6 lines\nodd\n7 none\n", table)
        == "=\n\n=5\n\n=6 one\ntwo\n\n= caf\\xe9\n\n?7 unknown command\n\n"
    )


def test_arguments_are_counted():
    table = {"pair": lambda one, two="": one + two, "none": lambda: None, "many": lambda *word: str(len(word))}
    assert send_to(table, "pair", "pair a", "pair a b", "pair a b c", "none x", "many", "many a b c") == [
        "? syntax error: pair ONE [TWO]",
        "= a",
        "= ab",
        "? syntax error: pair ONE [TWO]",
        "? syntax error: none takes no arguments",
        "= 0",
        "= 3",
    ]


def send_to(table, *lines):
    return answers_of(("\n".join(lines) + "\n").encode(), table).split("\n\n")[:-1]


def test_a_held_answer_ends_with_any_line_or_the_end():
    table = {"watch": lambda: Held("\ninfo 1"), "name": lambda: "x"}
    assert answers_of(b"watch\nname\n", table) == "=\ninfo 1\n\n= x\n\n"
    assert answers_of(b"1 watch\n\n", table) == "=1\ninfo 1\n\n"
    assert answers_of(b"watch", table) == "=\ninfo 1\n\n"
    assert answers_of(b"watch\nwatch\n# stop\nname\n", table) == "=\ninfo 1\n\n" * 2 + "= x\n\n"


def test_nothing_is_answered_after_quit():
    assert send("1 quit\nname") == ["=1"]


def test_a_defect_of_ours_is_told_and_the_game_goes_on(capsys):
    def broken():
        raise KeyError("hidden\n\nthings")

    table = {**command_table(session()), "broken": broken}
    assert send_to(table, "3 broken", "name") == ["?3 internal error: KeyError", "= gonn"]
    shown = capsys.readouterr()
    assert "hidden" in shown.err and not shown.out


def test_a_controller_that_leaves_ends_the_engine_quietly():
    class Closed(io.BytesIO):
        def flush(self):
            raise BrokenPipeError

    serve(io.BytesIO(b"name\nlz-analyze\nname\n"), Closed(), command_table(session()))


ARGUMENTS = (
    "b w black WHITE pass PASS resign Q16 d4 A1 T19 T0 I9 U20 19 13 0 2 5 9 10 -1 7.5 nan inf 1e999 "
    "dead alive seki none byoyomi canadian absolute "
    "name gonn-policy # 2147483648 \u00e9 ; = ? \x00 \\n"
)
WORDS = st.sampled_from(ARGUMENTS.split()) | st.text(max_size=12)
NAMES = st.sampled_from(sorted(set(COMMANDS) - {"quit"})) | WORDS
LINES = st.lists(
    st.one_of(
        st.binary(max_size=40),
        st.builds(
            lambda number, name, words: " ".join([*number, name, *words]).encode("utf-8", "replace"),
            st.lists(st.integers(0, 99).map(str), max_size=1),
            NAMES,
            st.lists(WORDS, max_size=4),
        ),
    ),
    max_size=25,
)


@settings(max_examples=25)
@given(LINES)
def test_whatever_comes_every_command_gets_one_answer(lines):
    data = b"\n".join(lines) + b"\n"
    commands = [command for command in read_commands(io.BytesIO(data)) if command is not None]
    names = [command.name for command in commands]
    expected = commands[: names.index("quit") + 1] if "quit" in names else commands
    answers = send(data)
    assert len(answers) == len(expected)
    for command, answer in zip(expected, answers, strict=True):
        head = answer.split("\n")[0].split(" ")[0]
        assert head in (f"={command.id}", f"?{command.id}") and "internal error" not in answer
        assert all(line.strip() for line in answer.split("\n"))


MOVES = st.tuples(
    st.sampled_from("bw"), st.integers(0, 24).map(lambda i: point_name(i // 5 * 19 + i % 5)) | st.just("pass")
)
STEPS = st.lists(
    st.one_of(
        MOVES.map(lambda move: f"play {move[0]} {move[1]}"),
        st.sampled_from(
            [
                "undo",
                "genmove b",
                "genmove w",
                "reg_genmove b",
                "gonn-policy w",
                "kgs-genmove_cleanup b",
                "showboard",
                "final_status_list alive",
            ]
        ),
        MOVES.map(lambda move: f"play {move[0]} {move[1]}"),
    ),
    max_size=60,
)


@settings(max_examples=25)
@given(STEPS)
def test_the_board_is_that_of_a_shadow_game(steps):
    """Moves are crowded into a corner, so that captures, kos, suicides and repetitions come about."""
    here = session(FixedPlayer(["A19", "B19", "C18", "B17", "A16"]))
    answers = send(steps, here) if steps else []
    shadow = Game()
    for step, answer in zip(steps, answers, strict=True):
        name, *words = step.split()
        if name == "play":
            mover, p = {"b": BLACK, "w": WHITE}[words[0]], vertex(words[1])
            reason = shadow.why_illegal(p, mover)
            assert answer == ("=" if reason is None else f"? illegal move ({reason})")
            if reason is None:
                shadow.play(p, mover)
        elif name in ("genmove", "kgs-genmove_cleanup"):
            shadow.play(vertex(answer[2:]), {"b": BLACK, "w": WHITE}[words[0]])
        elif name == "undo":
            assert answer == ("=" if len(shadow) else "? cannot undo")
            if len(shadow):
                shadow.undo()
        elif name == "showboard":
            colours = shadow.board.colours().reshape(19, 19)
            drawn = [[character for character in line if character in "XO."] for line in answer.split("\n")[2:21]]
            assert drawn == [[".XO"[stone] for stone in row] for row in colours]
        elif name == "final_status_list":
            assert {vertex(word) for word in answer[1:].split()} <= set(np.flatnonzero(shadow.board.colours()).tolist())
    assert here.game.moves == shadow.moves and here.game.to_move == shadow.to_move
    assert np.array_equal(here.game.stones(), shadow.stones())
