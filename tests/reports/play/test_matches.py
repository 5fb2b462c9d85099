"""Matches as tables: points by colour, ends, ratings; games with engines in the report."""

import csv
import io

import pytest

from gonn_core.play.match.record import load_matches
from orchestration.cli import command as cli
from reports.book.book import book_page, manifest
from reports.book.elo import TO_PLAY
from reports.page import Page
from reports.play.matches import against_engine, load_played, match_table, rating_table
from reports.play.players import names_in
from reports.play.rating import rate, tally
from reports.results.decisions import load_results
from reports.study.render import write_report
from reports.tables.writers import csv_text
from tests.reports.made_ladders import rung, write_ladder
from tests.reports.made_studies import plan_study, registry, train
from tests.reports.play.made_matches import ENGINE, game, net, won, write_match

LEVEL_TEN = {**ENGINE, "command": ["gnugo", "--mode", "gtp", "--level", "10"]}
A, B, C = (net(digit * 16) for digit in "123")
PACHI = {"kind": "engine", "command": ["pachi", "-t", "=100000"], "name": "Pachi UCT", "version": "12"}


def matches_table(folder):
    matches = load_matches(folder)
    return match_table(matches, names_in(matches, {}))


def test_points_by_colour_ends_and_intervals(tmp_path):
    lines = [
        game(0, "A", "A"),
        game(1, "B", "B", end="resign"),
        game(2, "A", None, "0"),
        game(3, "B", "A", end="illegal"),
        game(4, "A", None, "Void", "crash"),
    ]
    write_match(tmp_path, A, LEVEL_TEN, lines)
    table = matches_table(tmp_path)
    (row,) = csv.DictReader(io.StringIO(csv_text(table)))
    assert (row["games"], row["points"], row["black"], row["white"], row["voided"]) == ("4", "2.5", "1.5", "1", "1")
    assert row["ends"] == "passes 2 resign 1 illegal 1" and row["moves"] == "200"
    assert float(row["interval95_low"]) < 0.625 < float(row["interval95_high"])
    assert any("1 of GNU Go 3.8 level 10." in note for note in table.notes)
    write_match(tmp_path, A, ENGINE, [game(0, "A", None, "Void", "crash")])
    write_match(tmp_path, A, ENGINE, [game(0, "A", "B")], rules="japanese")
    table = matches_table(tmp_path)  # names with numbers go by these; rules have a column where they differ
    assert [row.cells["b"].text[-8:] for row in table.rows] == [" level 1", " level 1", "level 10"]
    assert {row.cells["share"].text for row in table.rows[:2]} == {"–", "0.0 %"}
    assert sorted(row.cells["rules"].text for row in table.rows) == ["Chinese", "Chinese", "Japanese"]


def ratings_table(folder):
    matches = load_matches(folder)
    found = tally(matches)
    return rating_table(found, rate(found.taken, found.met), names_in(matches, {}), matches)


def test_the_strongest_first_with_intervals(tmp_path):
    write_match(tmp_path, A, B, won(80, 20))
    write_match(tmp_path, C, A, [*won(30, 69), game(99, "A", None, "0"), game(100, "A", None, "Void", "crash")])
    table = ratings_table(tmp_path)
    cells = [[row.cells[key].text for key in ("number", "player", "games", "share")] for row in table.rows]
    assert cells[0] == ["#1", "11111111 @100k", "200", "74.8 %"] and [row[0] for row in cells] == ["#1", "#2", "#3"]
    assert [row.cells["interval"].text for row in table.rows].count("anchor") == 1
    assert any("komi 7.5" in note for note in table.notes)


