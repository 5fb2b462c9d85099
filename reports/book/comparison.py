"""GoNN's tables that compare nets of several authors (spec: GoNN 4.9), with the bases measured here among them: one of
accuracies and games, with a figure of accuracy over computation, and one of further numbers (top-4, loss,
perplexity)."""

import math
import re
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter

from ablations.published_results import Published, PublishedRow
from ablations.registry import Registry
from ablations.wording import SYSTEMS
from reports.book.published import CERTAINTY, HERE, comparable, coverage, legend, mark, own_row, percent, system
from reports.cache import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.page import Section
from reports.play.matches import NOTHING_PLAYED, Played, against_engine
from reports.records import DATA, read_rows
from reports.results.nets import FLOPS_COUNTED, MeasuredNet, level_cell, net_cost
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row
from reports.tables.formats import HISTORY, in_short

TITLE = "Comparison with published results"
_Entry = tuple[Published, PublishedRow]
_COLUMNS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left"),
    Column("parameters", "parameters", show=formats.count),
    Column("kgs", "test top-1, KGS", parts=("kgs", *interval95("kgs")), show=percent),
    Column("gogod", "test top-1, GoGoD", parts=("gogod", *interval95("gogod")), show=percent),
    Column("steps", "training steps", under="parameters"),
    Column("flops", "training FLOPs", under="parameters", show="{:.2g}".format),
    Column("gnugo", "vs GNU Go"),
    Column("pachi", "vs Pachi", under="gnugo"),
    Column("where", "document, section, remarks", "left", brief=False),
)
_PUBLISHED = {"KGS": "kgs", "GoGoD": "gogod", "KGS test": "kgs", "GoGoD test": "gogod", "GoGoD from 1995": "gogod"}
"""Data set as published -> column."""
_OURS = {"kgs": "kgs", "kgs+tom": "kgs", "gogod": "gogod"}
"""Our data set -> column; no published column is about the others."""
_RECORDS = f"{HERE}: records"
_OTHER_GAMES = "GoGoD from 1995"
_MILLIONS = re.compile(r"(?:about )?([\d.]+)M")
"""Of samples, as published."""
_PRINTED = (("~", "about"), ("?", "the document's own doubt"))
_GAMES = (
    "GoNN's published games were with GNU Go at level 10, with the last moves alone for history, passing when no "
    "candidate is left. Ours are with the levels named; where it is not said otherwise, moves are drawn from the "
    "document's distribution, with full history, and points in unconditionally alive regions are not played."
)


def comparison_section(registry: Registry, nets: Sequence[MeasuredNet], played: Played = NOTHING_PLAYED) -> Section:
    """System, structure, parameters, accuracies, training steps and their operations, games: published, and the bases
    as measured here."""
    ours = [net for net in nets if net.base and net.study.data in _OURS]
    groups = _published_nets(registry)
    printed = [_published_row(registry, group) for group in groups]
    measured = [_measured_row(registry, net, played) for net in ours]
    series = {"published": printed}
    for net, row in zip(ours, measured, strict=True):
        series.setdefault(f"{HERE}: {SYSTEMS.get(system(registry, net) or '', 'unknown')}", []).append(row)
    rows = [*printed, *measured]
    accuracies = [[_number(row.cells[column]) for column in ("kgs", "gogod")] for row in rows]
    both = [kgs - gogod for kgs, gogod in accuracies if kgs is not None and gogod is not None]
    easier = sum(both) / len(both) if both else 0.0
    order = [gogod + easier if kgs is None and gogod is not None else kgs or easier for kgs, gogod in accuracies]
    rows = [row for _, row in sorted(zip(order, rows, strict=True), key=lambda pair: pair[0])]
    texts = [cell.text for row in rows for column, cell in row.cells.items() if column != "where"]
    signs = [f"{sign} {meaning}, as printed" for sign, meaning in _PRINTED if any(sign in text for text in texts)]
    notes = [
        f"In order of the KGS accuracy, else that of GoGoD and {100 * easier:.1f} points, the mean difference of the "
        "nets that have both. Training steps are samples, as printed. Training FLOPs of a published net are those of "
        f"the base that is declared for it. {FLOPS_COUNTED}",
        *coverage(registry, ours),
        *([] if ours else ["Nothing measured on KGS or GoGoD games yet: make ablation NAME=… DATA=kgs."]),
        *legend(row for group in groups for _, row in group),
        *([f"{'; '.join(signs)}."] if signs else []),
        "A net of several documents has one row, as the document with most to say prints it; the others, and each "
        "row's document, section and remarks, are in comparison.csv.",
        *([_GAMES] if played.with_engines else []),
    ]
    text = "All rows are as published."
    if ours:
        text = f"Rows that begin with “{HERE}” are ours: bases, scaled down by their budget; the others are published."
    picture = _operations_picture(series)
    table = Table("comparison", TITLE, _COLUMNS, tuple(rows), tuple(notes))
    return Section(TITLE, (text,), (picture,) if picture else (), (table,))


