"""Tables in markdown, narrow enough for a page."""

from gonn_core.errors import markdown_escape
from reports.tables.cells import Cell, Table


def markdown_table(table: Table, brief: bool = False) -> str:
    """A table in markdown, numbers to the right; `brief`: without the columns that only a wide page has room for.

    Columns that stand `under` another share its cells, a line each. What would still be wider than WIDEST is continued
    in further tables that repeat the first column.
    """
    columns = table.shown(brief)
    keys = {column.key for column in columns}
    stacks = [
        [head, *(each for each in columns if each.under == head.key)] for head in columns if head.under not in keys
    ]
    titles = [
        "<br>".join(markdown_escape(column.title) if column.escape else column.title for column in stack)
        for stack in stacks
    ]
    body = [["<br>".join(_shown(row.cells[column.key]) for column in stack) for stack in stacks] for row in table.rows]
    rules = ["---:" if stack[0].align == "right" else ":---" for stack in stacks]
    parts = _that_fit([_least_width(column) for column in zip(titles, *body, strict=True)])
    return "\n\n".join(
        "\n".join(f"| {' | '.join(cells[index] for index in part)} |" for cells in (titles, rules, *body))
        for part in parts
    )


WIDEST = 90
"""Characters beside each other that a page has room for once every cell is broken at its spaces."""


def _shown(cell: Cell) -> str:
    text = markdown_escape(cell.text) if cell.escape else cell.text
    text = text.replace(" %", "\N{NO-BREAK SPACE}%")
    return f"[{text}]({cell.link})" if cell.link else text


def _least_width(texts: tuple[str, ...]) -> int:
    """Of a column: its longest word, and the room between columns."""
    return 3 + max(
        len(word) for text in texts for line in text.replace("\\", "").split("<br>") for word in line.split(" ")
    )


def _that_fit(widths: list[int]) -> list[list[int]]:
    """Columns of each part of a table, by their widths; the first column is in all of them."""
    parts, room = [[0]], WIDEST - widths[0]
    for index, width in enumerate(widths[1:], 1):
        if width > room and len(parts[-1]) > 1:
            parts.append([0])
            room = WIDEST - widths[0]
        parts[-1].append(index)
        room -= width
    return parts
