"""The comparison of published nets, rebuilt with the bases measured here among them (spec: GoNN 4.9)."""

from collections.abc import Sequence
from dataclasses import replace

from ablations.published_results import Published, PublishedRow
from ablations.registry import Registry
from reports.book.documents.ours import comparable, coverage, key
from reports.book.documents.printing import HERE, count, legend, mark, share
from reports.page import Section
from reports.play.all_games import NOTHING_PLAYED, Played, against_engine
from reports.results.costs import net_cost
from reports.results.nets import MeasuredNet, level, level_cell, structure
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.formats import in_short

TITLE = "Comparison with published results"
_Accuracies = tuple[float | None, float | None]
"""On KGS and on GoGoD."""
_Entry = tuple[Published, PublishedRow]
_COLUMNS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left"),
    Column("parameters", "parameters"),
    Column("kgs", "test top-1, KGS", parts=("kgs", *interval95("kgs"))),
    Column("gogod", "test top-1, GoGoD", parts=("gogod", *interval95("gogod"))),
    Column("steps", "training steps", under="parameters"),
    Column("gnugo", "vs GNU Go"),
    Column("pachi", "vs Pachi", under="gnugo"),
    Column("where", "document, section, remarks", "left", brief=False),
)
_DATA = {"KGS": "kgs", "GoGoD": "gogod", "KGS test": "kgs", "GoGoD test": "gogod", "GoGoD from 1995": "gogod"}
"""Data set as published -> column."""
_OTHER_GAMES = "GoGoD from 1995"
_CERTAINTY = ("stated", "derived", "read_from_picture", "read_from_code", "unverified_memory")


def comparison_section(registry: Registry, nets: Sequence[MeasuredNet], played: Played = NOTHING_PLAYED) -> Section:
    """System, structure, parameters, accuracies, training steps, games: published, and the bases as measured here."""
    ours = [net for net in nets if net.base and _data_set(net.study.data) is not None]
    groups = _published_nets(registry)
    rows = [*map(_published_row, groups), *(_own_row(registry, net, played) for net in ours)]
    both = [kgs - gogod for (kgs, gogod), _ in rows if kgs is not None and gogod is not None]
    easier = sum(both) / len(both) if both else 0.0
    rows.sort(key=lambda pair: pair[0][0] if pair[0][0] is not None else (pair[0][1] or 0.0) + easier)
    shown = [row for group in groups for _, row in group]
    texts = [cell.text for _, row in rows for column, cell in row.cells.items() if column != "where"]
    notes = [
        f"In order of the KGS accuracy, else that of GoGoD and {100 * easier:.1f} points, the mean difference of the "
        "nets that have both. Training steps are samples, as printed.",
        *coverage(
            registry,
            ours,
            lambda net: f"{net.study.budget_label} budget, {in_short(net.study.coverage)}",
            "; in brackets 95 % intervals for new seeds and new games",
        ),
        legend([row.evidence for row in shown], texts),
        "A net that several documents tell of stands here once, as the document with most to say prints it; the "
        "others, and each row's document, section and remarks, are in comparison.csv.",
    ]
    if played.with_engines:
        notes.append(
            "GoNN's published games were with GNU Go at level 10, with the last moves alone for history, passing "
            "when no candidate is left. Ours are with the levels named; where it is not said otherwise, moves are "
            "drawn from the document's distribution, with full history, and points in unconditionally alive "
            "regions are not played. Of several results the one at the highest level stands here, all of them in "
            "comparison.csv."
        )
    if not ours:
        notes.insert(1, "Nothing measured on KGS or GoGoD games yet: make ablation NAME=… DATA=kgs.")
    table = Table("comparison", TITLE, _COLUMNS, tuple(row for _, row in rows), tuple(filter(None, notes)))
    marked = (
        f"Rows that begin with “{HERE}” are ours: bases of this project as they stand, scaled down as their budget "
        "says; the others are as published."
        if ours
        else "All rows are as published."
    )
    return Section(TITLE, (marked,), tables=(table,))


def _data_set(name: str) -> str | None:
    """kgs, gogod, or None for games that no published column is about."""
    return {"kgs": "kgs", "kgs+tom": "kgs", "gogod": "gogod"}.get(name)


def _published_nets(registry: Registry) -> list[list[_Entry]]:
    """The rows of each published net, the surest and fullest first; rows that say nothing of these columns stay out."""
    nets: dict[tuple, list[_Entry]] = {}
    for published in registry.published.values():
        for row in published.rows:
            told = row.top1 or row.gnugo or row.pachi
            if row.data in _DATA and row.excluded is None and told:
                own = (row.source, row.structure, row.parameters, row.evidence)
                nets.setdefault((row.same_net,) if row.same_net else own, []).append((published, row))
    return [sorted(entries, key=_priority) for entries in nets.values()]


