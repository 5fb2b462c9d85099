"""Writes a study's report: markdown, JSON, CSV tables, figure, and the manifest of the runs behind every cell.

Nothing here depends on when or where it is written: the same trials give the same bytes.
"""

import csv
import io
import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import jinja2
import numpy as np

from ablations.registry import Registry, load_registry
from ablations.study import Study
from gonn_core.errors import InputError, SettingError, markdown_escape, printable
from reports.cells import Table
from reports.earlier import EarlierNoise
from reports.report import Report, make_report
from reports.results import StudyResults, TrialResult

TEMPLATES = Path(__file__).parent / "templates"
FORMAT = 1
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
    study: Study, results: StudyResults, out_folder: Path | str, registry: Registry | None = None, earlier: EarlierNoise | None = None
) -> ReportFiles:
    """Write `<out_folder>/<study id>/`. `registry`: where the claims stand, the bundled one unless given. Raises UserError."""
    if results.study != study:
        raise ValueError("these are the results of another study")
    folder = Path(out_folder) / study.id
    if folder.name != study.id or study.id in (".", ".."):
        raise SettingError("STUDY", study.id, "not a name of a folder")
    report = make_report(results, registry or load_registry(), earlier)
    from reports.figures import draw  # matplotlib, only where a figure is made

    pictures = draw(results, report.analyses[0, "nats"], report.findings) or {}
    tables = {f"{table.name}.csv": csv_text(table).encode() for table in (*report.tables, *report.more_tables)}
    contents = {
        "report.md": markdown(report, bool(pictures)).encode(),
        "report.json": _json(report_tree(report)),
        "manifest.json": _json(manifest(report)),
        **tables,
        **pictures,
    }
    _write(folder, contents)
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


