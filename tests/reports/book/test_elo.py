"""Ladders in the report: ratings from the matches, the table beside the published one, the picture."""

import numpy as np
import pytest

from reports.book.elo import TO_RATE, elo_section
from reports.play.ladder import ladder_table, ladder_text, read_ladder
from reports.play.rating import rate
from tests.reports.made_ladders import rung, write_ladder
from tests.reports.made_studies import registry

RUNGS = [rung(10_000, 3.4, 0.25), rung(20_000, 2.9, 0.30), rung(50_000, 2.6, 0.34), rung(100_000, 2.4, 0.37)]


@pytest.fixture
def ladder(tmp_path):
    return read_ladder(write_ladder(tmp_path, RUNGS, [(80, 20), (70, 30), (60, 40)], (5, 15)), tmp_path / "matches")


def test_ratings_of_a_ladder_are_those_of_its_matches(ladder):
    assert ladder.tally.points.tolist() == [20, 80 + 30, 70 + 40, 60 + 5, 15]
    assert np.diag(ladder.tally.games, 1).tolist() == [100, 100, 100, 20] and ladder.tally.games.sum() == 640
    assert ladder.ratings.elo == pytest.approx(rate(ladder.tally.taken, ladder.tally.met).elo, abs=1e-6)
    assert (
        ladder.ratings.elo[0] == 0
        and ladder.games == 320
        and [games for games, _ in ladder.neighbours()] == [100, 100, 100]
    )
    assert ladder.rated() == [0, 1, 2, 3] == ladder.curve()


def test_the_table_has_every_rung_and_the_engine(ladder):
    rows = [row.cells for row in ladder_table(ladder).rows]
    assert [row["net"].text for row in rows] == [*(each.name for each in RUNGS), "GNU Go 3.8 level 1"]
    assert [row["games"].value for row in rows] == [100, 200, 200, 120, 20]
    assert rows[0]["elo"].text == "0" and rows[0]["nats"].text == "3.4000" and rows[4]["nats"].text == "–"
    elo, half = rows[3]["elo"].value
    assert rows[3]["elo"].text == f"{elo:.0f} ± {half:.0f}" and 400 < elo < 600 and rows[4]["elo"].value[0] > elo


def test_rungs_without_games_are_not_rated(tmp_path):
    found = read_ladder(write_ladder(tmp_path, RUNGS, [(80, 20), (0, 0), (60, 40)]), tmp_path / "matches")
    assert found.rated() == [0, 1] and found.neighbours()[1] == (0, None)
    rows = [row.cells for row in ladder_table(found).rows]
    assert [row["elo"].text for row in rows][2:] == ["–", "–"]
    texts = ladder_text(found)
    assert any("2 of the 4 rungs are not linked" in text for text in texts) and "No link to GNU Go" in texts[-1]


def test_the_section_names_the_command_until_there_are_games(ladder):
    assert TO_RATE in elo_section(registry(), []).sentences
    section = elo_section(registry(), [], [ladder])
    assert TO_RATE not in section.sentences
    assert [table.name for table in section.tables] == ["elo", f"elo-{ladder.file.id}"]
    again = elo_section(registry(), [], [ladder])
    assert {*section.pictures[0].files()} == {"elo.png", "elo.svg"} and section.pictures[0].files() == again.pictures[
        0
    ].files()
