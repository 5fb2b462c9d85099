"""The report over all studies of a workspace: `index.md`, every table as CSV and LaTeX, figures, and the manifest of
the trials behind each cell.

Made from trial directories, study files and the declarations alone: the same trials give the same bytes.
"""

from collections.abc import Sequence
from pathlib import Path

import jinja2

from ablations.registry import Registry
from gonn_core.errors import markdown_escape
from reports.book import cost as book_cost
from reports.book.claims import claims_section
from reports.book.elo import elo_section
from reports.book.looks import looks_section
from reports.book.play import play_section
from reports.book.published import comparison_section, stats_section
from reports.book.rates import rates_section
from reports.book.section import Section
from reports.figures.cache import kept_picture
from reports.figures.picture import Drawing, Picture
from reports.files import write_files
from reports.frames.build import csv_bytes, make_frame
from reports.frames.rows import effect_rows, trial_rows
from reports.play.all_games import Played
from reports.play.ladder import Ladder
from reports.results.nets import measured_nets
from reports.search.report import SearchReport
from reports.study.render import TEMPLATES, ReportFiles
from reports.study.report import Report
from reports.study.serial import trial_tree
from reports.tables.latex import latex_table
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text, json_bytes

FORMAT = 1


def write_book(
    written: Sequence[ReportFiles],
    registry: Registry,
    folder: Path,
    searches: Sequence[SearchReport] = (),
    played: Played = Played(),
    keys: Path | None = None,
) -> Path:
    """Write the report over the studies whose reports were `written`, over searches for learning rates and over games
    into `folder`; index.md's path.

    `keys`: where it is kept what pictures were drawn from (see reports.figures.cache), None: all are drawn anew. Files
    of an earlier report that this one lacks are removed. Raises InputError when the disk does not take it.
    """
    told, left = worth_telling([each.report for each in written])
    curves = [_curves(each) for each in written if each.report in told]
    sections = book_sections(told, registry, [picture for picture in curves if picture is not None], searches, played)
    contents = {
        "index.md": index(sections, told, left).encode(),
        "manifest.json": json_bytes(manifest(sections, told, searches, played.ladders)),
        **_whole_frames([each.report for each in written]),
    }
    for section in sections:
        for table in section.all_tables:
            contents |= {
                f"{table.name}.csv": csv_text(table).encode(),
                f"{table.name}.tex": latex_table(table).encode(),
            }
    drawn = {
        name for section in sections for picture in section.pictures for name in _write_picture(picture, folder, keys)
    }
    write_files(folder, contents)
    for path in folder.iterdir():
        if path.suffix in (".csv", ".tex", ".png", ".svg") and path.name not in drawn | contents.keys():
            path.unlink()
    return folder / "index.md"


def worth_telling(reports: Sequence[Report]) -> tuple[list[Report], list[Report]]:
    """Studies that the pages are made of, and those left out: the smoke budget's numbers mean nothing beside any
    other's."""
    real = [report for report in reports if report.study.budget != "smoke"]
    return (real, [report for report in reports if report.study.budget == "smoke"]) if real else (list(reports), [])


def _whole_frames(reports: Sequence[Report]) -> dict[str, bytes]:
    """Every trial and every effect of every study as CSV, those of the smoke budget too: `frames.trials()` and
    `frames.effects()`."""
    trials = (row for report in reports for row in trial_rows(report.results))
    effects = (row for report in reports for row in effect_rows(report.results, report.analyses))
    return {
        "all-trials.csv": csv_bytes(make_frame("trials", trials)),
        "all-effects.csv": csv_bytes(make_frame("effects", effects)),
    }


def _write_picture(picture: Picture, folder: Path, keys: Path | None) -> list[str]:
    """One at a time: a report over many studies has hundreds. Names of its files."""
    files = picture.files if keys is None else kept_picture(folder, keys, picture)
    write_files(folder, dict(files))
    return list(files)


def _curves(written: ReportFiles) -> Picture | None:
    """The figure of one study, as it was just drawn; None when there is nothing to draw yet."""
    if not written.figures:
        return None
    name = f"curves-{written.report.study.id}"
    drawn = written.figures
    return Picture(
        name,
        written.report.study.title,
        Drawing(None, lambda: {f"{name}{path.suffix}": path.read_bytes() for path in drawn}),
    )


def book_sections(
    reports: Sequence[Report],
    registry: Registry,
    curves: Sequence[Picture] = (),
    searches: Sequence[SearchReport] = (),
    played: Played = Played(),
) -> list[Section]:
    """The report as plain data."""
    nets = measured_nets([report.results for report in reports])
    return [
        comparison_section(registry, nets, played),
        stats_section(registry, nets),
        elo_section(registry, nets, played.ladders),
        play_section(played, [report.study for report in reports]),
        claims_section(registry, reports),
        _cost_section(reports, curves),
        rates_section(searches),
        looks_section(registry, nets),
    ]


def _cost_section(reports: Sequence[Report], curves: Sequence[Picture]) -> Section:
    found = book_cost.gains(reports)
    picture = book_cost.cost_picture(found)
    if picture is None:
        return Section("Curves, gain and cost", ("No effect is measured yet.",), tuple(curves))
    told = "Loss over samples and paired differences of every study; what every enhancement gains in nats, and what it costs."
    return Section("Curves, gain and cost", (told,), (picture, *curves), (book_cost.cost_table(found),))


def index(sections: Sequence[Section], told: Sequence[Report], left: Sequence[Report]) -> str:
    """The text of index.md; `told`: the studies it is made of, `left`: those left out."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {"md": markdown_escape, "markdown_table": lambda table: markdown_table(table, brief=True)}
    trials = {trial.id: trial for report in told for trial in report.results.trials}
    finished = sum(trial.result is not None for trial in trials.values())
    return environment.get_template("index.md.j2").render(
        sections=sections, told=told, left=left, finished=finished, trials=len(trials)
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
    about = {
        rung.player["trial"]: {"ladder": ladder.file.id, "matches": list(ladder.file.matches)}
        for ladder in ladders
        for rung in ladder.file.rungs
    }
    about |= {
        tried.trial: {"search": found.search.id, "rate": tried.rate, "state": tried.state}
        for found in searches
        for tried in found.tried
    }
    about |= {name: {"study": report.study.id, **trial_tree(trial)} for name, (report, trial) in trials.items()}
    studies, searched = sorted(report.study.id for report in reports), sorted(found.search.id for found in searches)
    return {
        "format": FORMAT,
        "studies": studies,
        "searches": searched,
        "tables": tables,
        "trials": {name: about[name] for name in sorted(used)},
    }
