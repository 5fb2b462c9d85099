"""Writes a study's report: HTML, markdown, JSON, CSV tables, figures, and the manifest of the runs behind every cell;
prints it on a terminal.

Nothing here depends on when or where it is written: the same trials give the same bytes.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from rich.console import Console
from rich.text import Text

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import SettingError, printable
from reports.cache import cached_files, digest, drawing_code
from reports.claims.verdicts import ClaimVerdict
from reports.html.page import html_page
from reports.page import markdown
from reports.results.group import MAIN, Group
from reports.results.study_results import StudyResults, TrialResult
from reports.study.page import study_forest, study_page
from reports.study.report import Report, make_report, unfinished_notes
from reports.study.tables import ReportTables, main_table, report_tables
from reports.tables.cells import Cell, Table
from reports.tables.writers import TerminalTable, csv_text, json_bytes
from reports.workspace import write_files
from reports.worth.curve import ControlCurve

HTML = "report.html"
"""The file that a browser opens."""
FORMAT = 1
_FIGURES = ("figure.png", "figure.svg", "screen.png", "screen.svg")
_UNANSWERED = (ClaimVerdict.NOT_TESTED, ClaimVerdict.NOT_MEASURED)
"""Verdicts on claims that this study says nothing about."""


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
    """Write `<out_folder>/<study id>/`, unless `anew` is false: then the files stay as they are.

    registry: the bundled one unless given; group, curve: see `make_report`; cache: folder of cached figures, or None.

    Raises UserError.
    """
    if results.study != study:
        raise ValueError("these are the results of another study")
    folder = Path(out_folder) / study.id
    if folder.name != study.id or study.id in (".", ".."):
        raise SettingError("STUDY", study.id, "not a name of a folder")
    report = make_report(results, registry or load_registry(), group, curve)
    if anew:
        tables = report_tables(report)
        numbers = json_bytes(report_tree(report, tables))
        pictures = _pictures(report, numbers, cache)
        page, names = study_page(report, tables, pictures), ("figure", "screen")
        inside = {name: {f: data for f, data in pictures.items() if f.startswith(f"{name}.")} for name in names}
        contents = {
            HTML: html_page(page, inside),
            "report.md": markdown(page).encode(),
            "report.json": numbers,
            "manifest.json": json_bytes(manifest(report, tables)),
            **{f"{table.name}.csv": csv_text(table).encode() for table in tables.all},
            **pictures,
        }
        write_files(folder, contents)
        for name in set(_FIGURES) - set(pictures):
            (folder / name).unlink(missing_ok=True)
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


def _pictures(report: Report, numbers: bytes, cache: Path | None) -> Mapping[str, bytes]:
    """The files of the figures, none while there is nothing to draw. They show nothing but the report's numbers, the
    study file, and the trials' curves."""

    def draw() -> Mapping[str, bytes]:
        from reports.figures.study import draw  # matplotlib, only where a figure is made
        from reports.screen.figure import draw_runs

        drawn = draw(report.results, report.analyses[MAIN, "nats"], report.findings, study_forest(report)) or {}
        return {**drawn, **draw_runs(report)}

    curves = [(trial.id, trial.state, trial.curve) for trial in report.results.trials]
    shown = digest(numbers), report.study.model_dump_json(), curves
    return cached_files(cache / f"{report.study.id}.figure" if cache else None, (drawing_code(), shown), draw)


def report_tree(report: Report, tables: ReportTables) -> dict:
    """All numbers of a report, for programs."""
    study, analyses = report.study, []
    for (number, metric), analysis in report.analyses.items():
        verdicts = {card: {"verdict": str(verdict)} for card, verdict in analysis.verdicts.items()}
        analyses.append(
            {
                "evaluation": {**study.evaluations[number].model_dump(mode="json"), "number": number},
                "metric": metric,
                "effects": {card: asdict(each) | verdicts.get(card, {}) for card, each in analysis.effects.items()},
                "at_base": {card: asdict(effect) for card, effect in analysis.at_base.items()},
                "left_out": analysis.left_out,
                "runs": dict(zip(("all", "own"), analysis.runs, strict=True)),
                "noise": None if analysis.noise is None else asdict(analysis.noise),
            }
        )
    return {
        "format": FORMAT,
        "study": study.model_dump(mode="json", exclude={"arms", "trials"}),
        "done": [report.results.finished, len(report.results.trials)],
        "sentences": report.sentences,
        "analyses": analyses,
        "claims": [
            {"card": finding.card, "claim": finding.claim.model_dump(mode="json"), "ours": asdict(finding.measured)}
            for finding in report.findings
        ],
        "tables": {
            table.name: {row.key: {key: cell.value for key, cell in row.cells.items()} for row in table.rows}
            for table in tables.all
        },
        "notes": report.notes,
        **({"said": [each.plain for each in report.said]} if report.said else {}),
    }


