"""The page of one study: what it says, a table of its enhancements, curves, then everything else, folded."""

from collections.abc import Mapping

from ablations.registry import Registry
from reports.html.curves import caption, study_curves
from reports.html.effects import study_effects
from reports.html.page import html_page, picture_address, prose
from reports.html.summary import study_summary
from reports.results.compare import study_thresholds
from reports.results.group import MAIN
from reports.study.report import Report
from reports.study.report_tables import ReportTables


def study_page(
    report: Report, tables: ReportTables, registry: Registry, screen_figure: Mapping[str, bytes] | None = None
) -> bytes:
    """The file's bytes. `screen_figure`: files of the figure of a factorial or a screen."""
    study = report.study
    curves = study_curves(report.results, report.analyses[MAIN, "nats"])
    reading = prose(
        "how_to_read.md.j2",
        study=study,
        thresholds=study_thresholds(study),
        percent=lambda share: f"{100 * share:g} %",
    )
    return html_page(
        "study.html.j2",
        {"curves": [curves] if curves else []},
        [study.coverage],
        study=study,
        summary=study_summary(report),
        said=report.said,
        effects=study_effects(report, tables, registry) if study.contrasts else None,
        caption=caption([curves]) if curves else "",
        screen_figure=picture_address(dict(screen_figure)) if screen_figure else "",
        tables=tables.printed,
        folded_tables=tables.folded,
        trials=tables.table("trials"),
        notes=report.notes,
        reading=reading,
    )
