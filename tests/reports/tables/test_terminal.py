"""Tables on terminals of any width: no column is lost, no number cut."""

import io

import pytest
from rich.console import Console

from reports.tables.cells import Cell, Column, Row, Table
from reports.tables.terminal import rich_table

COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("delta", "Δ test nats"),
    Column("interval", "95 % interval"),
    Column("p", "p (adjusted)"),
    Column("verdict", "verdict", "left"),
    Column("why", "why", "left"),
)
CELLS = {
    "card": "last_move_input",
    "delta": "−0.3969",
    "interval": "[−0.4295, −0.3642]",
    "p": "<0.0001",
    "verdict": "helps",
    "why": "words that may stand on several lines where there is not enough room for them on one",
}


def printed(width: int) -> str:
    table = Table("effects", "Effects", COLUMNS, (Row("one", {key: Cell(text) for key, text in CELLS.items()}),))
    out = io.StringIO()
    Console(file=out, width=width).print(rich_table(table))
    return out.getvalue()


@pytest.mark.parametrize("width", [48, 60, 80, 100, 120, 200])
def test_no_column_is_lost_and_no_number_cut(width):
    text = printed(width)
    assert all(len(line) <= width for line in text.splitlines())
    words = text.split()
    titles = ["enhancement", "95", "%", "interval", "verdict", "why"]
    for word in (*titles, "−0.3969", "[−0.4295, −0.3642]", "<0.0001", "helps"):
        assert word in words or word in text
    assert all(word in words for word in CELLS["why"].split())


def test_what_does_not_fit_stands_below_beside_the_name():
    assert printed(200).count("last_move_input") == 1
    narrow = printed(60)
    assert narrow.count("last_move_input") == narrow.count("enhancement") == 2
    assert narrow.index("−0.3969") < narrow.index("helps")
