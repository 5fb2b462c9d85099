"""The Elo correspondence by itself: text, tables as CSV and the picture, of some ladders and the published points."""

from collections.abc import Sequence
from pathlib import Path

from ablations.registry import Registry
from gonn_core.errors import markdown_escape
from reports.book.elo import elo_section
from reports.files import write_files
from reports.play.ladder import Ladder
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text

PAGE = "elo.md"


def write_ladders(ladders: Sequence[Ladder], registry: Registry, folder: Path) -> Path:
    """Write elo.md, elo.png and a CSV file per table into `folder`; elo.md's path. Raises InputError when the disk does
    not take it."""
    write_files(folder, ladder_files(ladders, registry))
    return folder / PAGE


def ladder_files(ladders: Sequence[Ladder], registry: Registry) -> dict[str, bytes]:
    """File -> content; the same ladders give the same bytes."""
    section = elo_section(registry, [], ladders)
    (picture,) = section.pictures
    parts = [f"# {section.title}", *map(markdown_escape, section.sentences), f"![{picture.title}]({picture.name}.png)"]
    for table in section.all_tables:
        parts += [f"## {markdown_escape(table.title)}", markdown_table(table), *map(markdown_escape, table.notes)]
    tables = {f"{table.name}.csv": csv_text(table).encode() for table in section.all_tables}
    return {
        PAGE: ("\n\n".join(parts) + "\n").encode(),
        f"{picture.name}.png": picture.files()[f"{picture.name}.png"],
        **tables,
    }