def markdown(report: Report, figure: bool = False) -> str:
    """The text of report.md; `figure`: figure.png lies beside it."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES), undefined=jinja2.StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    environment.filters |= {"md": _escaped, "markdown_table": markdown_table, "code": _code}
    trials = report.table("trials")
    runs = Table("runs", "Runs", tuple(column for column in trials.columns if column.key in _RUN_COLUMNS), trials.rows)
    return environment.get_template("report.md.j2").render(
        study=report.study,
        sentences=report.sentences,
        tables=report.tables,
        notes=report.notes,
        runs=runs,
        figure=figure,
        unfinished=bool(report.results.unfinished),
        finished=len(report.results.trials) - len(report.results.unfinished),
        trials=len(report.results.trials),
        thresholds=report.study.thresholds,
        percent=lambda share: f"{100 * share:g} %",
    )


def _escaped(text: str) -> str:
    """`markdown_escape` of a text of any length: that function cuts long names, and here sentences are escaped."""
    return "".join(markdown_escape(text[start : start + 100]) for start in range(0, len(text), 100))


def _code(text: str) -> str:
    """Text inside backquotes: printable, without any of its own."""
    return printable(text).replace("`", "'")


def markdown_table(table: Table) -> str:
    """A table in markdown, numbers to the right."""
    columns = table.shown()
    head = [column.title for column in columns]
    rule = ["---:" if column.align == "right" else ":---" for column in columns]
    body = [[_escaped(cell.text) if cell.words else cell.text for cell in row] for row in table.body()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *body))


def csv_text(table: Table) -> str:
    """A table as CSV with unrounded numbers; intervals and pairs take a column for each end."""
    widths = {column.key: _width(table, column.key) for column in table.columns}
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([name for key, width in widths.items() for name in ([key] if width == 1 else [f"{key}_{i + 1}" for i in range(width)])])
    for row in table.rows:
        writer.writerow([text for key, width in widths.items() for text in _csv_cells(row.cells[key].value, width)])
    return buffer.getvalue()


def _is_numbers(value) -> bool:
    return isinstance(value, list) and all(isinstance(each, float) or each is None for each in value)


def _width(table: Table, key: str) -> int:
    values = [row.cells[key].value for row in table.rows]
    return max((len(value) for value in values if _is_numbers(value)), default=1) or 1


def _csv_cells(value, width: int) -> list[str]:
    parts = value if _is_numbers(value) else [value]
    texts = [" ".join(map(str, part)) if isinstance(part, list) else "" if part is None else _csv_safe(part) for part in parts]
    return texts + [""] * (width - len(texts))


def _csv_safe(value) -> str:
    """Text that a spreadsheet does not take for a formula; numbers as they are."""
    if not isinstance(value, str):
        return repr(float(value)) if isinstance(value, float) else str(value)
    text = printable(value, 2000)
    return "'" + text if text[:1] in ("=", "+", "-", "@") else text


def report_tree(report: Report) -> dict:
    """All numbers of a report."""
    study = report.study
    return {
        "format": FORMAT,
        "study": study.model_dump(mode="json", exclude={"arms", "trials"}),
        "sentences": report.sentences,
        "analyses": [
            {
                "evaluation": {**study.evaluations[number].model_dump(mode="json"), "number": number},
                "metric": metric,
                "left_out": analysis.left_out,
                **_table_tree(analysis.table),
            }
            for (number, metric), analysis in report.analyses.items()
        ],
        "claims": [
            {"card": finding.card, "claim": finding.claim.model_dump(mode="json"), "ours": asdict(finding.measured)} for finding in report.findings
        ],
        "tables": {
            table.name: {row.key: {key: cell.value for key, cell in row.cells.items()} for row in table.rows}
            for table in (*report.tables, *report.more_tables)
        },
        "notes": report.notes,
    }


def _table_tree(table) -> dict:
    if table is None:
        return {"effects": {}}
    pool = None if table.pool is None else {**asdict(table.pool), "own": dict(table.pool.own)}
    effects = {
        name: {**asdict(effect), "verdict": str(table.verdicts[name]), "margin": table.margins[name]} for name, effect in table.effects.items()
    }
    return {"effects": effects, "pool": pool, "correlation": table.correlation, "evaluation_variance": table.evaluation_variance}


def manifest(report: Report) -> dict:
    """Trials, evaluations and weights behind every cell that was computed from some, and all trials of the study."""
    trials = {trial.id: trial for trial in report.results.trials}
    cells = {
        table.name: {row.key: {key: _behind(cell, trials) for key, cell in row.cells.items() if cell.trials} for row in table.rows}
        for table in (*report.tables, *report.more_tables)
    }
    return {
        "format": FORMAT,
        "study": report.study.id,
        "tables": {name: {key: row for key, row in rows.items() if row} for name, rows in cells.items()},
        "trials": {trial.id: _trial_tree(trial) for trial in report.results.trials},
    }


def _behind(cell, trials: dict[str, TrialResult]) -> dict:
    tree = {"trials": list(cell.trials), "weights": [trials[trial].result["weights"] for trial in cell.trials if trials[trial].result]}
    if cell.evaluation is not None:
        found = [trials[trial].evaluations[cell.evaluation] for trial in cell.trials]
        tree["evaluations"] = [evaluation.summary["id"] for evaluation in found if evaluation]
    return tree


def _trial_tree(trial: TrialResult) -> dict:
    about = {"arm": trial.arm, "seed": trial.seed, "state": trial.state, "failure": trial.failure}
    result = {name: trial.result[name] for name in ("weights", "samples")} if trial.result else {}
    named = ("id", "split", "history", "subset", "positions", "games")
    evaluations = [{name: found.summary[name] for name in named} for found in trial.evaluations if found]
    return {**about, **result, "evaluations": evaluations}


def _json(tree) -> bytes:
    return (json.dumps(_plain(tree), indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _plain(tree):
    """Built-in types only; an open end of a range (infinite) is null."""
    if isinstance(tree, dict):
        return {str(key): _plain(value) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [_plain(value) for value in tree]
    if isinstance(tree, np.generic):
        return _plain(tree.item())
    return None if isinstance(tree, float) and math.isinf(tree) else tree


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    """Each file under a temporary name, then renamed. Raises InputError when the disk does not take it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            temporary = folder / f".{name}.{os.getpid()}.tmp"
            try:
                temporary.write_bytes(data)
                os.replace(temporary, folder / name)
            finally:
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(folder, f"the report cannot be written ({error.strerror})") from None
