"""Ratings as tables and by the command: order, intervals, who beat whom, islands, anchors by name."""

import numpy as np
import pytest

from gonn_core.play.match.record import load_matches
from orchestration.cli import command as cli
from reports.play.players import player_names
from reports.play.rating import rate, tally
from reports.play.ratings import COLUMNS_A_TABLE, rating_tables
from tests.reports.play.made_matches import ENGINE, game, net, won, write_match

A, B, C = (net(digit * 16) for digit in "123")


def tables_of(folder, anchor=0, colour=False):
    matches = load_matches(folder)
    found = tally(matches)
    ratings = rate(found.points, found.games, anchor, colour=colour)
    return {table.name: table for table in rating_tables(found, ratings, player_names(found.identities, {}), matches)}


def texts(table, *keys):
    return [[row.cells[key].text for key in keys] for row in table.rows]


def test_the_strongest_first_with_intervals_and_superiority(tmp_path):
    write_match(tmp_path, A, B, won(80, 20))
    write_match(tmp_path, C, A, won(30, 70))
    tables = tables_of(tmp_path)
    rows = texts(tables["ratings"], "number", "player", "games", "share")
    names = [row[1] for row in rows]
    assert (
        names[0] == "11111111 @100k"
        and [row[0] for row in rows] == ["#1", "#2", "#3"]
        and rows[0][2:] == ["200", "75.0 %"]
    )
    strongest = tables["ratings"].rows[0].cells
    assert strongest["superior"].text == "99.9 %"  # never rounded to a certainty
    assert [row.cells["interval"].text for row in tables["ratings"].rows].count("anchor") == 1
    assert texts(tables["cross-table"], "1", "2", "3") == [
        ["", "70/100", "80/100"],
        ["30/100", "", "–"],
        ["20/100", "–", ""],
    ]
    above, below = tables["superiority"].rows[1].cells["3"].value, tables["superiority"].rows[2].cells["2"].value
    assert above + below == pytest.approx(1) and above > 0.5
    assert any("komi 7.5" in note for note in tables["ratings"].notes)


def test_draws_and_voided_games(tmp_path):
    write_match(
        tmp_path,
        A,
        ENGINE,
        [game(0, "A", "A"), game(1, "B", None, "0"), game(2, "A", None, "Void", "crash"), game(2, "A", "B")],
    )
    tables = tables_of(tmp_path)
    assert texts(tables["cross-table"], "1", "2")[0][1] == "1.5/3"
    assert any(note.startswith("1 game was voided") for note in tables["ratings"].notes)


def test_islands_are_told_and_not_compared(tmp_path):
    write_match(tmp_path, A, B, won(8, 2))
    write_match(tmp_path, C, ENGINE, won(10, 10))
    tables = tables_of(tmp_path)
    assert any("2 groups that cannot be compared" in note for note in tables["ratings"].notes)
    assert [row.cells["interval"].text for row in tables["ratings"].rows].count("anchor") == 2
    assert texts(tables["superiority"], "3", "4")[0] == ["–", "–"]
    assert {row.cells["player"].text for row in tables["ratings"].rows[:2]} == {
        "33333333 @100k",
        "GNU Go 3.8 level 1",
    }  # who played most comes first


def test_many_players_take_several_narrow_tables(tmp_path):
    players = [net(f"{number:016x}") for number in range(COLUMNS_A_TABLE + 2)]
    for number in range(len(players) - 1):
        write_match(tmp_path, players[number], players[number + 1], won(6, 4))
    tables = tables_of(tmp_path)
    assert [len(tables[name].columns) - 1 for name in ("cross-table-1", "cross-table-2")] == [COLUMNS_A_TABLE, 2]


def test_the_advantage_of_black_is_a_note(tmp_path):
    generator = np.random.default_rng(0)
    lines = [
        game(number, "AB"[number % 2], "AB"[(number % 2) ^ int(generator.random() > 0.7)]) for number in range(400)
    ]
    write_match(tmp_path, A, B, lines)
    assert any(note.startswith("Black's advantage") for note in tables_of(tmp_path, colour=True)["ratings"].notes)


@pytest.fixture
def gonn(tmp_path, monkeypatch, capsys):
    """Runs gonn in a workspace with two matches; (code, stdout, stderr)."""
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    write_match(tmp_path / "matches", A, B, won(80, 20))
    write_match(tmp_path / "matches", B, ENGINE, won(2, 18))

    def run(*arguments):
        return cli.run(list(arguments)), *capsys.readouterr()

    return run


def test_the_command_rates_all_matches_or_some(gonn, tmp_path):
    code, out, _ = gonn("rate", "--anchor", "gnu go")
    assert code == 0 and "Elo relative to GNU Go 3.8 level 1" in out and "18/20" in out
    first = sorted(path.name for path in (tmp_path / "matches").iterdir())[0]
    code, out, _ = gonn("rate", first[:10], "--colour")
    assert code == 0 and out.count("#") < 20 and "Black's advantage" in out


@pytest.mark.parametrize("arguments, line", [
    (["--anchor", "1" * 20], "--anchor=11111111111111111111: no such player"),
    (["--anchor", "100k"], "--anchor=100k: 2 players fit"),
    (["feedfeed"], "MATCH=feedfeed: no such match"),
])  # fmt: skip
def test_the_command_names_what_is_wrong(gonn, arguments, line):
    code, out, aside = gonn("rate", *arguments)
    assert (code, out) == (2, "") and aside.startswith(line) and aside.count("\n") == 1