def _priority(entry: _Entry) -> tuple[int, int]:
    _, row = entry
    return _CERTAINTY.index(row.evidence), -len(row.model_dump(exclude_none=True))


def _published_row(entries: Sequence[_Entry]) -> tuple[_Accuracies, Row]:
    published, first = entries[0]
    shown = [row for each, row in entries if (each.id, row.evidence) == (published.id, first.evidence)]
    cells = {
        "source": text_cell(first.source + mark(first.evidence)),
        "structure": text_cell(first.structure + (f", {first.data}" if first.data == _OTHER_GAMES else "")),
        "parameters": count(first.parameters, first.printed.get("parameters")),
    }
    best = {}
    for column in ("kgs", "gogod"):
        values = [row.top1 for row in shown if _DATA[row.data] == column and row.top1 is not None]
        best[column] = values[0] if values else None
        cells[column] = share(best[column], first.evidence)
    steps = list(dict.fromkeys(row.printed.get("steps") or row.steps or "" for row in shown))
    cells["steps"] = text_cell(", ".join(filter(None, steps)) or formats.NONE)
    for opponent in ("gnugo", "pachi"):
        results = list(dict.fromkeys(getattr(row, opponent) for row in shown if getattr(row, opponent)))
        cells[opponent] = text_cell(", ".join(results) or formats.NONE)
    cells["where"] = text_cell(" | ".join(dict.fromkeys(_told(each, row, first) for each, row in entries)))
    about = f"{published.id}: {first.source}, {first.structure}, {'/'.join(steps)} {first.evidence}"
    return (best["kgs"], best["gogod"]), Row(about, cells)


def _told(published: Published, row: PublishedRow, first: PublishedRow) -> str:
    """Where a row is from and what else it says; of a document that is not shown, its accuracy too."""
    parts = [f"{published.document}, {published.section}"]
    if (row.source, row.evidence) != (first.source, first.evidence):
        accuracy = f"{100 * row.top1:.4g} %" if row.top1 is not None else "no accuracy"
        parts = [f"also {parts[0]}: {row.structure}, {row.data}, {accuracy}{mark(row.evidence)}"]
    return "; ".join(parts + ([row.note] if row.note else []))


def _own_row(registry: Registry, net: MeasuredNet, played: Played) -> tuple[_Accuracies, Row]:
    """A base measured here, evaluated as its document evaluated."""
    number = comparable(registry, net)
    column = _data_set(net.study.data)
    assert column is not None  # of the others there is no row
    top1 = None if number is None else level(net, number, "top1")
    cells = {**own_start(net), "kgs": Cell(formats.NONE), "gogod": Cell(formats.NONE)}
    trials = {trial.id: trial.result["samples"] for trial in net.trials if trial.result is not None}
    cells |= {
        column: level_cell(net, number, "top1"),
        "gnugo": _first_result(against_engine(played, trials, "GNU Go")),
        "pachi": _first_result(against_engine(played, trials, "Pachi")),
    }
    cells["where"] = text_cell(
        f"base {net.study.base}, budget {net.study.budget_label}; {in_short(net.study.coverage)}"
    )
    mean = top1.delta if top1 else None
    return (mean, None) if column == "kgs" else (None, mean), Row(key(net), cells)


def _first_result(results: Cell) -> Cell:
    """Of several results the one at the engine's highest level, and how many more the CSV file and the games' tables
    have."""
    if not isinstance(results.value, list) or len(results.value) < 2:
        return results
    first = results.text.split("; ")[0]
    return replace(results, text=f"{first}; {len(results.value) - 1} more", value=results.text)


def own_start(net: MeasuredNet) -> dict[str, Cell]:
    """System, structure, parameters and training steps of a net measured here."""
    trials = tuple(trial.id for trial in net.trials)
    parameters, samples = net_cost(net.config, net.cache)[0], net.config.training.samples
    seeds = f"{len(net.trials)} seed{'s' * (len(net.trials) != 1)}"
    return {
        "source": text_cell(f"{HERE}: {net.name}"),
        "structure": text_cell(structure(net.config.net)),
        "parameters": Cell(formats.count(parameters), parameters),
        "steps": Cell(f"{formats.samples(samples)}, {seeds}", samples, trials),
    }
