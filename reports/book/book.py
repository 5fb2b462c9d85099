"""The report over all studies of a workspace: `index.html`, `index.md`, every table as CSV and LaTeX, figures, and the
manifest of the trials behind each cell.

Made from trial directories, study files and the declarations alone: the same trials give the same bytes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ablations.registry import Registry
from reports.book.accuracy import accuracy_section
from reports.book.claims import claims_section
from reports.book.comparison import comparison_section, stats_section
from reports.book.cost import COST, cost_picture, gains
from reports.book.documents import document_sections
from reports.book.elo import elo_section, play_section
from reports.book.samples import samples_section
from reports.cache import Picture
from reports.frames.rows import csv_bytes, effect_rows, make_frame, trial_rows
from reports.html.page import html_page, study_curves
from reports.page import Page, Section, escaped, markdown
from reports.play.ladder import Ladder
from reports.play.matches import NOTHING_PLAYED, Played
from reports.results.compare import judge_page
from reports.results.nets import measured_nets
from reports.search.figure import draw_search
from reports.search.report import SearchReport
from reports.study.page import how_to_read, study_headline
from reports.study.render import trial_tree
from reports.study.report import Report
from reports.summary.lines import SummaryLine, forest, summary_forest, summary_lines, summary_table
from reports.summary.page import page_summary
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row
from reports.tables.writers import csv_text, json_bytes, latex_table
from reports.workspace import write_files
from reports.worth.curve import ControlCurve

FORMAT = 1
HTML = "index.html"
"""The page that a browser opens."""


def write_book(
    reports: Sequence[Report],
    registry: Registry,
    folder: Path,
    searches: Sequence[SearchReport] = (),
    played: Played = NOTHING_PLAYED,
    cache: Path | None = None,
    controls: Iterable[ControlCurve] = (),
) -> Path:
    """Write the report over studies, searches for learning rates and games into `folder`; index.html's path. With
    curves of `controls` it includes the page on samples.

    `cache`: folder of cached pictures (see reports.cache), None: all are drawn. Files of an earlier report that this
    one lacks are removed. Raises InputError when the disk is full.
    """
    shown, left_out = worth_showing(reports)
    samples = samples_section(shown, controls)
    page = book_page(shown, left_out, registry, searches, played, samples)
    files = {picture.name: picture.files(cache) for picture in page.pictures}
    contents = {
        HTML: html_page(page, files),
        "index.md": markdown(page).encode(),
        "manifest.json": json_bytes(manifest(page, shown, searches, played.ladders)),
        **_whole_frames(reports),
    }
    for table in page.tables:
        contents[f"{table.name}.csv"] = csv_text(table).encode()
        contents[f"{table.name}.tex"] = latex_table(table).encode()
    for pictured in files.values():
        contents |= pictured
    write_files(folder, contents)
    for path in folder.iterdir():
        if path.suffix in (".csv", ".tex", ".png", ".svg") and path.name not in contents:
            path.unlink()
    return folder / HTML


def worth_showing(reports: Sequence[Report]) -> tuple[list[Report], list[Report]]:
    """Studies that the pages are made of, and those left out: of a budget without results, where others have some."""
    others = [report for report in reports if report.study.results]
    left_out = [report for report in reports if not report.study.results]
    return (others, left_out) if others else (left_out, [])


def _whole_frames(reports: Sequence[Report]) -> dict[str, bytes]:
    """Every trial of every study and every effect as CSV, those without results too: `frames.trials()`, and
    `frames.effects()` without its lists of trials, more than half of it: the first file has each study's trials."""
    trials = (row for report in reports for row in trial_rows(report.results))
    page = judge_page([report for report in reports if report.study.contrasts])
    effects = (row for each in page for row in effect_rows(each))
    return {
        "all-trials.csv": csv_bytes(make_frame("trials", trials)),
        "all-effects.csv": csv_bytes(make_frame("effects", effects).drop(columns="trials")),
    }