@pytest.mark.parametrize("arguments, code, said", [
    (["--anchor", "gnu go"], 0, "Elo relative to GNU Go 3.8 level 1"),
    (["--anchor", "1" * 20], 2, "--anchor=11111111111111111111: no such player"),
    (["--anchor", "100k"], 2, "--anchor=100k: 2 players fit"),
    (["feedfeed"], 2, "MATCH=feedfeed: no such match"),
])  # fmt: skip
def test_the_command_rates_all_matches_or_names_what_is_wrong(tmp_path, monkeypatch, capsys, arguments, code, said):
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    write_match(tmp_path / "matches", A, B, won(80, 20))
    write_match(tmp_path / "matches", B, ENGINE, won(2, 18))
    assert cli.run(["rate", *arguments]) == code
    out, error = capsys.readouterr()
    assert said in (error if code else out) and error.count("\n") == (code == 2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study, and games of its control's final nets (two seeds) with engines."""
    folder = tmp_path_factory.mktemp("played")
    found = plan_study(folder, "last_move_input", budget="cpu", seeds=(1, 2, 3))
    train(found, {})
    control, samples = found.study.trials_of("control"), found.study.arms[0].config.training.samples
    matches = folder / "matches"
    write_match(matches, net(control[1], samples), ENGINE, won(4, 16))
    write_match(matches, ENGINE, net(control[2], samples), won(10, 10))
    write_match(matches, net(control[1], samples, kind="argmax"), LEVEL_TEN, won(1, 9))
    write_match(matches, net(control[1], 10_016), ENGINE, won(0, 20))  # an earlier snapshot
    write_match(matches, PACHI, net(control[3], samples), won(20, 0))
    write_match(matches, net(control[1], samples), net(control[2], samples), won(3, 3))
    write_match(matches, net(control[1], samples, history="none"), net(control[1], samples), won(3, 3))
    return found


def test_games_with_an_engine_by_level_and_choice(made):
    played = load_played(made.folder / "matches", made.folder / "elo")
    control = made.study.trials_of("control")
    trials = dict.fromkeys(control.values(), 100_000)
    cell = against_engine(played, trials, "GNU Go")
    assert cell.text == "level 10: 10 % (1/10), argmax; level 1: 35 % (14/40)" and cell.trials == tuple(
        sorted((control[1], control[2]))
    )
    assert cell.value == [["10", "argmax", 1, 10], ["1", "", 14, 40]]
    assert against_engine(played, trials, "Pachi").text == "0 % (0/20)"
    assert against_engine(played, {"f" * 16: 100_000}, "GNU Go").text == "–"


def test_the_book_has_cells_a_section_and_ladders(made):
    report = write_report(
        made.study, load_results(made.study, made.runs, made.study_folder), made.folder / "out", made.registry
    ).report
    empty = {section.title: section for section in book_page([report], [], registry()).sections}
    assert empty["Games"].sentences == (TO_PLAY,)
    write_ladder(made.folder / "other", [rung(10_000, 3.0), rung(20_000, 2.5), rung(50_000, 2.2)], [(70, 30), (60, 40)])
    played = load_played(made.folder / "matches", made.folder / "elo")
    ladders = load_played(made.folder / "other" / "matches", made.folder / "other" / "elo")
    sections = {
        section.title: section
        for section in book_page(
            [report], [], registry(), played=type(played)(played.matches, ladders.ladders)
        ).sections
    }
    comparison = next(
        table for section in sections.values() for table in section.all_tables if table.name == "comparison"
    )
    ours = next(row for row in comparison.rows if row.key.startswith("here"))
    assert (
        ours.cells["gnugo"].text.startswith("level 10: 10 % (1/10), argmax")
        and ours.cells["pachi"].text == "0 % (0/20)"
    )
    assert any("level 10" in note for note in comparison.notes)
    (table,) = sections["Games"].tables
    assert len(table.rows) == 6 and any(
        cell.text == "gonn-b5 s1 @100k, argmax" for row in table.rows for cell in row.cells.values()
    )
    behind = manifest(Page("t", "a", None, tuple(sections.values())), [report], ladders=ladders.ladders)["trials"]
    assert behind["1" * 16] == {
        "ladder": ladders.ladders[0].file.id,
        "matches": list(ladders.ladders[0].file.matches),
    }  # a net of no study
