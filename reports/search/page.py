"""What a learning-rate search found, on a page: sentences, a table of its trials, a figure, and their files.

From the search's file and its trials alone; the same trials give the same bytes.
"""

from dataclasses import dataclass
from pathlib import Path

from ablations.search import LEAST_FACTOR, SPREAD, Search, rounded
from gonn_core.errors import markdown_escape
from reports.search.report import LEAST, SearchReport
from reports.tables import formats
from reports.tables.cells import Column, Table, make_row
from reports.tables.writers import csv_text, markdown_table
from reports.workspace import write_files

_STATES = {"pruned": "given up", "running": "under way or interrupted"}
_COLUMNS = (
    Column("rate", "learning rate", exact=True, show="{:.4g}".format),
    Column("nats", "validation nats", parts=("validation_nats",), show=formats.level),
    Column("samples", "samples", show=formats.count),
    Column("state", "state", "left", show=lambda state: _STATES.get(state, state)),
    Column("number", "asked", brief=False),
    Column("trial", "trial", "left"),
)


def sentences(report: SearchReport) -> list[str]:
    """What was found, in a few sentences."""
    search, optimum, lines = report.search, report.optimum, []
    if report.unfinished:
        lines.append(f"Unfinished: {report.unfinished} of {search.trials} trials are still to come.")
    if optimum is None or report.rate is None:
        return [*lines, "No trial is done: nothing is known of the best rate."]
    level, rate = formats.level(optimum.nats), _rate(report.rate)
    if ends := optimum.interval:
        best, nats = optimum.best
        within = f"[{_rate(ends.low)}, {_rate(ends.high)}]"
        lines.append(f"Best learning rate {rate} {within}: {level} validation nats there (lowest point of the curve).")
        lines.append(f"Best single trial: {formats.level(nats)} validation nats at {_rate(best)}.")
    else:
        done = len(report.done)
        why = "none bends upward" if done >= LEAST else f"it takes {LEAST} finished trials, there are {done}"
        lines.append(f"Best trial: learning rate {rate}, {level} validation nats. No curve, no interval: {why}.")
    usual = next((nats for trial, nats in report.done if rounded(trial.rate) == rounded(search.own_rate)), None)
    if usual is not None and usual != optimum.nats:
        lines.append(
            f"The rate without a search, {_rate(search.own_rate)}: {formats.level(usual)} validation nats, "
            f"{formats.signed(usual - optimum.nats)} against {'the curve' if optimum.interval else 'that trial'}."
        )
    if optimum.at_edge:
        between = " to ".join(map(_rate, report.searched))
        lines.append(f"The rate found lies at the edge of the range searched ({between}): a better one may lie beyond.")
    return lines


def table_of(report: SearchReport) -> Table:
    """The trials by rate."""
    rows = []
    for trial in sorted(report.tried, key=lambda trial: trial.rate):
        samples = report.search.config.training.samples if trial.state == "done" else max(trial.points, default=0)
        nats = trial.points.get(samples) if trial.nats is None else trial.nats
        nats = None if trial.state == "diverged" else nats
        values: dict[str, object] = {"rate": trial.rate, "nats": nats, "samples": samples}
        values |= {"state": trial.state, "number": trial.number, "trial": trial.trial}
        rows.append(make_row(_COLUMNS, str(trial.number), values, (trial.trial,)))
    return Table("trials", "Trials by learning rate", _COLUMNS, tuple(rows))


def notes(search: Search) -> list[str]:
    """How it was found."""
    rule, training = search.pruning, search.config.training
    in_a_row = f", at {rule.looks} looks in a row" if rule.looks > 1 else ""
    low, high = map(_rate, search.rates)
    return [
        f"{search.trials} trials of {formats.samples(training.samples)} samples on {search.coverage}; all with seed "
        f"{search.seed}, so that they differ in the rate alone.",
        f"Rates between {low} and {high}, or below one that diverged and down to 1/{LEAST_FACTOR:g} of it: first the "
        f"rate without a search, then {len(SPREAD)} spread over the range, the others proposed by Optuna's TPE, "
        "log-uniform.",
        f"Judged by at least {formats.count(search.validation.minimum_positions)} validation positions, in whole "
        "games; the test split was not looked at.",
        f"A trial is given up from {100 * rule.after:g} % of the samples on when it is more than twice as far from "
        f"the best of {rule.others} or more finished ones as their median is{in_a_row}.",
        "The curve is a parabola in the logarithm of the rate through the better half of the finished trials; "
        "interval and band are bootstraps over trials (95 %).",
        "Interval and curve hold for this seed and these games.",
        f"Optuna's journal: optuna-dashboard searches/{search.id}/journal.log shows it (pip install optuna-dashboard).",
    ]


def _markdown(report: SearchReport, figure: bool) -> str:
    search, table = report.search, markdown_table(table_of(report))
    said, method = (
        "\n".join(f"* {markdown_escape(line)}" for line in part) for part in (sentences(report), notes(search))
    )
    title, base, budget = map(markdown_escape, (search.title, search.base, search.budget_label))
    parts = [f"# Learning rate of {title}", f"`{search.id}`: {base}, {budget} budget", said]
    parts += ["![Validation nats over learning rate, and each trial's loss over samples](figure.png)"] if figure else []
    parts += [table, method]
    if report.rate is not None and not report.unfinished:
        parts.append(f"To adopt the rate: `gonn ablate NAME --lr found:{search.id}`")
    return "\n\n".join(parts) + "\n"


@dataclass(frozen=True)
class SearchFiles:
    """What was written; `figures`: PNG and SVG, none while there is nothing to draw."""

    report: SearchReport
    markdown: Path
    figures: tuple[Path, ...]


def write_search_report(report: SearchReport, out_folder: Path) -> SearchFiles:
    """Write `<out_folder>/<search id>/`. Raises InputError when the disk does not take it."""
    from reports.search.figure import draw_search  # matplotlib, only where a figure is made

    pictures = draw_search(report) if any(trial.points for trial in report.tried) else {}
    folder = Path(out_folder) / report.search.id
    contents = {
        "report.md": _markdown(report, bool(pictures)).encode(),
        "trials.csv": csv_text(table_of(report)).encode(),
        **pictures,
    }
    write_files(folder, contents)
    return SearchFiles(report, folder / "report.md", tuple(folder / name for name in pictures))


def _rate(rate: float) -> str:
    return f"{rate:.3g}"
