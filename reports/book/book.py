"""The report over all studies of a workspace: `index.html`, `index.md`, every table as CSV and LaTeX, figures, and the
manifest of the trials behind each cell.

Made from trial directories, study files and the declarations alone: the same trials give the same bytes.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ablations.registry import Registry
from reports.book.claims import claims_section
from reports.book.cost.section import cost_section
from reports.book.documents.comparison import comparison_section
from reports.book.documents.sections import document_sections
from reports.book.documents.stats import stats_section
from reports.book.elo import elo_section, play_section
from reports.book.inspection import inspection_section
from reports.book.rates import rates_section
from reports.book.section import Section
from reports.figures.picture import Picture
from reports.files import write_files
from reports.frames.build import csv_bytes, make_frame
from reports.frames.rows import effect_rows, trial_rows
from reports.html.book import book_page, drawn_inside
from reports.pages import page_text
from reports.play.all_games import NOTHING_PLAYED, Played
from reports.play.ladder import Ladder
from reports.results.nets import measured_nets
from reports.results.page import judge_page
from reports.scaling.page import samples_section
from reports.search.report import SearchReport
from reports.study.render import ReportFiles
from reports.study.report import Report
from reports.study.serial import trial_tree
from reports.summary.box import page_warnings, summary_box
from reports.summary.lines import summary_lines
from reports.tables.latex import latex_table
from reports.tables.serial import csv_text, json_bytes
from reports.worth.curve import ControlCurve

FORMAT = 1
HTML = "index.html"
"""The page that a browser opens."""


def write_book(
    written: Sequence[ReportFiles],
    registry: Registry,
    folder: Path,
    searches: Sequence[SearchReport] = (),
    played: Played = NOTHING_PLAYED,
    cache: Path | None = None,
    controls: Iterable[ControlCurve] = (),
) -> Path:
    """Write the report over the studies whose reports were `written`, over searches for learning rates and over games
    into `folder`; index.html's path. It also tells what the page on samples does, given curves of `controls`.

    `cache`: folder of what reports keep of their work (see reports.cache), None: all pictures are drawn anew. Files of
    an earlier report that this one lacks are removed. Raises InputError when the disk does not take it.
    """
    shown, left_out = worth_showing([each.report for each in written])
    ids = {report.study.id for report in shown}
    curves = [_curves(each) for each in written if each.report.study.id in ids and each.figures]
    sections = book_sections(shown, registry, curves, searches, played)
    pictures, of_studies = drawn_inside(sections)
    files = {picture.name: picture.files(cache) for picture in pictures}
    samples = samples_section(shown, controls)
    elsewhere = {picture.name: picture.files(cache) for picture in samples.pictures}
    contents = {
        HTML: book_page([*sections, samples], shown, left_out, registry, {**files, **elsewhere}),
        "index.md": index(sections, shown, left_out, registry).encode(),
        "manifest.json": json_bytes(manifest(sections, shown, searches, played.ladders)),
        **_whole_frames([each.report for each in written]),
    }
    for table in (table for section in sections for table in section.all_tables):
        contents[f"{table.name}.csv"] = csv_text(table).encode()
        contents[f"{table.name}.tex"] = latex_table(table).encode()
    for pictured in files.values():
        contents |= pictured
    names = set(contents)
    for picture in of_studies:  # one at a time: a report over many studies has hundreds
        drawn = picture.files(cache)
        write_files(folder, drawn)
        names |= set(drawn)
    write_files(folder, contents)
    for path in folder.iterdir():
        if path.suffix in (".csv", ".tex", ".png", ".svg") and path.name not in names:
            path.unlink()
    return folder / HTML


def worth_showing(reports: Sequence[Report]) -> tuple[list[Report], list[Report]]:
    """Studies that the pages are made of, and those left out: of a budget without results, where others have some."""
    others = [report for report in reports if report.study.results]
    left_out = [report for report in reports if not report.study.results]
    return (others, left_out) if others else (left_out, [])


def _whole_frames(reports: Sequence[Report]) -> dict[str, bytes]:
    """Every trial of every study and every effect as CSV, those without results too: `frames.trials()` and
    `frames.effects()`."""
    trials = (row for report in reports for row in trial_rows(report.results))
    page = judge_page([report for report in reports if report.study.contrasts])
    effects = (row for each in page for row in effect_rows(each, each.report.worths.get(each.card)))
    return {
        "all-trials.csv": csv_bytes(make_frame("trials", trials)),
        "all-effects.csv": csv_bytes(make_frame("effects", effects)),
    }


def _curves(written: ReportFiles) -> Picture:
    """The figure of one study, as it was just drawn."""
    name = f"curves-{written.report.study.id}"

    def read() -> dict[str, bytes]:
        return {f"{name}{path.suffix}": path.read_bytes() for path in written.figures}

    return Picture(name, written.report.study.title, read)


def book_sections(
    reports: Sequence[Report],
    registry: Registry,
    curves: Sequence[Picture] = (),
    searches: Sequence[SearchReport] = (),
    played: Played = NOTHING_PLAYED,
) -> list[Section]:
    """The report as plain data."""
    nets = measured_nets([report.results for report in reports])
    return [
        comparison_section(registry, nets, played),
        stats_section(registry, nets),
        elo_section(registry, nets, played.ladders),
        *document_sections(registry, nets, reports, played),
        play_section(played, [report.study for report in reports]),
        claims_section(registry, reports),
        cost_section(reports, curves),
        rates_section(searches),
        inspection_section(registry, nets),
    ]


def index(
    sections: Sequence[Section], reports: Sequence[Report], left_out: Sequence[Report], registry: Registry
) -> str:
    """The text of index.md, from the reports that it is made of."""
    trials = {trial.id: trial for report in reports for trial in report.results.trials}
    return page_text(
        "index.md.j2",
        sections=sections,
        reports=reports,
        left_out=left_out,
        coverages=sorted({report.study.coverage for report in reports}),
        warnings=page_warnings(reports),
        box=summary_box(reports, summary_lines(reports, registry), registry),
        finished=sum(trial.result is not None for trial in trials.values()),
        trials=len(trials),
    )


def manifest(
    sections: Sequence[Section],
    reports: Sequence[Report],
    searches: Sequence[SearchReport] = (),
    ladders: Sequence[Ladder] = (),
) -> dict:
    """Trials behind every cell that was computed from some; every trial with its study, arm, seed, weights and
    evaluations, or with its search and rate, or with its ladder."""
    trials = {trial.id: (report, trial) for report in reports for trial in report.results.trials}
    tables = {}
    for table in (table for section in sections for table in section.all_tables):
        rows = {
            row.key: {key: list(cell.trials) for key, cell in row.cells.items() if cell.trials} for row in table.rows
        }
        tables[table.name] = {key: row for key, row in rows.items() if row}
    used = {trial for rows in tables.values() for row in rows.values() for cell in row.values() for trial in cell}
    about: dict[str, dict] = {
        rung.player["trial"]: {"ladder": ladder.file.id, "matches": list(ladder.file.matches)}
        for ladder in ladders
        for rung in ladder.file.rungs
    }
    about |= {
        tried.trial: {"search": each.search.id, "rate": tried.rate, "state": tried.state}
        for each in searches
        for tried in each.tried
    }
    about |= {name: {"study": report.study.id, **trial_tree(trial)} for name, (report, trial) in trials.items()}
    studies, searched = sorted(report.study.id for report in reports), sorted(each.search.id for each in searches)
    return {
        "format": FORMAT,
        "studies": studies,
        "searches": searched,
        "tables": tables,
        "trials": {name: about[name] for name in sorted(used)},
    }
