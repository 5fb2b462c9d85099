"""Match directories as a rating reads them: torn lines, voided games, games played anew, what is damaged."""

import json

import pytest
from scipy.stats import binomtest

from gonn_core.errors import Damaged, InputError
from gonn_core.files.json_files import read_json
from gonn_core.play.match.record import MatchRecord, game_points, load_match, load_matches, player_id
from reports.play.rating import tally, wilson
from tests.reports.play.made_matches import ENGINE, game, net, write_match


def test_games_points_and_players(tmp_path):
    a, b = net("1" * 16), net("2" * 16)
    write_match(tmp_path, a, b, [game(0, "A", "A"), game(1, "B", "A"), game(2, "A", "B"), game(3, "B", None, "0")])
    (found,) = load_matches(tmp_path)
    assert (
        [game_points(each, "A") for each in found.games] == [1, 1, 0, 0.5]
        and found.points("A") == 2.5
        and found.points("B") == 1.5
    )
    table = tally([found])
    assert table.ids == (player_id(a), player_id(b)) and table.identities[table.ids[1]] == b
    assert table.points.tolist() == [[0, 1], [0.5, 0]] and table.games.tolist() == [[0, 2], [2, 0]]
    assert table.taken.tolist() == [[0, 2.5], [1.5, 0]] and table.met.tolist() == [[0, 4], [4, 0]]


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
    assert [(each.game, each.winner) for each in found.games] == [(0, "B")] and found.voided == 2


def test_a_match_without_games_yet(tmp_path):
    folder = write_match(tmp_path, net("1" * 16), ENGINE, [])
    (folder / "games.jsonl").unlink()
    assert load_match(folder).games == () and tally([load_match(folder)]).met.sum() == 0


def test_what_is_missing_of_a_match_is_named(tmp_path, caplog):
    """Games that have an SGF file but no line; a match that has games but no match.json."""
    folder = write_match(tmp_path, net("1" * 16), ENGINE, [game(0, "A", "A"), game(2, "A", "B")])
    (folder / "sgf").mkdir()
    for number in range(2):
        (folder / "sgf" / f"{number}.sgf").touch()
    assert [each.game for each in load_match(folder).games] == [0, 2]
    assert f"{folder}/games.jsonl: it lacks 1 of the games in sgf/" in caplog.text
    (folder / "games.jsonl").unlink()
    assert load_match(folder).games == () and "it lacks 2 of the games in sgf/" in caplog.text
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
    first = table.number(player_id(a))
    assert table.met.sum() == 4 and table.taken[first, 1 - first] == 1


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
    assert [each.game for each in load_match(folder).games] == [0]
    assert "line 2 is no game" in caplog.text and "its game is left out" in caplog.text
    with pytest.raises(Damaged, match="line 2 is no game"):
        MatchRecord(folder).lines()


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
