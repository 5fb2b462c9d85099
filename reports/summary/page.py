"""The page of `gonn summary`: every enhancement with its effect, what could have been shown, and its claim."""

from collections.abc import Sequence
from pathlib import Path

from ablations.registry import Registry
from reports.files import write_files
from reports.page import Page, Section, markdown
from reports.study.report import Report
from reports.summary.box import page_summary
from reports.summary.figure import forest
from reports.summary.lines import summary_forest, summary_lines, summary_table
from reports.tables.serial import csv_text, json_bytes


def write_summary(reports: Sequence[Report], registry: Registry, folder: Path, cache: Path | None = None) -> Path:
    """`summary.md`, `.csv`, `.json`, the forest as `.png` and `.svg`, in `folder`. Returns the markdown's path.

    `cache`: as of `reports.book.book.write_book`. Raises InputError.
    """
    lines = summary_lines(reports, registry)
    table, picture = summary_table(lines), forest(summary_forest(lines), "summary", "Effects with their intervals")
    studies = [report.study.id for report in reports]
    sections = (
        Section(table.title, pictures=(picture,) if picture else (), tables=(table,)),
        Section("Studies", tuple(f"`{study}`" for study in studies), points=True),
    )
    page = Page("Enhancements compared", f"{len(studies)} studies", page_summary(reports, lines, registry), sections)
    tree = {"format": 1, "rows": [{key: cell.value for key, cell in row.cells.items()} for row in table.rows]}
    tree["trials"] = [{key: list(cell.trials) for key, cell in row.cells.items() if cell.trials} for row in table.rows]
    tree["studies"] = studies
    write_files(
        folder,
        {
            "summary.md": markdown(page).encode(),
            "summary.csv": csv_text(table).encode(),
            "summary.json": json_bytes(tree),
            **(picture.files(cache) if picture else {}),
        },
    )
    return folder / "summary.md"
