"""Match directories as a rating reads them: torn lines, voided games, games played anew, what is damaged."""

import json

import pytest
from scipy.stats import binomtest

from gonn_core.errors import InputError
from gonn_core.files.json_files import read_json
from gonn_core.play.match.record import load_match, load_matches, player_id
from reports.play.rating import tally, wilson
from tests.reports.play.made_matches import ENGINE, game, net, write_match


def test_a_torn_line_is_not_read_and_voided_games_count_apart(tmp_path):
    folder = write_match(
        tmp_path,
        net("1" * 16),
        ENGINE,
        [game(0, "A", None, "Void", "crash"), game(0, "A", "B"), game(1, "B", None, "Void", "timeout")],
    )
    with open(folder / "games.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(game(1, "B", "A"))[:-4])
    found = load_match(folder)
    assert [(line.game, line.winner) for line in found.games] == [(0, "B")] and found.voided == 2


def test_a_match_whose_file_is_missing_is_named(tmp_path, caplog):
    folder = write_match(tmp_path, net("1" * 16), ENGINE, [game(0, "A", "A")])
    (folder / "match.json").unlink()
    (tmp_path / "empty").mkdir()
    assert load_matches(tmp_path) == [] and f"{folder}/match.json: it is missing; the match is left out" in caplog.text
    assert "empty" not in caplog.text


def test_several_matches_of_the_same_players_add_up_and_self_play_counts_nothing(tmp_path):
    a, b = net("1" * 16), net("2" * 16)
    write_match(tmp_path, a, b, [game(0, "A", "A")], seed=1)
    write_match(tmp_path, b, a, [game(0, "A", "A")], seed=2)
    write_match(tmp_path, a, a, [game(0, "A", "A")], seed=3)
    table = tally(load_matches(tmp_path))
    first = table.ids.index(player_id(a))
    assert table.games.tolist() == [[0, 2], [2, 0]] and table.points[first] == 1
    assert table.met[first, 1 - first] == 1 and table.taken[first, 1 - first] == 1


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "{",
        '{"game": 0, "black": "C", "winner": "A", "result": "B+1", "end": "passes", "moves": 1}',
        '{"game": "x"}',
        "7",
    ],
)
def test_a_line_that_is_no_game_is_named_and_left_out(tmp_path, line, caplog):
    folder = write_match(tmp_path, net("1" * 16), ENGINE, [game(0, "A", "A")])
    (folder / "games.jsonl").write_text(json.dumps(game(0, "A", "A")) + "\n" + line + "\n")
    assert [line.game for line in load_match(folder).games] == [0]
    assert "line 2: no game" in caplog.text and "its game is left out" in caplog.text


def test_a_missing_match_and_one_of_another_format(tmp_path):
    with pytest.raises(InputError, match="no match"):
        load_matches(tmp_path, ["feedfeedfeedfeed"])
    folder = write_match(tmp_path, net("1" * 16), ENGINE, [])
    tree = read_json(folder / "match.json")
    (folder / "match.json").write_text(json.dumps({**tree, "format": 2}))
    with pytest.raises(InputError, match="format 2"):
        load_match(folder)
    (folder / "match.json").write_text(json.dumps({**tree, "players": {"A": {}}}))
    with pytest.raises(InputError, match="damaged"):
        load_match(folder)


@pytest.mark.parametrize("won,games", [(0, 5), (5, 5), (3, 10), (292, 600), (1, 1)])
def test_wilson(won, games):
    theirs = binomtest(won, games).proportion_ci(method="wilson")
    assert wilson(won, games) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    with pytest.raises(ValueError):
        wilson(1, 0)
