"""The table of matches."""

import csv
import io
from dataclasses import replace

from gonn_core.play.match.record import GameLine, Match, player_id
from gonn_core.play.rules import RULES, Rules
from reports.play.match_table import match_table
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text

NET = {"kind": "net", "trial": "a" * 16, "samples": 1000, "weights": "w", "choice": {}}


def engine(level):
    return {"kind": "engine", "command": ["gnugo", "--level", str(level)], "name": "GNU Go", "version": "3.8"}


def line(number, winner, end="passes", result="B+1.5"):
    return GameLine(game=number, black="AB"[number % 2], winner=winner, result=result, end=end, moves=200 + number)


def match(level, *lines, voided=0):
    return Match(
        f"{level:016x}", {"A": NET, "B": engine(level)}, Rules().model_dump(), {"kind": "empty"}, 1, lines, voided
    )


NAMES = {player_id(NET): "a net"} | {player_id(engine(level)): f"GNU Go 3.8 level {level}" for level in (5, 10)}


def test_points_by_colour_ends_and_intervals():
    lines = (line(0, "A"), line(1, "B", "resign"), line(2, None, result="0"), line(3, "A", "illegal"))
    table = match_table([match(10, *lines, voided=2)], NAMES)
    (row,) = csv.DictReader(io.StringIO(csv_text(table)))
    assert (row["games"], row["points"], row["black"], row["white"], row["voided"]) == ("4", "2.5", "1.5", "1", "2")
    assert row["ends"] == "passes 2 resign 1 illegal 1" and row["moves"] == "201.5"
    assert float(row["interval95_low"]) < 0.625 < float(row["interval95_high"])
    notes = " ".join(table.notes)
    assert (
        "2 games were voided" in notes
        and "Refused moves, each of which lost its game: 1 of GNU Go 3.8 level 10." in notes
    )


def test_rows_go_by_names_and_levels():
    table = match_table([match(10, line(0, "A")), match(5, line(0, "B"))], NAMES)
    assert [row.cells["b"].text for row in table.rows] == ["GNU Go 3.8 level 5", "GNU Go 3.8 level 10"]
    assert markdown_table(table).count("a net<br>GNU Go 3.8 level") == 2


def test_a_match_without_a_result():
    table = match_table([match(5, voided=3)], NAMES)
    assert table.rows[0].cells["share"].text == "–" and "3 games were voided" in " ".join(table.notes)


def test_rules_have_a_column_where_they_differ():
    japanese = replace(match(5, line(0, "B")), rules=RULES["japanese"].model_dump())
    one, both = (match_table(matches, NAMES) for matches in ([japanese], [match(10, line(0, "A")), japanese]))
    assert "rules" not in {column.key for column in one.columns}
    assert [row.cells["rules"].text for row in both.rows] == ["Japanese", "Chinese"]
    assert "| Japanese |" in markdown_table(both) and sum(note.startswith("Rules: ") for note in both.notes) == 2
