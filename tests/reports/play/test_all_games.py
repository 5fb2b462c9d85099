"""Games with engines in the report: cells of the comparison, the section with every match."""

import pytest

from reports.book.book import book_page, manifest
from reports.book.elo import TO_PLAY
from reports.page import Page
from reports.play.all_games import against_engine, load_played, trial_names
from reports.results.decisions import load_results
from reports.study.render import write_report
from tests.reports.made_ladders import rung, write_ladder
from tests.reports.made_studies import plan_study, registry, train
from tests.reports.play.made_matches import ENGINE, net, won, write_match

LEVEL_TEN = {**ENGINE, "command": ["gnugo", "--mode", "gtp", "--level", "10"]}
PACHI = {"kind": "engine", "command": ["pachi", "-t", "=100000"], "name": "Pachi UCT", "version": "12"}


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


def test_games_by_other_rules_are_told_apart(made):
    control = made.study.trials_of("control")
    trials = dict.fromkeys(control.values(), 100_000)
    write_match(made.folder / "by_rules", net(control[1], 100_000), LEVEL_TEN, won(3, 1))
    write_match(made.folder / "by_rules", net(control[1], 100_000), LEVEL_TEN, won(1, 4), rules="japanese")
    played = load_played(made.folder / "by_rules", made.folder / "elo")
    assert against_engine(played, trials, "GNU Go").text == (
        "level 10: 75 % (3/4); level 10: 20 % (1/5), Japanese rules"
    )
    assert against_engine(played, trials, "GNU Go", "chinese").text == "level 10: 75 % (3/4)"
    assert against_engine(played, trials, "GNU Go", "japanese").text == "level 10: 20 % (1/5)"


def test_the_book_has_cells_a_section_and_ladders(made):
    report = write_report(
        made.study, load_results(made.study, made.runs, made.study_folder), made.folder / "out", made.registry
    ).report
    empty = {section.title: section for section in book_page([report], [], registry()).sections}
    assert empty["Games with engines"].sentences == (TO_PLAY,)
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
    (table,) = sections["Games with engines"].tables
    assert len(table.rows) == 5 and any(
        cell.text == "gonn-b5 s1 @100k, argmax" for row in table.rows for cell in row.cells.values()
    )
    assert any(table.name.startswith("elo-read-") for table in sections["Elo correspondence"].tables)
    behind = manifest(Page("t", "a", None, tuple(sections.values())), [report], ladders=ladders.ladders)["trials"]
    assert behind["1" * 16] == {
        "ladder": ladders.ladders[0].file.id,
        "matches": list(ladders.ladders[0].file.matches),
    }  # a net of no study


def test_names_of_trials(made):
    names = trial_names([made.study, made.study])
    assert names[made.study.trials_of("control")[2]] == "gonn-b5 s2" and names[
        made.study.trials_of("without-last_move_input")[1]
    ].startswith("gonn-b5 without last_move_input")
