"""What a table of a page needs of a cell beside its text."""

from reports.tables.cells import Cell
from reports.tables.formats import NONE


def sort_key(cell: Cell) -> float | str | None:
    """What the cell is sorted by where that is not its text: its number, or the first of several; empty where there is
    none, which stands last either way."""
    value = cell.value[0] if isinstance(cell.value, (list, tuple)) and cell.value else cell.value
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        return float(f"{value:.6g}")
    return "" if cell.text in (NONE, "") else None
