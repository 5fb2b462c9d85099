"""Tables as text: columns under each other, wide tables in parts, digits of CSV; no column is lost, no number cut."""

import io

import numpy as np
import pytest
from rich.console import Console

from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.writers import WIDEST, TerminalTable, csv_text, latex_table, markdown_table, number_text

EFFECT = {
    "enhancement": "last_move_input",
    "Δ test nats": "−0.3969",
    "95 % interval": "[−0.4295, −0.3642]",
    "p (adjusted)": "<0.0001",
    "verdict": "helps",
    "why": "words that may wrap on several lines where there is not enough space for them on one",
}


def made(columns: tuple[Column, ...], *rows: tuple[str, ...], notes=()) -> Table:
    cells = [{column.key: text_cell(text) for column, text in zip(columns, row, strict=True)} for row in rows]
    return Table("t", "A 5 % title", columns, tuple(Row(str(n), row) for n, row in enumerate(cells)), notes)


def test_columns_under_another_share_its_cells():
    columns = (
        Column("a", "system", "left"),
        Column("b", "nats"),
        Column("c", "size", under="a"),
        Column("d", "why", brief=False),
        Column("e", "because", under="d"),
    )
    table = made(columns, ("x|y", "1.5", "12", "w", "z"))
    head, body = "| system<br>size | nats | why<br>because |\n| :--- | ---: | ---: |", "| x\\|y<br>12 | 1.5 | w<br>z |"
    assert markdown_table(table) == f"{head}\n{body}"


def test_a_wide_table_continues_in_parts_that_repeat_the_first_column():
    columns = (Column("name", "name", "left"), *(Column(f"c{n}", "w" * 20) for n in range(10)))
    parts = [part.splitlines() for part in markdown_table(made(columns, ("one two", *"0123456789"))).split("\n\n")]
    assert len(parts) == 4 and all(len(part[0]) <= WIDEST + 6 for part in parts)
    assert [part[2].strip("| ").split(" | ") for part in parts] == [
        ["one two", *row] for row in ("012", "345", "678", "9")
    ]
    columns = (Column("name", "name", "left"), Column("long", "l" * 200), Column("short", "s"))
    assert len(markdown_table(made(columns, ("a", "b", "c"))).split("\n\n")) == 2


@pytest.mark.parametrize("width", [48, 60, 80, 100, 200])
def test_no_column_is_lost_and_no_number_cut_on_a_terminal(width):
    columns = tuple(
        Column(title, title, "left" if title in ("enhancement", "verdict", "why") else "right") for title in EFFECT
    )
    out = io.StringIO()
    Console(file=out, width=width).print(TerminalTable(made(columns, tuple(EFFECT.values()))))
    text, words = out.getvalue(), out.getvalue().split()
    assert all(len(line) <= width for line in text.splitlines())
    assert all(word in words for title in EFFECT for word in title.split())
    assert all(value in text for value in list(EFFECT.values())[:-1])
    assert all(word in words for word in EFFECT["why"].split())
    parts = words.count("last_move_input")
    assert parts == words.count("enhancement") and (parts > 1) == (width < 80)


def test_latex_has_rules_caption_label_notes_and_no_command_from_a_name():
    columns = (Column("a", "a_b", "left"), Column("b", "b", brief=False), Column("c", "c", "left"))
    evil = r"50 % of $x_1$ & {#} \input{x} ~^ −2 ≥ <a>"
    latex = latex_table(made(columns, ("short", "y", f"{evil} NAME=last_move {evil}"), notes=("50 % more", "second")))
    caption = r"\caption{A 5 \% title}\label{tab:t}"
    head = (r"\begin{longtable}{l>{\raggedright\arraybackslash}p{", caption, r"\toprule", r"a\_b & c \\", r"\midrule")
    parts = (*head, "short & ", r"\bottomrule", r"\end{longtable}", r"50 \% more\par", "second")
    places = [latex.index(part) for part in parts]
    assert places == sorted(places) and r"NAME=\allowbreak{}last\_\allowbreak{}move" in latex
    escaped = r"of \$x\_\allowbreak{}1\$ \& \{\#\} \textbackslash{}input\{x\} \textasciitilde{}\textasciicircum{} $-$2"
    assert escaped in latex and not [line for line in latex.splitlines()[1:] if line.startswith("%")]


@pytest.mark.parametrize(
    "value, text",
    [
        (0.28500000000000003, "0.285"),
        (616.8150306042214, "616.815"),
        (1.25e-9, "1.25e-09"),
        (99999.97, "100000"),
        (209112000.0, "209112000"),
        (-0.0, "0"),
        (float("inf"), "inf"),
    ],
)
def test_measured_numbers_have_six_digits_in_csv(value, text):
    assert number_text(value) == text == number_text(np.float64(value))


def test_csv_has_a_named_column_for_each_number_of_a_list_and_all_digits_of_settings():
    def text(value, *parts, shown="", **options):
        column = Column("delta", "delta", parts=parts, **options)
        return csv_text(Table("t", "T", (column,), (Row("r", {"delta": Cell(shown, value)}),)))

    parts, head = ("delta", *interval95()), "delta,interval95_low,interval95_high\n"
    assert text([1.0, 0.5, 1.5], *parts) == head + "1,0.5,1.5\n" and text(None, *parts) == head + ",,\n"
    assert (
        text([1.0], *parts) == text(1.0, *parts) == head + "1,,\n" and text([0.5, 1.5], *parts) == head + ",0.5,1.5\n"
    )
    assert text([1, 2, 4]) == "delta\n1 2 4\n" and text("=1+1") == "delta\n'=1+1\n"  # seeds; no formula
    assert text([["10", "", 1.0, 4]], shown="level 10: 25 %") == "delta\nlevel 10: 25 %\n"
    assert text("–") == 'delta\n""\n'  # empty, but a row
    rate = 0.04006044338961229
    assert text(rate, exact=True) == f"delta\n{rate}\n" and text(123456789) == "delta\n123456789\n"
    with pytest.raises(ValueError, match="need names"):
        text([1.0, 2.0])
    with pytest.raises(ValueError, match="3 values for low, high"):
        text([1.0, 2.0, 3.0], "low", "high")