def book_page(
    reports: Sequence[Report],
    left_out: Sequence[Report],
    registry: Registry,
    searches: Sequence[SearchReport] = (),
    played: Played = NOTHING_PLAYED,
    samples: Section | None = None,
) -> Page:
    """The report as plain data. samples: the section on effects over numbers of samples."""
    lines, nets = summary_lines(reports, registry), measured_nets([report.results for report in reports])
    rows, all_gains = summary_forest(lines), gains(lines)
    pictures = [forest(rows, "forest", "Effects on the loss, with what the documents claim"), cost_picture(all_gains)]
    drawn = tuple(picture for picture in pictures if picture is not None)
    effects = Section("Effects on the loss", (), drawn[:1], (summary_table(lines),), forest=tuple(rows))
    ids = ", ".join(report.study.id for report in left_out)
    omitted = [f"Left out, because their budget gives no results: {ids}."] if left_out else []
    curves = [study_curves(report.results, report.nats) for report in _by_interest(reports, lines)]
    sections = [
        effects if lines else None,
        claims_section(registry, reports, lines),
        Section("Curves", curves=tuple(curve for curve in curves if curve is not None)) if any(curves) else None,
        Section("Studies", escaped(omitted), tables=(studies_table(reports),)),
        Section("Gain and cost", (COST,), drawn[1:], small=True) if len(drawn) > 1 else None,
        *(
            replace(section, small=True)
            for section in (
                comparison_section(registry, nets, played),
                stats_section(registry, nets),
                elo_section(registry, nets, played.ladders),
                *document_sections(registry, nets, reports, played),
                play_section(played, reports, lines),
                rates_section(searches),
                accuracy_section(nets),
                *([samples] if samples else []),
            )
        ),
        Section("How to read this", how_to_read(reports[0], of_several=True), points=True, small=True)
        if reports
        else None,
    ]
    return Page(
        title="All studies",
        about="Enhancements of Go move-prediction networks: measured effects and documented claims",
        summary=page_summary(reports, lines, registry),
        sections=tuple(section for section in sections if section is not None),
        files=_FILES,
        coverage=tuple(sorted({report.study.games for report in reports})),
    )


_STUDIES = (
    Column("study", "study", "left"),
    Column("id", "id", "left", under="study", brief=False),
    Column("base", "base", "left", facet=True),
    Column("design", "design", "left", facet=True),
    Column("budget", "budget", "left", under="design"),
    Column("data", "games", "left"),
    Column("samples", "samples per trial", show=formats.count),
    Column("found", "found, in the study alone", "left"),
    Column("done", "trials done"),
)
_FILES = (
    "Next to this file: index.html and index.md, the same page; a CSV and a LaTeX file per table; manifest.json, the "
    "trials behind every cell; all-trials.csv and all-effects.csv, every trial and every effect of every study."
)
_PER_STUDY = (
    "Each study has its own page in its folder. Its verdicts are those of the study alone; the verdicts of this page "
    "are among all effects here, so they may differ."
)


def studies_table(reports: Sequence[Report]) -> Table:
    """One row per study."""
    rows = []
    for report in reports:
        study, results = report.study, report.results
        done = f"{results.finished} of {len(results.trials)}" if results.unfinished else str(results.finished)
        values = {
            **{key: getattr(study, key) for key in ("id", "base", "design", "data")},
            "study": Cell(study.title, study.title, escape=True, link=f"../{quote(study.id)}/report.html"),
            "budget": study.budget_label,
            "samples": max(arm.config.training.samples for arm in study.arms),
            "found": study_headline(report),
            "done": Cell(done, results.finished),
        }
        rows.append(make_row(_STUDIES, study.id, values))
    return Table("studies", "Studies", _STUDIES, tuple(rows), (_PER_STUDY,))


