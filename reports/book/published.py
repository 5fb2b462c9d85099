"""The documents' tables of results, rebuilt, with what was measured here among them (spec: GoNN 4.9)."""

import math
from collections.abc import Mapping, Sequence

from ablations.published_results import Published, PublishedRow
from ablations.registry import Registry
from gonn_core.metrics import METRICS, SUMMARISED
from reports.book.section import Section
from reports.play.all_games import NOTHING_PLAYED, Played, against_engine
from reports.results.costs import net_cost
from reports.results.nets import MeasuredNet, level, level_cell, perplexity_cell, structure, subset_text
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

HERE = "here"
_Accuracies = tuple[float | None, float | None]
"""On KGS and on GoGoD."""
_MARKS = {"stated": "", "read_from_code": " †", "unverified_memory": " ‡"}
_LEGEND = "† read from the document's code; ‡ from memory, not verified."
_COMPARISON = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left", under="source"),
    Column("parameters", "parameters", under="source"),
    Column("kgs", "KGS top-1", parts=("kgs", *interval95("kgs"))),
    Column("gogod", "GoGoD top-1", parts=("gogod", *interval95("gogod"))),
    Column("steps", "training steps", under="source"),
    Column("gnugo", "vs GNU Go"),
    Column("pachi", "vs Pachi", under="gnugo"),
    Column("where", "document, section, remarks", "left", brief=False),
)
_PUBLISHED_DATA = {"KGS": "kgs", "GoGoD": "gogod"}
"""Data set as published -> column of the comparison."""
_STATS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left", under="source"),
    Column("data", "data set", "left"),
    Column("parameters", "parameters", under="source"),
    Column("top1", "top-1"),
    Column("top4", "top-4", under="top1"),
    Column("nats", "nats"),
    Column("perplexity", "perplexity", under="nats"),
    Column("steps", "training steps", under="data"),
)


def comparison_section(registry: Registry, nets: Sequence[MeasuredNet], played: Played = NOTHING_PLAYED) -> Section:
    """System, structure, parameters, accuracies, training steps, games: published, and the bases as measured here."""
    ours = [net for net in nets if net.base and _data_set(net.study.data) is not None]
    rows = [*_published_rows(registry), *(_own_comparison(net, played) for net in ours)]
    both = [kgs - gogod for (kgs, gogod), _ in rows if kgs is not None and gogod is not None]
    easier = sum(both) / len(both) if both else 0.0
    rows.sort(key=lambda pair: pair[0][0] if pair[0][0] is not None else (pair[0][1] or 0.0) + easier)
    notes = [
        f"In order of the KGS accuracy, else that of GoGoD and {100 * easier:.1f} points, the mean difference of the "
        "nets that have both. Training steps are samples, as printed; where published nets of one system differ"
        " between the data sets, both counts stand there.",
        *_coverage_notes(ours),
        f"{_LEGEND} Each published row's document, section and remarks are in comparison.csv.",
    ]
    if played.with_engines:
        notes.append(
            "GoNN's published games were with GNU Go at level 10; ours are with the levels named, with moves drawn "
            "as published unless it is said how."
        )
    if not ours:
        notes.insert(1, "Nothing measured on KGS or GoGoD games yet: make ablation NAME=… DATA=kgs.")
    table = Table(
        "comparison", "Comparison with published results", _COMPARISON, tuple(row for _, row in rows), tuple(notes)
    )
    marked = (
        f"Rows that begin with “{HERE}” are ours: bases of this project as they stand, scaled down as their budget "
        "says; the others are as published."
        if ours
        else "All rows are as published."
    )
    return Section("Comparison with published results", (marked,), tables=(table,))


def _data_set(name: str) -> str | None:
    """kgs, gogod, or None for games that no published column is about."""
    return {"kgs": "kgs", "kgs+tom": "kgs", "gogod": "gogod", "gogod-1800": "gogod"}.get(name)


def _published_rows(registry: Registry) -> list[tuple[_Accuracies, Row]]:
    """One row a published net, with its two data sets side by side; rows that say nothing of these columns stay out."""
    nets: dict[tuple, dict[str, list[tuple[Published, PublishedRow]]]] = {}
    for published in registry.published.values():
        for row in published.rows:
            column = _PUBLISHED_DATA.get(row.data.removesuffix(" test"))
            ablation = row.source.endswith("ablation")
            draft = bool(row.note and row.note.startswith("draft"))
            if column is not None and not ablation and (row.top1 or row.gnugo or row.pachi):
                key = (row.source, row.structure, row.parameters, row.evidence, row.steps if draft else "")
                nets.setdefault(key, {}).setdefault(column, []).append((published, row))
    return [_published_row(key, columns) for key, columns in nets.items()]


def _published_row(key: tuple, columns: Mapping[str, list[tuple[Published, PublishedRow]]]) -> tuple[_Accuracies, Row]:
    source, structure_, parameters, evidence, _ = key
    entries = [each for rows in columns.values() for each in rows]
    mark = _MARKS[evidence]
    cells = {"source": text_cell(source + mark), "structure": text_cell(structure_), "parameters": _count(parameters)}
    best = {}
    for column in ("kgs", "gogod"):
        values = [row.top1 for _, row in columns.get(column, ()) if row.top1 is not None]
        best[column] = values[0] if values else None
        cells[column] = _share(best[column], mark)
    steps = list(dict.fromkeys(row.steps for _, row in entries if row.steps))
    cells["steps"] = text_cell(", ".join(steps) or formats.NONE)
    for opponent in ("gnugo", "pachi"):
        results = list(dict.fromkeys(getattr(row, opponent) for _, row in entries if getattr(row, opponent)))
        cells[opponent] = text_cell(", ".join(results) or formats.NONE)
    where = dict.fromkeys(
        f"{published.document}, {published.section}" + (f"; {row.note}" if row.note else "")
        for published, row in entries
    )
    cells["where"] = text_cell(" | ".join(where))
    return (best["kgs"], best["gogod"]), Row(
        f"{entries[0][0].id}: {source}, {structure_}, {'/'.join(steps)} {evidence}", cells
    )


