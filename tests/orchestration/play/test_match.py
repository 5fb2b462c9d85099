"""`gonn match` and `gonn matches` as their user meets them."""

import csv
import sys

import pytest

from gonn_core.play.rules import Rules
from gonn_core.trial.lease import Lease
from orchestration.cli.command import run
from orchestration.play import match
from tests.paths import FAKE_ENGINE
from tests.play.made_trials import untrained_trial

FAKE = FAKE_ENGINE


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A workspace with one trained net."""
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    untrained_trial(tmp_path / "runs")
    return tmp_path


def net(home):
    return f"{next((home / 'runs').iterdir()).name[:6]},passing=after_pass"


def fake(*words):
    return " ".join([sys.executable, "-S", str(FAKE), *words])


def test_a_net_plays_an_engine(home, capsys):
    command = ["match", net(home), fake("stones=2"), "--workers", "2", "--games"]
    assert run([*command, "2"]) == 0
    told = capsys.readouterr()
    assert "Fake 1" in told.out and "area scoring (Chinese), komi 7.5" in told.err and "2/2 games" in told.err
    assert run([*command, "3"]) == 0
    assert "1/1 games" in capsys.readouterr().err
    assert run([*command, "3"]) == 0
    assert "games," not in capsys.readouterr().err  # nothing to play
    (folder,) = (home / "matches").iterdir()
    assert sorted(path.name for path in (folder / "sgf").iterdir()) == ["0.sgf", "1.sgf", "2.sgf"]


def test_games_that_were_given_up_are_told(home, capsys):
    assert run(["match", net(home), fake("at=1", "does=crash"), "--games", "2", "--workers", "1"]) == 1
    told = capsys.readouterr()
    assert "2 games were given up" in told.out and "6 games were voided" in told.out
    assert "game 0 voided (crash): B: " in told.err


def test_the_table_is_written(home, capsys):
    assert run(["matches"]) == 0
    assert "no games" in capsys.readouterr().out
    run(["match", fake("stones=1"), fake("stones=2"), "--games", "4", "--openings", "stones"])
    run(["match", fake("stones=1"), fake("stones=3"), "--games", "2"])
    assert run(["matches", "--out", str(home / "table")]) == 0
    rows = list(csv.DictReader((home / "table" / "matches.csv").open()))
    assert sorted(row["games"] for row in rows) == ["2", "4"] and all(row["match"] for row in rows)
    text = (home / "table" / "matches.md").read_text()
    assert "Wilson" in text and text.count("\n| Fake") == 2


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["abcdef", "gnugo"], "A=abcdef: no trial in "),
        (["gnugo", "zzz"], "no program on PATH or in /usr/games is called so; `gonn models` lists them; valid: {id}"),
        (["no-such-engine --gtp", "gnugo"], "engine=no-such-engine: no such program"),
        (["{net}", ""], "B: no player is given; valid: a trial's id (`gonn models` lists them), gnugo, "),
        (["{net}", "{fake}", "--level", "5"], "level=5: no player is plain gnugo"),
        (["{net}", "{fake}", "--openings", "fuseki"], "OPENINGS=fuseki"),
        (["{net}", "{mute}"], "player="),
        (["{net}", "{fake}", "--rules", "japanese"], "rules=japanese: only a GNU Go"),
        (["{net}", "{fake}", "--rules", "ing"], "RULES=ing"),
        (["{net},choice=argmax", "{net},choice=argmax"], "openings=empty: two nets that always choose alike"),
    ],
)
def test_bad_players_stop_in_one_line(home, capsys, arguments, said):
    words = {"net": net(home), "fake": fake(), "mute": f"{sys.executable} -c pass"}
    assert run(["match", *(each.format(**words) for each in arguments)]) == 2
    error = capsys.readouterr().err
    assert said.format(id=next((home / "runs").iterdir()).name[:8]) in error and error.count("\n") == 1
    assert not (home / "matches").exists()


def test_a_match_is_played_by_one_command_at_a_time(home, capsys):
    command = ["match", fake("stones=1"), fake("stones=2"), "--games", "1"]
    assert run(command) == 0
    (folder,) = (home / "matches").iterdir()
    with Lease.take(folder):
        assert run([*command[:-1], "2"]) == 2
    assert f"another command plays match {folder.name}" in capsys.readouterr().err


def test_nets_play_each_other(home, capsys, monkeypatch):
    monkeypatch.setattr(match, "RULES", {"chinese": Rules(most_moves=20)})
    untrained_trial(home / "runs", training__init_seed=2)
    one, other = sorted(path.name for path in (home / "runs").iterdir())
    assert run(["match", one, other, "--games", "3", "--workers", "1"]) == 0
    assert "3/3 games" in capsys.readouterr().err
    (folder,) = (home / "matches").iterdir()
    assert len((folder / "games.jsonl").read_text().splitlines()) == 3
    assert (folder / "sgf" / "2.sgf").exists()
