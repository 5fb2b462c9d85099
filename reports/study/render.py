"""Writes a study's report: markdown, JSON, CSV tables, figure, and the manifest of the runs behind every cell.

Nothing here depends on when or where it is written: the same trials give the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path

import jinja2

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import SettingError, markdown_escape, printable
from reports.files import write_files
from reports.results.seed_pool import EarlierNoise
from reports.results.study_results import StudyResults
from reports.study import serial
from reports.study.report import Report, make_report
from reports.tables.cells import Table
from reports.tables.markdown import markdown_table
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
    environment.filters |= {"md": markdown_escape, "markdown_table": markdown_table, "code": _code}
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


def _code(text: str) -> str:
    """Text inside backquotes: printable, without any of its own."""
    return printable(text).replace("`", "'")
