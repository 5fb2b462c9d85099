"""Matches with engines: what is on disk, what is played anew, and that no game is lost to a kill."""

import json
import os
import signal
import subprocess
import sys
from itertools import islice

import pytest

from gonn_core.errors import SettingError
from gonn_core.play.engines.players import Engine
from gonn_core.play.match.players import Entrant, engine_seed
from gonn_core.play.match.playing import MOST_ATTEMPTS, play_match
from gonn_core.play.match.record import MatchRecord, describe_match, open_match
from gonn_core.play.rules import Openings, Rules
from gonn_core.records.sgf import read_game
from tests.paths import FAKE_ENGINE
from tests.waiting import PATIENCE

FAKE = FAKE_ENGINE
NAMES = {"A": "one", "B": "other"}


def fake(*words):
    return Engine((sys.executable, "-S", str(FAKE), *words))


def match_of(folder, entrants, openings="empty", seed=1):
    content = describe_match(
        entrants["A"].identity, entrants["B"].identity, Rules(), Openings(kind=openings).model_dump(), seed
    )
    return open_match(folder, content)


@pytest.fixture
def entrants():
    """Entrants made by name from engines; ended after the test."""
    made = {}

    def make(a, b, timeout=PATIENCE):
        made.update(A=Entrant(a, timeout, Rules()), B=Entrant(b, timeout, Rules()))
        return made

    yield make
    for entrant in made.values():
        entrant.close()


def play(record, sides, games, workers=2, stopped=lambda: False):
    return list(play_match(record, sides, NAMES, games, workers, stopped))


def test_a_match_on_disk(tmp_path, entrants):
    sides = entrants(fake("stones=2"), fake("stones=3"))
    record = match_of(tmp_path, sides)
    lines = play(record, sides, 4)
    assert {line.game: line.black for line in lines} == {0: "A", 1: "B", 2: "A", 3: "B"}
    assert {line.end for line in lines} == {"passes"}
    assert MatchRecord(record.folder).lines() == lines
    sgf = (record.folder / "sgf" / "1.sgf").read_bytes()
    game = read_game(sgf, "kgs")
    assert len(game.moves) == next(line.moves for line in lines if line.game == 1) and game.komi == 7.5
    assert b"PB[other]PW[one]" in sgf


def test_more_games_go_on_where_it_was_left(tmp_path, entrants):
    sides = entrants(fake("stones=1"), fake("stones=1"))
    record = match_of(tmp_path, sides)
    assert len(play(record, sides, 2)) == 2
    assert sorted(line.game for line in play(record, sides, 4)) == [2, 3]
    assert play(record, sides, 4) == []


def test_a_game_of_an_engine_that_fails_is_voided_and_played_anew(tmp_path, entrants):
    sides = entrants(fake("stones=2"), fake("stones=2", "at=1", "does=crash"))
    record = match_of(tmp_path, sides)
    lines = play(record, sides, 1)
    assert [line.void for line in lines] == [True] * MOST_ATTEMPTS
    assert {line.end for line in lines} == {"crash"} and all(line.reason.startswith("B: ") for line in lines)
    assert not list((record.folder / "sgf").iterdir()) and record.games() == {}
    assert play(record, sides, 1) == []  # given up


def test_a_refused_move_loses_and_is_kept(tmp_path, entrants):
    sides = entrants(fake("stones=2"), fake("stones=2", "at=1", "does=illegal"))
    record = match_of(tmp_path, sides)
    (line,) = play(record, sides, 1)
    assert (line.end, line.winner, line.result) == ("illegal", "A", "B+F")
    assert "occupied" in line.reason


def test_leaving_ends_the_games_under_way_unrecorded(tmp_path, entrants):
    """B's third move, in the second game, never comes; leaving does not wait for it."""
    sides = entrants(fake("stones=1"), fake("stones=1", "at=3", "does=hang"), timeout=1000.0)
    record = match_of(tmp_path, sides)
    games = play_match(record, sides, NAMES, 50, 1, lambda: False)
    first = next(games)
    games.close()
    assert not first.void and [line.game for line in record.lines()] == [0]


def test_stopping(tmp_path, entrants):
    sides = entrants(fake("stones=1"), fake("stones=1"))
    record = match_of(tmp_path, sides)
    lines = play(record, sides, 1000, workers=1, stopped=lambda: len(record.lines()) >= 3)
    assert 3 <= len(record.lines()) < 1000 and len(lines) <= len(record.lines())
    assert not any(line.void for line in record.lines())


PROGRAM = """
import sys
from tests.play.match.test_match import NAMES, Rules, fake, match_of
from gonn_core.play.match.players import Entrant
from gonn_core.play.match.playing import play_match
sides = {side: Entrant(fake("stones=3"), 20.0, Rules()) for side in "AB"}
record = match_of(sys.argv[1], sides)
for line in play_match(record, sides, NAMES, 1000, 2, lambda: False):
    print(line.game, flush=True)
"""


def test_no_game_is_lost_to_a_kill(tmp_path, entrants):
    process = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    told = {int(line) for line in islice(process.stdout, 5)}
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    sides = entrants(fake("stones=3"), fake("stones=3"))
    path = next(tmp_path.iterdir()) / "games.jsonl"
    with open(path, "ab") as file:
        file.write(b'{"game": 77, "bl')  # as if the kill had come in the middle of a line
    record = match_of(tmp_path, sides)
    kept = record.games()
    assert told <= set(kept) and 77 not in kept
    play(record, sides, max(kept) + 2)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(line["game"] for line in lines) == list(range(max(kept) + 2))


def test_engines_that_do_not_say_who_they_are():
    with pytest.raises(SettingError):
        Entrant(Engine((sys.executable, "-c", "pass")), 5.0, Rules())


def test_engine_seeds_are_different_and_positive():
    seeds = {engine_seed(1, game, attempt) for game in range(50) for attempt in range(3)}
    assert len(seeds) == 150 and min(seeds) > 0 and max(seeds) < 2**31