def _operations_picture(series: dict[str, list[Row]]) -> Picture | None:
    """Accuracy on KGS games over the operations of training, published nets with their names; None without points."""
    points: dict[str, list[tuple[float, float, str]]] = {}
    for name, rows in series.items():
        for row in rows:
            flops, top1 = _number(row.cells["flops"]), _number(row.cells["kgs"])
            if flops is not None and top1 is not None:
                source, structure, steps = (row.cells[column].text for column in ("source", "structure", "steps"))
                label = ", ".join((source, *re.findall(r"\d+ (?:blocks|layers)", structure)[:1], steps))
                points.setdefault(name, []).append((flops, top1, label))
    if records := {name: row for name, row in read_rows().items() if row.recipe.data == DATA}:
        points[_RECORDS] = [(row.operations, row.accuracy, name) for name, row in records.items()]
    if not points:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        for colour, (name, placed) in zip(COLOURS[-2:-1] + COLOURS, points.items(), strict=False):
            shape = {"published": "D", _RECORDS: "*"}.get(name, "o")
            flops, top1, _ = zip(*placed, strict=True)
            axes.plot(flops, top1, shape, markersize=10 if shape == "*" else 5, color=colour, label=name, alpha=0.8)
        for x, y, name in points.get(_RECORDS, ()):
            axes.annotate(name, (x, y), (-7, 5), textcoords="offset points", fontsize=8, ha="right")
        line = {"arrowstyle": "-", "color": "0.7", "linewidth": 0.7, "relpos": (0, 0.5)}
        column, height = axes.get_yaxis_transform(), 1.0
        for x, y, name in sorted(points.get("published", ()), key=lambda point: -point[1]):
            height = min(y, height - 0.033)  # in one column to the right, so that names do not overlap
            axes.annotate(name, (x, y), (1.02, height), textcoords=column, fontsize=8, va="center", arrowprops=line)
        axes.set(xscale="log", xlabel="floating-point operations of training", ylabel="test top-1, KGS")
        axes.margins(x=0.15)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0e}".replace("+", "")))
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        axes.grid(color="0.9", linewidth=0.7)
        figure.legend(loc="outside lower left", ncols=3)

    title = "Test accuracy over the operations of training, published and measured here"
    return Picture("operations", title, lambda: figure_bytes("operations", (WIDTH, 4.2), paint), points)


def _number(cell: Cell) -> float | None:
    """A published number, or the first of a measured one and its interval."""
    return cell.value[0] if isinstance(cell.value, list) else cell.value


def _published_nets(registry: Registry) -> list[list[_Entry]]:
    """The rows of each published net, the surest and fullest first; rows without a number in these columns are left
    out."""
    nets: dict[tuple, list[_Entry]] = {}
    for published in registry.published.values():
        for row in published.rows:
            if row.data in _PUBLISHED and row.excluded is None and (row.top1 or row.gnugo or row.pachi):
                same = (row.same_net,) if row.same_net else (row.source, row.structure, row.parameters, row.evidence)
                nets.setdefault(same, []).append((published, row))

    def priority(entry: _Entry) -> tuple[int, int]:
        _, row = entry
        return CERTAINTY.index(row.evidence), -len(row.model_dump(exclude_none=True))

    return [sorted(entries, key=priority) for entries in nets.values()]


def _published_row(registry: Registry, entries: Sequence[_Entry]) -> Row:
    published, first = entries[0]
    shown = [row for each, row in entries if (each.id, row.evidence) == (published.id, first.evidence)]

    def together(texts: Sequence[str | None]) -> str | None:
        return ", ".join(dict.fromkeys(text for text in texts if text)) or None

    values: dict[str, Any] = {_PUBLISHED[row.data]: row.top1 for row in reversed(shown) if row.top1 is not None}
    values |= {
        "source": first.source + mark(first.evidence),
        "structure": first.structure + (f", {first.data}" if first.data == _OTHER_GAMES else ""),
        "parameters": first.parameters,
        "steps": together([row.printed.get("steps") or row.steps for row in shown]),
        "flops": _published_flops(registry, [row for _, row in entries], shown),
        "gnugo": together([row.gnugo for row in shown]),
        "pachi": together([row.pachi for row in shown]),
        "where": " | ".join(_where(*entry) for entry in entries),
    }
    if printed := first.printed.get("parameters"):
        values["parameters"] = Cell(printed, first.parameters)
    return make_row(_COLUMNS, f"{published.id}: {first.source}, {first.structure}, {values['steps']}", values)


