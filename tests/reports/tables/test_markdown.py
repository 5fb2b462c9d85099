"""Tables in markdown: columns under each other, wide tables in parts."""

from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.markdown import WIDEST, markdown_table


def made(columns: tuple[Column, ...], *rows: tuple[str, ...]) -> Table:
    return Table(
        "t",
        "T",
        columns,
        tuple(
            Row(str(n), {column.key: text_cell(text) for column, text in zip(columns, row, strict=True)})
            for n, row in enumerate(rows)
        ),
    )


def test_columns_under_another_share_its_cells():
    columns = (
        Column("a", "system", "left"),
        Column("b", "nats"),
        Column("c", "size", under="a"),
        Column("d", "why", brief=False),
        Column("e", "because", under="d"),
    )
    table = made(columns, ("x|y", "1.5", "12", "w", "z"))
    assert (
        markdown_table(table)
        == "| system<br>size | nats | why<br>because |\n| :--- | ---: | ---: |\n| x\\|y<br>12 | 1.5 | w<br>z |"
    )
    # A column whose place is not shown stands for itself.
    assert markdown_table(table, brief=True).splitlines()[0] == "| system<br>size | nats | because |"


def test_a_wide_table_goes_on_in_parts_that_repeat_the_first_column():
    columns = (Column("name", "name", "left"), *(Column(f"c{n}", "w" * 20) for n in range(10)))
    table = made(columns, ("one two", *map(str, range(10))))
    parts = markdown_table(table).split("\n\n")
    assert len(parts) == 4
    assert all(
        part.splitlines()[2].startswith("| one two |") and len(part.splitlines()[0]) <= WIDEST + 6 for part in parts
    )
    assert [cell for part in parts for cell in part.splitlines()[2].split(" | ")[1:]] == [
        *"01",
        "2 |",
        *"34",
        "5 |",
        *"67",
        "8 |",
        "9 |",
    ]


def test_one_column_too_wide_stands_beside_the_first():
    columns = (Column("name", "name", "left"), Column("long", "l" * 200), Column("short", "s"))
    parts = markdown_table(made(columns, ("a", "b", "c"))).split("\n\n")
    assert [part.splitlines()[2] for part in parts] == ["| a | b |", "| a | c |"]


def test_cells_that_wrap_at_spaces_are_not_wide():
    columns = tuple(Column(str(n), "x") for n in range(7))
    table = Table("t", "T", columns, (Row("r", {str(n): Cell("−0.1234 [−0.1234, −0.1234]") for n in range(7)}),))
    assert "\n\n" not in markdown_table(table)
