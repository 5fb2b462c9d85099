"""Another engine next to the net: it follows the game, and is asked before each move and at the end."""

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from gonn_core.play.engines.players import Engine, EnginePlayer, EnginePool
from tests.play.gtp.board import FixedPlayer, send, session
from tests.waiting import PATIENCE

SCRIPT = Path(__file__).parent / "fake_guard.py"


@contextmanager
def guarded(*words, passing="guard", timeout=PATIENCE):
    """A session with the fake guard, and what the guard has on its board as a function."""
    engine = Engine((sys.executable, "-S", str(SCRIPT), *words))
    with EnginePool(engine, timeout) as pool, EnginePlayer(pool, 1) as guard:
        here = session(FixedPlayer(passing=passing), guard=guard)
        yield here, lambda: guard.ask(here.game, "moves", str).split("\n")


def test_its_move_is_taken_back_and_the_net_moves():
    with guarded() as (here, board):
        assert send(["genmove b", "play w A1", "genmove b"], here) == ["= Q16", "=", "= D4"]
        assert board() == ["b Q16", "w A1", "b D4"]


def test_when_it_passes_so_does_the_net():
    with guarded("passes=2") as (here, board):
        assert send(["genmove b", "genmove w", "genmove b", "genmove w"], here) == ["= Q16", "= D4", "= pass", "= Q4"]
        assert board() == ["b Q16", "w D4", "b pass", "w Q4"]


def test_when_it_resigns_so_does_the_net():
    with guarded("resigns=1") as (here, board):
        assert send(["genmove b", "genmove w", "genmove w"], here) == ["= Q16", "= resign", "= resign"]
        assert len(here.game) == 1 and board() == ["b Q16"]


def test_it_follows_undo_handicap_komi_and_new_games():
    with guarded() as (here, board):
        send(["fixed_handicap 2", "genmove w", "genmove b", "undo", "undo", "play w K10", "genmove b"], here)
        assert board() == ["b D4", "b Q16", "w K10", "b Q4"]
        send(["komi 0.5"], here)
        assert board() == ["b D4", "b Q16", "w K10", "b Q4"]  # told anew, from its empty board on
        send(["clear_board", "play b A1"], here)
        assert board() == ["b A1"]


def test_it_is_asked_for_clean_up_dead_stones_and_score_under_any_rule():
    with guarded(passing="after_pass") as (here, _):
        assert send(["genmove b", "genmove w", "kgs-genmove_cleanup b", "final_score"], here) == [
            "= Q16",
            "= D4",
            "= A19",
            "= B+3",
        ]
        assert send(["play b K10", "final_status_list dead", "final_status_list seki"], here)[1:] == [
            "= Q16\nK10\nD4",
            "=",
        ]


def test_after_a_time_out_it_is_asked_again_only_when_the_controller_asks(tmp_path):
    with guarded(f"hangs={tmp_path / 'hung'}", timeout=2) as (here, _):
        late, move, score = send(["final_score", "genmove b", "final_score"], here)
        assert late.startswith("? guard:") and "no answer" in late
        assert (move, score) == ("= Q16", "= B+1")


def test_what_it_cannot_do_is_an_error_and_the_game_stays():
    with guarded() as (here, board):
        first, move, score, undo, again = send(["play b T19", "genmove w", "final_score", "undo", "genmove w"], here)
        assert first == undo == "=" and again == "= Q16"
        assert move.startswith("? guard:") and "illegal move" in move and score.startswith("? guard:")
        assert board() == ["w Q16"]


def test_what_is_no_move_of_its_is_said():
    with guarded("mumbles=0") as (here, board):
        assert send(["genmove b", "play b A1", "genmove w"], here) == [
            "? guard: no answer to 'genmove black': somewhere",
            "=",
            "= Q16",
        ]
        assert board() == ["b A1", "w Q16"]


def test_the_rule_needs_a_guard():
    with pytest.raises(ValueError, match="guard"):
        session(FixedPlayer(passing="guard"))