def _own_comparison(net: MeasuredNet, played: Played) -> tuple[_Accuracies, Row]:
    """A base measured here, with the history dropped as in the published test rows where that was evaluated."""
    number = _as_published(net)
    column = _data_set(net.study.data)
    assert column is not None  # of the others there is no row
    top1 = None if number is None else level(net, number, "top1")
    cells = {**_own_start(net), "kgs": Cell(formats.NONE), "gogod": Cell(formats.NONE)}
    trials = {trial.id: trial.result["samples"] for trial in net.trials if trial.result is not None}
    cells |= {
        column: level_cell(net, number, "top1"),
        "gnugo": against_engine(played, trials, "GNU Go"),
        "pachi": against_engine(played, trials, "Pachi"),
    }
    cells["where"] = text_cell(f"base {net.study.base}, budget {net.study.budget}; {net.study.coverage}")
    mean = top1.mean if top1 else None
    return (mean, None) if column == "kgs" else (None, mean), Row(_key(net), cells)


def _as_published(net: MeasuredNet) -> int | None:
    number = net.evaluation("as_published")
    return net.evaluation("full") if number is None or not net.evaluated(number) else number


def _own_start(net: MeasuredNet) -> dict[str, Cell]:
    trials = tuple(trial.id for trial in net.trials)
    parameters, samples = net_cost(net.config, net.cache)[0], net.config.training.samples
    seeds = f"{len(net.trials)} seed{'s' * (len(net.trials) != 1)}"
    return {
        "source": text_cell(f"{HERE}: {net.name}"),
        "structure": text_cell(structure(net.config.net)),
        "parameters": Cell(formats.count(parameters), parameters),
        "steps": Cell(f"{formats.samples(samples)}, {seeds}", samples, trials),
    }


def _key(net: MeasuredNet) -> str:
    return f"{HERE}: {net.name}, {net.study.budget}, {net.study.data}, {net.trials[0].id}"


def _coverage_notes(nets: Sequence[MeasuredNet]) -> list[str]:
    """On which games ours were trained and tested."""
    about: dict[str, list[str]] = {}
    for net in nets:
        number = _as_published(net)
        if number is not None:
            reference = net.study.evaluations[number]
            history = (
                "history dropped as in the published test rows"
                if reference.history == "as_published"
                else "full history"
            )
            text = f"{net.study.budget} budget, {net.study.coverage}, tested on {subset_text(reference)} ({history})"
            about.setdefault(text, []).append(net.study.base)
    return [
        f"Ours: {', '.join(dict.fromkeys(bases))}: {text}; in brackets 95 % intervals for new seeds and new games."
        for text, bases in about.items()
    ]


def stats_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """Structure, data set, parameters, top-1, top-4, nats, perplexity, steps: published, and every arm measured
    here."""
    published = [row for each in registry.published.values() for row in each.rows if row.nats is not None]
    rows = [_published_stats(row) for row in published] + [_own_stats(net) for net in nets]
    notes = ("Perplexity is exp(nats): of how many equally likely moves the net is as unsure.", *_full_coverage(nets))
    arms = len(nets)
    text = (
        f"Published nets of which the loss is told, then the {arms} nets measured here, read with their full history."
        if nets
        else "Published nets of which the loss is told."
    )
    return Section("Other stats", (text,), tables=(Table("stats", "Other stats", _STATS, tuple(rows), notes),))


def _published_stats(row: PublishedRow) -> Row:
    mark = _MARKS[row.evidence]
    assert row.nats is not None  # of the others there is no row
    cells = {
        "source": text_cell(row.source + mark),
        "structure": text_cell(row.structure),
        "data": text_cell(row.data),
        "parameters": _count(row.parameters),
    }
    cells |= {"top1": _share(row.top1), "top4": _share(row.top4), "nats": Cell(f"{row.nats:.3f}", row.nats)}
    cells |= {
        "perplexity": Cell(f"{math.exp(row.nats):.2f}", math.exp(row.nats)),
        "steps": text_cell(row.steps or formats.NONE),
    }
    return Row(f"{row.source}, {row.structure}, {row.data}, {row.steps}", cells)


def _own_stats(net: MeasuredNet) -> Row:
    number = net.evaluation("full")
    cells = {**_own_start(net), "data": text_cell(net.study.data), "perplexity": perplexity_cell(net, number)}
    for metric in (column.key for column in _STATS if column.key in SUMMARISED):
        measured = None if number is None else level(net, number, metric)
        unit = METRICS[metric].unit
        trials = () if number is None else tuple(trial.id for trial in net.evaluated(number))
        cells[metric] = (
            Cell(formats.NONE)
            if measured is None
            else Cell(formats.level(measured.mean, unit), measured.mean, trials, number)
        )
    return Row(_key(net), cells)


def _full_coverage(nets: Sequence[MeasuredNet]) -> list[str]:
    tested = sorted({f"{net.study.coverage}, tested on {subset_text(net.study.evaluations[0])}" for net in nets})
    return [f"Ours: {'; '.join(tested)}."] if tested else []


def _count(value: int | None) -> Cell:
    return Cell(formats.NONE if value is None else formats.count(value), value)


def _share(value: float | None, mark: str = "") -> Cell:
    return Cell(formats.NONE if value is None else f"{100 * value:.1f} %{mark}", value)
