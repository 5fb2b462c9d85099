"""Writes a study's report: markdown, JSON, CSV tables, figure, and the manifest of the runs behind every cell.

Nothing here depends on when or where it is written: the same trials give the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path

import jinja2

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import InputError, SettingError, markdown_escape, printable
from gonn_core.files.whole import write_whole
from reports.study import serial
from reports.study.report import Report, make_report
from reports.study.results import StudyResults
from reports.study.seed_pool import EarlierNoise
from reports.tables.cells import Cell, Table
from reports.tables.serial import csv_text, json_bytes

TEMPLATES = Path(__file__).parents[1] / "templates"
_RUN_COLUMNS = ("arm", "seed", "trial", "state", "weights")


@dataclass(frozen=True)
class ReportFiles:
    """What was written, and the report itself; `figures`: PNG and SVG, none while there is nothing to draw."""

    folder: Path
    markdown: Path
    data: Path
    manifest: Path
    tables: tuple[Path, ...]
    figures: tuple[Path, ...]
    report: Report


def write_report(
    study: Study,
    results: StudyResults,
    out_folder: Path | str,
    registry: Registry | None = None,
    earlier: EarlierNoise | None = None,
    keys: Path | None = None,
) -> ReportFiles:
    """Write `<out_folder>/<study id>/`. `registry`: where the claims stand, the bundled one unless given; `keys`: see
    reports.figures.cache,
    None: the figure is drawn anew. Raises UserError."""
    if results.study != study:
        raise ValueError("these are the results of another study")
    folder = _folder(out_folder, study)
    from reports.figures.cache import kept_figure  # which needs this module

    report = make_report(results, registry or load_registry(), earlier)
    numbers = json_bytes(serial.report_tree(report))
    pictures = _figure(report) if keys is None else kept_figure(folder, keys, report, numbers, lambda: _figure(report))
    tables = {f"{table.name}.csv": csv_text(table).encode() for table in report.all_tables}
    contents = {
        "report.md": markdown(report, bool(pictures)).encode(),
        "report.json": numbers,
        "manifest.json": json_bytes(serial.manifest(report)),
        **tables,
        **pictures,
    }
    write_files(folder, contents)
    for name in {"figure.png", "figure.svg"} - set(pictures):
        (folder / name).unlink(missing_ok=True)
    return ReportFiles(
        folder=folder,
        markdown=folder / "report.md",
        data=folder / "report.json",
        manifest=folder / "manifest.json",
        tables=tuple(folder / name for name in tables),
        figures=tuple(folder / name for name in pictures),
        report=report,
    )


def found_report(
    study: Study,
    results: StudyResults,
    out_folder: Path | str,
    registry: Registry,
    earlier: EarlierNoise | None = None,
    keys: Path | None = None,
) -> ReportFiles:
    """As `write_report`, of a report whose files are there already, as they would be written."""
    folder = _folder(out_folder, study)
    tables, figures = (
        sorted(folder.glob("*.csv")),
        [folder / name for name in ("figure.png", "figure.svg") if (folder / name).is_file()],
    )
    report = make_report(results, registry, earlier)
    return ReportFiles(
        folder,
        folder / "report.md",
        folder / "report.json",
        folder / "manifest.json",
        tuple(tables),
        tuple(figures),
        report,
    )


def _folder(out_folder: Path | str, study: Study) -> Path:
    folder = Path(out_folder) / study.id
    if folder.name != study.id or study.id in (".", ".."):
        raise SettingError("STUDY", study.id, "not a name of a folder")
    return folder


def _figure(report: Report) -> dict[str, bytes]:
    from reports.figures.study import draw  # matplotlib, only where a figure is made

    return draw(report.results, report.analyses[0, "nats"], report.findings) or {}


def markdown(report: Report, figure: bool = False) -> str:
    """The text of report.md; `figure`: figure.png lies beside it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"md": markdown_text, "markdown_table": markdown_table, "code": _code}
    trials = report.table("trials")
    runs = Table("runs", "Runs", tuple(column for column in trials.columns if column.key in _RUN_COLUMNS), trials.rows)
    return environment.get_template("report.md.j2").render(
        study=report.study,
        sentences=report.sentences,
        tables=report.tables,
        folded=report.folded,
        notes=report.notes,
        runs=runs,
        figure=figure,
        unfinished=bool(report.results.unfinished),
        finished=len(report.results.trials) - len(report.results.unfinished),
        trials=len(report.results.trials),
        thresholds=report.study.thresholds,
        percent=lambda share: f"{100 * share:g} %",
    )


def markdown_text(text: str) -> str:
    """A sentence, whatever its length, escaped."""
    return markdown_escape(text, limit=None)


def _code(text: str) -> str:
    """Text inside backquotes: printable, without any of its own."""
    return printable(text).replace("`", "'")


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
        "<br>".join(markdown_text(column.title) if column.escape else column.title for column in stack)
        for stack in stacks
    ]
    body = [["<br>".join(_shown(row.cells[column.key]) for column in stack) for stack in stacks] for row in table.rows]
    rules = ["---:" if stack[0].align == "right" else ":---" for stack in stacks]
    printed = []
    for chosen in _that_fit([_least_width(column) for column in zip(titles, *body)]):
        printed.append(
            "\n".join(f"| {' | '.join(cells[index] for index in chosen)} |" for cells in (titles, rules, *body))
        )
    return "\n\n".join(printed)


WIDEST = 90
"""Characters beside each other that a page has room for once every cell is broken at its spaces."""


def _shown(cell: Cell) -> str:
    text = markdown_text(cell.text) if cell.escape else cell.text
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


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


def write_files(folder: Path, contents: dict[str, bytes]) -> None:
    """Each file under a temporary name, then renamed. Raises InputError when the disk does not take it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            write_whole(folder / name, data, flush=False)
    except OSError as error:
        raise InputError(folder, f"the report cannot be written ({error.strerror})") from None