def _published_flops(registry: Registry, rows: Sequence[PublishedRow], shown: Sequence[PublishedRow]) -> float | None:
    """Operations of the training for KGS of a net that is one of the bases, where its samples are printed as one
    number."""
    bases = [row.ours.base for row in rows if row.ours is not None and row.ours.card is None]
    on_kgs = [row.steps for row in shown if _PUBLISHED[row.data] == "kgs" and row.steps]
    samples = [float(match[1]) * 1e6 for match in map(_MILLIONS.fullmatch, on_kgs) if match]
    return net_cost(registry.bases[bases[0]].config)[1] * samples[0] if bases and samples else None


def _where(published: Published, row: PublishedRow) -> str:
    """`gonn_sandbox, 4.9: KGS test, 44.4 %; remarks`."""
    accuracy = "no accuracy" if row.top1 is None else percent(row.top1) + mark(row.evidence)
    return f"{published.document}, {published.section}: {row.data}, {accuracy}" + (f"; {row.note}" if row.note else "")


def _measured_row(registry: Registry, net: MeasuredNet, played: Played) -> Row:
    """A base measured here, evaluated as its document evaluated."""
    trials = {trial.id: trial.result["samples"] for trial in net.trials if trial.result is not None}
    values = {
        _OURS[net.study.data]: level_cell(net, comparable(registry, net), "top1"),
        "flops": net_cost(net.config, net.cache)[1] * net.config.training.samples,
        "gnugo": against_engine(played, trials, "GNU Go"),
        "pachi": against_engine(played, trials, "Pachi"),
        "where": f"base {net.study.base}, budget {net.study.budget_label}; {in_short(net.study.coverage)}",
    }
    return own_row(_COLUMNS, net, values)


STATS_TITLE = "Other stats"
_SCORES = ("top1", "top4", "nats")
_STATS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left"),
    Column("data", "data set", "left"),
    Column("parameters", "parameters", show=formats.count),
    Column("top1", "test top-1", parts=("test_top1", *interval95("test_top1")), show=percent),
    Column("top4", "test top-4", under="top1", parts=("test_top4", *interval95("test_top4")), show=percent),
    Column("nats", "test nats", parts=("test_nats", *interval95("test_nats")), show="{:.3f}".format),
    Column("perplexity", "perplexity", under="nats", show="{:.3f}".format),
    Column("steps", "training steps", under="data"),
    Column("history", "history in the test rows", "left", brief=False),
)
_PERPLEXITY = (
    "Perplexity is exp(nats): of how many equally likely moves the net is as unsure. The document works it out "
    "for one net (3.967); for the others it is worked out here. GoNN's test rows of March 2018 had a tenth of their "
    "history dropped, as its training rows."
)


def stats_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """Published nets with a loss and the bases measured here; folded: every arm measured here."""
    published = [row for document in registry.published.values() for row in document.rows if row.nats is not None]
    rows = []
    for row in published:
        values = {**row.model_dump(), "source": row.source + mark(row.evidence), "perplexity": math.exp(row.nats or 0)}
        rows.append(make_row(_STATS, f"{row.source}, {row.structure}, {row.data}, {row.steps}", values))
    measured = [_stats_row(registry, net) for net in nets]
    rows += [row for net, row in zip(nets, measured, strict=True) if net.base]
    notes = (*legend(published), _PERPLEXITY, *coverage(registry, nets))
    table = Table("stats", STATS_TITLE, _STATS, tuple(rows), notes)
    text = "Published nets with a loss, then the bases measured here, each tested as its document tests."
    arms = Table("stats-all", "Every net measured here", _STATS, tuple(measured))
    return Section(STATS_TITLE, (text,), tables=(table,), folded=(arms,) if nets else ())


def _stats_row(registry: Registry, net: MeasuredNet) -> Row:
    number = comparable(registry, net)
    values: dict[str, Any] = {metric: level_cell(net, number, metric) for metric in _SCORES}
    if number is not None:
        values["history"] = HISTORY[net.study.evaluations[number].history]
    if values["nats"].trials:
        perplexity = math.exp(values["nats"].value[0])
        values["perplexity"] = Cell(f"{perplexity:.2f}", perplexity, values["nats"].trials, number)
    return own_row(_STATS, net, values)
