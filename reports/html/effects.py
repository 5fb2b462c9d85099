"""The table of enhancements that a page begins with: from the tables of a study or of the summary, with what is behind
each row."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from ablations.catalogue.topics import topic_of
from ablations.registry import Registry
from reports.html.bars import bar, scale
from reports.results.study_results import StudyResults
from reports.screen.commands import study_command
from reports.stats.verdicts import LEANING
from reports.study.report import Report
from reports.study.report_tables import ReportTables
from reports.study.tables import cost_cells
from reports.summary.lines import SYSTEMS, SummaryLine
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.verdicts import verdict_word

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("delta", "Δ test nats"),
    Column("interval", "95 % interval"),
    Column("at_base", "at the base"),
    Column("q", "q"),
    Column("verdict", "verdict", "left"),
    Column("worth", "worth in samples"),
    Column("top1", "Δ test top-1 (points)"),
    Column("parameters", "Δ parameters"),
    Column("speed", "speed"),
    Column("topic", "topic", "left"),
    Column("system", "system", "left"),
    Column("base", "base", "left"),
    Column("study", "study", "left"),
)
_ARMS_NAMED = 4
Details = Mapping[str, Sequence[tuple[str, str]]]
"""Row -> what is told of it when asked: label and text."""


@dataclass(frozen=True)
class Effects:
    """A table of effects on the loss. details: what is behind each row; bars: pictures of the intervals by row."""

    table: Table
    details: Details
    bars: Mapping[str, Markup]
    edge: float
    """Nats at both edges of the bars."""


def study_effects(report: Report, tables: ReportTables, registry: Registry) -> Effects:
    """Of one study."""
    effects = {row.key: row.cells for row in tables.table("effects").rows}
    rates = {row.key: row.cells for row in tables.table("rates").rows}
    rows, details = [], {}
    for contrast in report.study.contrasts:
        card, cells = contrast.card, effects[contrast.card]
        own = {key: cells.get(key, Cell(formats.NONE)) for key in ("delta", "interval", "at_base", "q", "worth")}
        own |= {"verdict": _without_q(cells["verdict"]), "parameters": cells["parameters"], "speed": cells["speed"]}
        own |= {"top1": _first(rates[card]["top1"]), **_about(card, registry, report)}
        rows.append(Row(card, own))
        told = [("s.e.: runs, games", cells["parts"]), ("runs: with and without", cells["runs"])]
        told += [("of them of this study", cells["own"]), ("Δ top-1 with interval", rates[card]["top1"])]
        told += [("Δ top-4 with interval", rates[card]["top4"]), ("FLOPs", cells["flops"])]
        texts = [(label, cell.text) for label, cell in told]
        if "worth_time" in cells:
            texts.append(("worth in time", cells["worth_time"].text))
        details[card] = [*texts, *_behind(own, report)]
    rows.sort(key=_order)
    hidden = ("system", "base", "study")
    columns = tuple(column for column in _COLUMNS if column.key not in hidden)
    return _effects(rows, details, columns, tables.table("effects").notes)


def summary_effects(lines: Sequence[SummaryLine], table: Table, registry: Registry) -> Effects:
    """Of several studies; `table`: the summary of these lines, in their order."""
    rows, details = [], {}
    for line, row in zip(lines, table.rows, strict=True):
        report, cells = line.report, row.cells
        own = {key: cells.get(key, Cell(formats.NONE)) for key in ("delta", "interval", "at_base", "q", "worth")}
        own |= {"verdict": _without_q(cells["verdict"]), "top1": cells["top1"]}
        own |= {key: cell for key, cell in cost_cells(report.results, line.contrast).items() if key != "flops"}
        own |= _about(line.card, registry, report)
        key = row.key
        rows.append(Row(key, own))
        told = [("could show", cells["shown"].text), ("runs: with and without", cells["runs"].text)]
        told += [("of them of the study", cells["own"].text), ("the document", cells["claimed"].text)]
        told += [("on that claim", cells["judged"].text), ("FLOPs", cells["cost"].text)]
        details[key] = [*told, *_behind(own, report)]
    rows.sort(key=_order)
    return _effects(rows, details, _COLUMNS)


def _effects(rows: Sequence[Row], details: Details, columns: Sequence[Column], notes: tuple[str, ...] = ()) -> Effects:
    empty = {key for key in ("worth", "at_base") if all(row.cells[key].value is None for row in rows)}
    kept = tuple(column for column in columns if column.key not in empty)
    known = {row.key: _ends(row) for row in rows if row.cells["delta"].value is not None}
    edge = scale(known.values())
    bars = {row.key: bar(row.cells["delta"].value, known[row.key], edge) for row in rows if row.key in known}
    return Effects(Table("enhancements", "Enhancements", kept, tuple(rows), notes), details, bars, edge)


def _order(row: Row) -> tuple:
    """What helps first, then what hurts, then what leans to it, then all else; by the size of the effect."""
    verdict, delta = verdict_word(row.cells["verdict"].text), row.cells["delta"].value
    return verdict != "helps", verdict != "hurts", verdict not in LEANING, delta is None, -abs(delta or 0.0), row.key


def _ends(row: Row) -> list[float]:
    return row.cells["interval"].value or [row.cells["delta"].value]


def _without_q(cell: Cell) -> Cell:
    """A verdict beside a column of q."""
    return replace(cell, text=cell.text.partition(" (q")[0])


def _first(cell: Cell) -> Cell:
    """The value of a cell without its interval."""
    if not isinstance(cell.value, list):
        return cell
    return replace(cell, text=formats.signed(cell.value[0], "share"), value=cell.value[0])


def _about(name: str, registry: Registry, report: Report) -> dict[str, Cell]:
    study, card = report.study, registry.cards.get(name)
    return {
        "card": text_cell(name),
        "topic": text_cell(topic_of(card) if card else formats.NONE),
        "system": text_cell(SYSTEMS.get(card.system, card.system) if card else formats.NONE),
        "base": text_cell(study.base),
        "study": text_cell(study.id),
    }


def _behind(cells: Mapping[str, Cell], report: Report) -> list[tuple[str, str]]:
    """The trials of an effect and what made them."""
    trials = cells["delta"].trials
    told = [(f"{len(trials)} trials of this study", ", ".join(_by_arm(report.results, trials)))] if trials else []
    return [*told, ("command", study_command(report.study))]


def _by_arm(results: StudyResults, trials: Iterable[str]) -> list[str]:
    """`gonn-b5: 1f2e… 77ab…`, the trials of each arm; those of many arms without them."""
    wanted = set(trials)
    found: dict[str, list[str]] = {}
    for trial in results.trials:
        if trial.id in wanted:
            found.setdefault(results.study.arm(trial.arm).label, []).append(trial.id)
    if len(found) > _ARMS_NAMED:
        return [" ".join(ids) for ids in found.values()]
    return [f"{label}: {' '.join(ids)}" for label, ids in found.items()]