_RATES = (
    Column("net", "net", "left"),
    Column("data", "budget, data", "left", under="net"),
    Column("trials", "trials: done, given up, diverged", parts=("done", "given_up", "diverged")),
    Column("range", "rates tried", exact=True, parts=("lowest_rate", "highest_rate")),
    Column("rate", "best rate", show="{:g}".format),
    Column("interval", "95 % interval", under="rate", parts=interval95()),
    Column("own", "rate without a search", under="rate", exact=True, show="{:g}".format),
    Column("nats", "validation nats there", parts=("validation_nats",), show=formats.level),
    Column("gain", "against that without", under="nats", show=formats.signed),
    Column("search", "search", "left", under="net"),
)
_FOUND = (
    "Found by Optuna on validation games with seeds that no comparison uses. `gonn ablate NAME --lr found:SEARCH` "
    "adopts a rate; the page of each search, with all its trials, is made by `gonn search show SEARCH`."
)
_NOT_SEARCHED = (
    "No search yet: `make lr-search NAME=gonn-b5 DATA=kgs` looks for the best learning rate of a base, or of an arm "
    "such as `NAME=elu`."
)
_RATES_NOTE = (
    "Best rate: the lowest point of a parabola in the logarithm of the rate through the better half of the trials; its "
    "interval is a bootstrap over trials. Nats are the parabola's; the trial without a search, whose nats are "
    "compared, scatters around it as every single trial does."
)


def rates_section(searches: Sequence[SearchReport]) -> Section:
    """Learning rates: a row per search and a figure of each that has results, or the command that would make one."""
    if not searches:
        return Section("Learning rates", (_NOT_SEARCHED,))
    rows, pictures = [], []
    for report in searches:
        search, optimum = report.search, report.optimum
        states = [sum(tried.state == state for tried in report.tried) for state in ("done", "pruned", "diverged")]
        values: dict[str, Any] = {
            "net": search.title,
            "data": f"{search.budget_label}, {search.data}",
            "trials": Cell(f"{', '.join(map(str, states))} of {search.trials}", states),
            "range": Cell(f"{search.rates[0]:.3g} to {search.rates[1]:.3g}", list(search.rates)),
            "rate": report.rate,
            "own": search.own_rate,
            "search": search.id,
        }
        if optimum is not None:
            nats = [tried.nats for tried in report.tried if (tried.state, tried.rate) == ("done", search.own_rate)]
            values |= {"nats": optimum.nats, "gain": optimum.nats - nats[0] if nats and nats[0] is not None else None}
            if ends := optimum.interval:
                values["interval"] = Cell(f"[{ends.low:.3g}, {ends.high:.3g}]", [ends.low, ends.high])
        rows.append(make_row(_RATES, search.id, values, tuple(dict.fromkeys(tried.trial for tried in report.tried))))
        if any(tried.points for tried in report.tried):
            pictures.append(_search_picture(report))
    table = Table("rates", "Learning rates", _RATES, tuple(rows), (_RATES_NOTE,))
    return Section("Learning rates", (_FOUND,), tuple(pictures), (table,))


def _search_picture(report: SearchReport) -> Picture:
    search, name = report.search, f"search-{report.search.id}"

    def draw() -> dict[str, bytes]:
        return {file.replace("figure", name, 1): data for file, data in draw_search(report).items()}

    title = f"Validation nats over learning rate: {search.title}, {search.budget_label} budget, {search.data}"
    return Picture(name, title, draw)


def _by_interest(reports: Sequence[Report], lines: Sequence[SummaryLine]) -> list[Report]:
    """First the study with the largest effect that the page shows: its curves are drawn until another is chosen."""
    sizes: dict[str, float] = {}
    for line in lines:
        if line.effect is not None and line.verdict.is_shown:
            study = line.report.study.id
            sizes[study] = max(abs(line.effect.delta), sizes.get(study, 0.0))
    return sorted(reports, key=lambda report: (-sizes.get(report.study.id, 0.0), report.study.id))


def manifest(
    page: Page,
    reports: Sequence[Report],
    searches: Sequence[SearchReport] = (),
    ladders: Sequence[Ladder] = (),
) -> dict:
    """Trials behind every cell that was computed from some; every trial with its study, arm, seed, weights and
    evaluations, or with its search and rate, or with its ladder."""
    trials = {trial.id: (report, trial) for report in reports for trial in report.results.trials}
    tables = {}
    for table in page.tables:
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
