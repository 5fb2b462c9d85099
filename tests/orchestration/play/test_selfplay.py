"""Games of an engine against itself: made from their number, resumed, scored; engines' names; setup stones."""

import sys
from collections import Counter

import numpy as np
import pytest

from gonn_core.errors import SettingError
from gonn_core.go.points import BLACK, PASS, POINTS, SIZE, WHITE, point
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.players import Engine, EnginePlayer, EnginePool, parse_engine
from gonn_core.play.game import Game, game_sgf
from gonn_core.play.rules import Openings, random_setup
from gonn_core.records.sgf import read_game
from orchestration.cli.command import run
from orchestration.play.selfplay import KOMIS, new_game, play_game
from tests.paths import FAKE_ENGINE

COMMAND = f"{sys.executable} -S {FAKE_ENGINE} stones=3 seed={{seed}}"


def played(game: Game, *words) -> str:
    """The result of a game of the fake engine with itself."""
    fake = Engine((sys.executable, "-S", str(FAKE_ENGINE), *words))
    with EnginePool(fake) as pool, EnginePlayer(pool, 1, restarts=0) as engine:
        return play_game(engine, game)


def test_a_game_is_read_back_as_it_was_played():
    game = Game(6.5, {point("D4"): BLACK, point("Q16"): WHITE, point("K10"): BLACK}, WHITE)
    result = played(game, "stones=2")
    names = ["A1", "A19", "B1", "B19"]
    moves = [*zip([WHITE, BLACK] * 2, map(point, names), strict=True), (WHITE, PASS), (BLACK, PASS)]
    assert game.moves == moves
    read = read_game(game_sgf(game, result, "Fake ]\\ 1", "", "7"), "kgs")
    assert (read.komi, read.margin, read.winner) == (6.5, 12.5, BLACK)
    assert list(zip(read.colours.tolist(), read.moves.tolist(), strict=True)) == moves
    assert sorted(read.setup) == sorted(colour * POINTS + stone for stone, colour in game.setup.items())


@pytest.mark.parametrize(
    "does, said", [("illegal", "illegal move"), ("nonsense", "no answer to .*: Z77"), ("crash", "ended")]
)
def test_games_that_fail(does, said):
    with pytest.raises(EngineError, match=said):
        played(Game(), "at=3", f"does={does}")


def test_beginnings_are_pure_and_varied():
    games = [[new_game(number) for number in range(100)] for _ in range(2)]
    first, again = ([(game.komi, game.setup, game.to_move) for game in made] for made in games)
    assert first == again and {komi for komi, _, _ in first} == set(KOMIS)
    stones = Counter(len(setup) for _, setup, _ in first)
    assert set(stones) == {0, 1, 2, 3, 4} and 20 < stones[0] < 48
    assert all((to_move == WHITE) == (len(setup) % 2 == 1) for _, setup, to_move in first)


def test_setup_stones_lie_on_the_third_to_fifth_lines_or_the_centre():
    generator = np.random.default_rng(1)
    lines = Counter()
    for _ in range(500):
        setup = random_setup(generator)
        assert setup and list(setup.values()) == [BLACK, WHITE, BLACK, WHITE][: len(setup)]
        for stone in setup:
            row, col = divmod(stone, SIZE)
            lines[min(row, col, SIZE - 1 - row, SIZE - 1 - col) + 1] += 1
    assert set(lines) == {3, 4, 5, 10}


def test_both_games_of_a_pair_begin_alike():
    openings = Openings(kind="stones")
    assert openings.of_game(3, 8) == openings.of_game(3, 9)
    assert len({str(openings.of_game(3, 2 * pair)) for pair in range(30)}) > 10
    assert Openings().of_game(3, 8) == ({}, BLACK)


def test_engines_by_name(tmp_path, monkeypatch):
    program = tmp_path / "gnugo"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    engine = parse_engine("gnugo:3")
    assert engine.level == 3 and engine.argv(42)[0] == str(program)
    assert engine.argv(42)[-2:] == ["--seed", "42"] and "{seed}" in engine.command
    assert parse_engine("gnugo").level == 10 and parse_engine("gnugo", 5).level == 5
    monkeypatch.undo()
    assert parse_engine("sh -c 'exit 1'").argv(1)[1:] == ["-c", "exit 1"]


@pytest.mark.parametrize(
    "text, level, said",
    [("gnugo:11", None, "level=11"), ("gnugo:1", 2, "no level"), ("", None, "no command"), ("'open", None, "split")],
)
def test_what_is_no_engine(text, level, said, monkeypatch):
    monkeypatch.setattr("gonn_core.play.engines.players.find_program", lambda name: name) if text.startswith(
        "gnugo"
    ) else None
    with pytest.raises(SettingError, match=said):
        parse_engine(text, level)


def test_a_missing_gnugo_names_the_package(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("gonn_core.play.engines.players._GAME_FOLDERS", ())
    with pytest.raises(SettingError, match="apt install gnugo"):
        parse_engine("gnugo")


def test_the_command_makes_what_is_missing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    out = tmp_path / "games"
    command = ["data", "selfplay", "--engine", COMMAND, "--out", str(out), "--seed", "5", "--workers", "2", "--games"]
    assert run([*command, "3"]) == 0
    files = {path.name: path.read_bytes() for path in out.glob("*.sgf")}
    assert len(files) == 3 and all(
        name.endswith(f"-{number:06d}.sgf") for name, number in zip(sorted(files), (5, 6, 7), strict=True)
    )
    (out / sorted(files)[1]).unlink()
    assert run([*command, "4"]) == 0
    again = {path.name: path.read_bytes() for path in out.glob("*.sgf")}
    assert len(again) == 4 and {name: again[name] for name in files} == files
    assert "2 of 4 games are there" in capsys.readouterr().err


def test_failed_games_are_counted_and_left_out(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    command = f"{sys.executable} -S {FAKE_ENGINE} stones=2 at={{seed}} does=illegal"
    arguments = [
        "data",
        "selfplay",
        "--engine",
        command,
        "--out",
        str(tmp_path / "games"),
        "--games",
        "8",
        "--workers",
        "2",
    ]
    assert run(arguments) == 1  # the engine is asked for six moves a game: from game 7 on it comes to no harm
    told = capsys.readouterr()
    assert (
        "6 failed and are tried again by the same command: 1, 2, 3, 4, 5, 6" in " ".join(told.out.split())
        and "game 2 failed: illegal move" in told.err
    )
    assert len(list((tmp_path / "games").glob("*.sgf"))) == 2
