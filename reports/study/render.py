"""Writes a study's report: HTML, markdown, JSON, CSV tables, figure, and the manifest of the runs behind every cell.

Nothing here depends on when or where it is written: the same trials give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import SettingError
from reports.cache import cached_files, digest, drawing_code
from reports.files import write_files
from reports.html.page import html_page
from reports.page import markdown
from reports.results.group import MAIN, Group
from reports.results.study_results import StudyResults
from reports.study import serial
from reports.study.page import study_forest, study_page
from reports.study.report import Report, make_report
from reports.study.report_tables import report_tables
from reports.tables.serial import csv_text, json_bytes
from reports.worth.curve import ControlCurve

HTML = "report.html"
"""The file that a browser opens."""
_FIGURES = ("figure.png", "figure.svg", "screen.png", "screen.svg")


@dataclass(frozen=True)
class ReportFiles:
    """What was written, and the report itself; `figures`: PNG and SVG, none while there is nothing to draw."""

    folder: Path
    markdown: Path
    html: Path
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
    group: Group | None = None,
    cache: Path | None = None,
    curve: ControlCurve | None = None,
    anew: bool = True,
) -> ReportFiles:
    """Write `<out_folder>/<study id>/`, unless the files that are there stay as they are (`anew` is false). `registry`:
    where the claims stand, the bundled one unless given; `group`, `curve`: see `make_report`; `cache`: folder of what
    reports keep of their work, None: the figure is drawn anew.

    Raises UserError.
    """
    if results.study != study:
        raise ValueError("these are the results of another study")
    folder = _folder(out_folder, study)
    registry = registry or load_registry()
    report = make_report(results, registry, group, curve)
    if not anew:
        return _files(folder, report)
    tables = report_tables(report)
    numbers = json_bytes(serial.report_tree(report, tables))
    pictures = _pictures(report, numbers, cache)
    page = study_page(report, tables, pictures)
    contents = {
        HTML: html_page(page, {"figure": _of("figure", pictures), "screen": _of("screen", pictures)}),
        "report.md": markdown(page).encode(),
        "report.json": numbers,
        "manifest.json": json_bytes(serial.manifest(report, tables)),
        **{f"{table.name}.csv": csv_text(table).encode() for table in tables.all},
        **pictures,
    }
    write_files(folder, contents)
    for name in set(_FIGURES) - set(pictures):
        (folder / name).unlink(missing_ok=True)
    return _files(folder, report)


def _files(folder: Path, report: Report) -> ReportFiles:
    return ReportFiles(
        folder=folder,
        markdown=folder / "report.md",
        html=folder / HTML,
        data=folder / "report.json",
        manifest=folder / "manifest.json",
        tables=tuple(sorted(folder.glob("*.csv"))),
        figures=tuple(folder / name for name in _FIGURES if (folder / name).is_file()),
        report=report,
    )


def _folder(out_folder: Path | str, study: Study) -> Path:
    folder = Path(out_folder) / study.id
    if folder.name != study.id or study.id in (".", ".."):
        raise SettingError("STUDY", study.id, "not a name of a folder")
    return folder


def _pictures(report: Report, numbers: bytes, cache: Path | None) -> Mapping[str, bytes]:
    """The files of the figure, none while there is nothing to draw. It shows nothing but the report's numbers, the
    study as it was written down, and the trials' curves."""

    def draw() -> Mapping[str, bytes]:
        from reports.figures.study import draw  # matplotlib, only where a figure is made
        from reports.screen.figure import draw_runs

        drawn = draw(report.results, report.analyses[MAIN, "nats"], report.findings, study_forest(report)) or {}
        return {**drawn, **draw_runs(report)}

    curves = [(trial.id, trial.state, trial.curve) for trial in report.results.trials]
    shown = digest(numbers), report.study.model_dump_json(), curves
    return cached_files(cache / f"{report.study.id}.figure" if cache else None, (drawing_code(), shown), draw)


def _of(name: str, pictures: Mapping[str, bytes]) -> dict[str, bytes]:
    return {file: data for file, data in pictures.items() if file.startswith(f"{name}.")}