def manifest(report: Report, tables: ReportTables) -> dict:
    """The study's own trials, evaluations and weights behind every cell that was computed from some; all its trials;
    `group`: by study, the runs that its effects are estimated from."""
    trials = {trial.id: trial for trial in report.results.trials}
    group: dict[str, list[str]] = {}
    for run in report.group.runs:
        study = report.study if run.trial.id in trials else run.results.study
        group.setdefault(study.id, []).append(run.trial.id)
    cells = {
        table.name: {
            row.key: {key: _behind(cell, trials) for key, cell in row.cells.items() if cell.trials}
            for row in table.rows
        }
        for table in tables.all
    }
    return {
        "format": FORMAT,
        "study": report.study.id,
        "group": group,
        "tables": {name: {key: row for key, row in rows.items() if row} for name, rows in cells.items()},
        "trials": {trial.id: trial_tree(trial) for trial in report.results.trials},
    }


def _behind(cell: Cell, trials: dict[str, TrialResult]) -> dict:
    behind = [trials[trial] for trial in cell.trials if trial in trials]  # a control's curve is of other studies too
    tree = {"trials": list(cell.trials), "weights": [trial.result["weights"] for trial in behind if trial.result]}
    if cell.evaluation is not None:
        evaluations = [trial.evaluations[cell.evaluation] for trial in behind]
        tree["evaluations"] = [evaluation.summary["id"] for evaluation in evaluations if evaluation]
    return tree


def trial_tree(trial: TrialResult) -> dict:
    """What a manifest says of a trial."""
    known = trial.result or {}
    result = {name: known[name] for name in ("weights", "samples", "trained_as") if name in known}
    named = ("id", "split", "history", "subset", "positions", "games")
    evaluations = [{name: each.summary[name] for name in named} for each in trial.evaluations if each]
    about = {"arm": trial.arm, "seed": trial.seed, "state": trial.state, "failure": trial.failure}
    return {**about, **result, "evaluations": evaluations}


def print_report(report: Report, console: Console) -> None:
    """The main tables with their narrow columns, what is unfinished, then each effect in a sentence."""
    for name in ("arms", "effects", "rates", "play", "claims"):
        table = None if name == "arms" and report.study.design == "screen" else main_table(report, name)
        table = answered_claims(table) if name == "claims" and table is not None else table
        if table is not None and (table.rows or table.notes):
            console.print(Text(printable(table.title, 300), style="bold"))
            if table.rows:
                console.print(TerminalTable(table))
            for note in table.notes if name in ("effects", "claims") else ():
                console.print(Text(printable(note, 400)))
            console.print()
    for note in unfinished_notes(report.results):
        console.print(Text(printable(note, 400), style="yellow"))
    for sentence in report.sentences:
        console.print(Text(printable(sentence, 400)))
    for said in report.said:
        console.print(Text(printable(said.text + (":" if said.command else ""), 1000)))
        if said.command:  # a command is copied in one piece
            console.print(Text(f"  {printable(said.command, 4000)}", no_wrap=True), soft_wrap=True)


def answered_claims(table: Table) -> Table:
    """The claims that something can be said of here; the others are counted in a line."""
    verdicts = Counter(row.cells["verdict"].value for row in table.rows)
    rows = tuple(row for row in table.rows if row.cells["verdict"].value not in _UNANSWERED)
    left_out = [f"{verdicts[verdict]} {verdict}" for verdict in _UNANSWERED if verdicts[verdict]]
    notes = list(table.notes if rows else ())
    if left_out:
        notes.append(f"{'Further claims' if rows else 'Claims'}: {', '.join(left_out)}; report.md has each, with why.")
    return replace(table, rows=rows, notes=tuple(notes))
