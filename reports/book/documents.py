"""A section for each document other than GoNN's: its tables of results, with our own measurements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ablations.published_results import Published, PublishedCurve, PublishedGain, PublishedGames, PublishedRow
from ablations.registry import Registry
from ablations.wording import SYSTEMS
from gonn_core.play.rules import RuleSet
from reports.book.published import NOT_HERE, Ours, comparable, counterparts, coverage, joined, own_row, percent, system
from reports.page import Section
from reports.play.matches import Played, against_engine
from reports.results.compare import OnPage, PageRow, judge_page, used_trials
from reports.results.group import MAIN
from reports.results.nets import MeasuredNet, level_cell, mean_cost
from reports.study.report import Report
from reports.study.tables import interval_cell
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95
from reports.tables.formats import in_short

_ABOUT: Mapping[str, tuple[str, str, str]] = {
    "clark_storkey": (
        "Tables of Clark and Storkey",
        "Clark and Storkey",
        "The paper's text is stored without its numbers but those of its abstract; what is marked as from memory is "
        "compared with, never judged by.",
    ),
    "cazenave": (
        "Figures of Cazenave",
        "Cazenave",
        "The paper's accuracies and errors are in figures, without numbers in its text: here is what it says of each "
        "curve.",
    ),
    "go_nn": (
        "Results of go-NN",
        "go-NN",
        "The document has no table of results and leaves its final accuracy to be added; some numbers are in its code.",
    ),
    "lczero": (
        "Gains of the lczero fork",
        "lczero fork",
        "Of chess nets with soft targets from a search, in points of policy accuracy; here the same changes for Go.",
    ),
    "gonn_later": (
        "GoNN's last word",
        "GoNN after March 2018",
        "The last version of GoNN's document, of February 2019: later nets, and what changes are worth in Elo, with "
        "replicate runs, of nets with a value head and search, trained on Leela Zero's games.",
    ),
}
"""Published results -> title, author, introduction; GoNN's are in tables of their own."""
_RANKS = "Rank: mean place of the move played in the net's order, 1 the likeliest; probability: mean of its own."


@dataclass(frozen=True)
class _Measured:
    """What was measured here."""

    registry: Registry
    nets: Sequence[MeasuredNet]
    reports: Sequence[Report]
    played: Played


def document_sections(
    registry: Registry, nets: Sequence[MeasuredNet], reports: Sequence[Report], played: Played
) -> list[Section]:
    """In the order of the systems; a document without published results has none."""
    measured, sections = _Measured(registry, nets, reports, played), []
    for name, (title, author, text) in _ABOUT.items():
        if published := registry.published.get(name):
            makers = (_nets_table, _ablation_table, _curves_table, _gains_table, _games_table)
            tables = tuple(table for make in makers if (table := make(published, author, measured)).rows)
            sections.append(Section(title, (text,), tables=tables))
    return sections


_NETS = (
    Column("source", "system", "left"),
    Column("structure", "structure", "left", under="source"),
    Column("data", "data set", "left"),
    Column("parameters", "parameters", under="source", show=formats.count),
    Column("top1", "accuracy", parts=("accuracy", *interval95("accuracy")), show=percent),
    Column("rank", "rank", parts=("rank", *interval95("rank")), show="{:.2f}".format),
    Column("probability", "probability", parts=("probability", *interval95("probability")), show="{:.4f}".format),
    Column("steps", "training steps", under="data"),
    Column("note", "remarks", "left", brief=False),
)
_METRICS = ("top1", "rank", "probability")


def _nets_table(published: Published, author: str, measured: _Measured) -> Table:
    """Rows as published, then the bases of that system; rank and probability where the document has them."""
    rows = [row for row in published.rows if row.excluded is None]
    ranked = any(row.rank is not None or row.probability is not None for row in rows)
    columns = tuple(column for column in _NETS if ranked or column.key not in ("rank", "probability"))
    bases = [net for net in measured.nets if net.base and system(measured.registry, net) == published.id]
    notes = [_RANKS] * ranked + ([] if bases or published.id not in SYSTEMS else [f"Bases of this system: {NOT_HERE}."])

    def as_printed(row: PublishedRow) -> Ours:
        printed = row.printed.get("parameters")
        return [("", {"parameters": Cell(printed, row.parameters)} if printed else {})]

    table = joined(f"nets-{published.id}", f"Nets: {author}", columns, rows, "source", as_printed, notes)
    own = [
        own_row(columns, net, {**_scores(net, measured), "note": in_short(net.study.coverage)}) for net in bases if rows
    ]
    return replace(table, rows=(*table.rows, *own))


def _scores(net: MeasuredNet, measured: _Measured) -> dict[str, Cell]:
    number = comparable(measured.registry, net)
    return {metric: level_cell(net, number, metric) for metric in _METRICS}


def _pair(key: str, title: str, show) -> tuple[Column, Column]:
    """A published number and ours."""
    name = f"{title}_ours"
    return Column(key, title, parts=(title,), show=show), Column(
        f"{key}_ours", "here", parts=(name, *interval95(name)), under=key
    )


_ABLATION = (
    Column("excluded", "excluded technique", "left"),
    Column("ours", "net measured here", "left", under="excluded"),
    *_pair("top1", "accuracy", lambda share: f"{100 * share:.2f} %"),
    *_pair("rank", "rank", "{:.2f}".format),
    *_pair("probability", "probability", "{:.4f}".format),
)


def _ablation_table(published: Published, author: str, measured: _Measured) -> Table:
    """A row per excluded technique and net of ours without it, in the order of the document."""
    rows = [row for row in published.rows if row.excluded is not None]

    def ours(row: PublishedRow) -> Ours:
        card = row.ours.card if row.ours else None
        missing = f"{NOT_HERE}: make ablation NAME={card}" if card else NOT_HERE
        return [
            (
                net.trials[0].id,
                {"ours": net.title} | {f"{key}_ours": cell for key, cell in _scores(net, measured).items()},
            )
            for net in counterparts(measured.nets, measured.registry, row.ours)
        ] or [("", {"ours": missing})]

    notes = [f"{'; '.join(dict.fromkeys(row.structure for row in rows))}; on test games. {_RANKS}"]
    notes += _coverage(rows, measured)
    name, title = f"ablation-{published.id}", f"Ablation study: {author}"
    return joined(name, title, _ABLATION, rows, "excluded", ours, notes)


def _coverage(entries: Sequence[PublishedRow | PublishedCurve], measured: _Measured) -> list[str]:
    nets = [net for entry in entries for net in counterparts(measured.nets, measured.registry, entry.ours)]
    return coverage(measured.registry, nets)


_CURVES = (
    Column("figure", "figure"),
    Column("net", "net", "left"),
    Column("layers", "layers", "left", under="net"),
    Column("output_planes", "output planes"),
    Column("measure", "measured", "left"),
    Column("words", "as the text tells it", "left"),
    Column("place", "place"),
    Column("here", "here", parts=("here", *interval95("here"))),
    Column("ours", "net measured here", "left", under="words"),
    Column("note", "remarks", "left", brief=False),
)
_CURVES_NOTE = (
    "Place: in its figure in the end, 1 the best. Here: top-1; mean square error of the softmax, over all planes of a "
    "net with three, on test games; and of training positions since the last but one progress point. Nets that "
    "minimise another loss have a test error alone: no squared error is measured in their training."
)


def _curves_table(published: Published, author: str, measured: _Measured) -> Table:
    """A row per curve and net of ours that it is of."""

    def ours(curve: PublishedCurve) -> Ours:
        layers = f"{curve.layers} layers" + (f" of {curve.width} planes" if curve.width else "")
        nets = counterparts(measured.nets, measured.registry, curve.ours)
        cells = [(net, _curve_cell(measured.registry, net, curve)) for net in nets]
        return [
            (net.trials[0].id, {"layers": layers, "here": cell, "ours": f"here: {net.title}"})
            for net, cell in cells
            if cell.trials
        ] or [("", {"layers": layers, "ours": NOT_HERE})]

    notes = [_CURVES_NOTE, *_coverage(published.curves, measured)]
    return joined(f"figures-{published.id}", f"Curves: {author}", _CURVES, published.curves, "words", ours, notes)


def _curve_cell(registry: Registry, net: MeasuredNet, curve: PublishedCurve) -> Cell:
    """The curve's measure of one of our nets; a dash without trials where it was not measured. A training error is the
    squared error that was minimised, mean over seeds."""
    if curve.measure == "training error":
        ends = {trial.id: trial.curve[-1] for trial in net.trials if trial.curve}
        losses = {trial: line["train_loss"] for trial, line in ends.items() if "train_loss" in line}
        if net.config.training.loss != "squared_error" or not losses:
            return Cell(formats.NONE)
        mean = float(np.mean(list(losses.values())))
        return Cell(f"{mean:.4f}", [mean], tuple(losses))
    error = "squared_error_planes" if curve.output_planes > 1 else "squared_error"
    return level_cell(net, comparable(registry, net), "top1" if curve.measure == "accuracy" else error)


_GAINS = (
    Column("change", "change", "left"),
    Column("net", "for", "left", under="change"),
    Column("gain", "gain as stated", "left"),
    Column("cost", "cost as stated", "left", under="gain"),
    Column("delta", "Δ test top-1 here", parts=("delta", *interval95())),
    Column("q", "q", under="delta"),
    Column("flops", "FLOPs", under="delta", show=formats.ratio),
    Column("time", "time per sample", under="delta", show=formats.ratio),
    Column("ours", "measured here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_GAINS_NOTE = (
    "Δ top-1: with the change minus without it, in points, with its 95 % interval, on the first test evaluation of the "
    "study, by all runs of its base; q is over all effects on top-1 here, of all bases. "
    "Ratios are with : without. Time is that of training steps, where arms were measured alone."
)


def _gains_table(published: Published, author: str, measured: _Measured) -> Table:
    """A row per change and group of runs that measured it, under any base and budget."""
    page = [row for row in judge_page(measured.reports, [(MAIN, "top1")]) if (MAIN, "top1") in row.effects]

    def ours(gain: PublishedGain) -> Ours:
        cards = " or ".join(f"NAME={card}" for card in gain.cards)
        missing = f"make ablation {cards}" if cards else "no enhancement is this change"
        return [
            (f"{card}, {row.report.study.id}", _effect(row, row.effects[MAIN, "top1"]))
            for card in gain.cards
            for row in page
            if row.card == card
        ] or [("", {"ours": f"{NOT_HERE}: {missing}"})]

    return joined(f"gains-{published.id}", f"Gains: {author}", _GAINS, published.gains, "change", ours, (_GAINS_NOTE,))


def _effect(row: PageRow, page: OnPage) -> dict[str, Any]:
    results, effect = row.report.results, page.effect
    study, trials = results.study, used_trials(row.report.results, row.contrast, MAIN)
    on, off = (mean_cost(results, side) for side in (row.contrast.with_it, row.contrast.without))
    where = f"{row.card} on {study.base} ({study.budget_label}, {study.data})"
    return {
        "q": Cell(formats.q_value(effect.q), effect.q, trials, MAIN),
        "delta": interval_cell(effect, trials, MAIN, "share"),
        "flops": on.flops / off.flops,
        "time": on.time_to(off),
        "ours": f"{where}, {effect.runs[0]} and {effect.runs[1]} runs",
    }


_GAMES = (
    Column("net", "net", "left"),
    Column("source", "source", "left", under="net"),
    Column("opponent", "against", "left"),
    Column("settings", "rules, settings", "left", under="opponent"),
    Column("result", "result", "left"),
    Column("words", "as the text tells it", "left", under="result"),
    Column("here", "here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_GAMES_NOTE = (
    "Here: points of games won, a draw counting half, of the base as it is scaled here, whatever games it was "
    "trained on, by the rules that the row names; where it names none, by Chinese ones unless stated."
)
_ENGINES = ("GNU Go", "Pachi", "Fuego")
_RULES: Mapping[str, RuleSet] = {"Chinese": "chinese", "Japanese": "japanese"}


def _games_table(published: Published, author: str, measured: _Measured) -> Table:
    """A row per net and opponent; next to it games of the base's final nets with that engine by the same rules."""

    def ours(games: PublishedGames) -> Ours:
        settings = "; ".join(part for part in (games.rules and f"{games.rules} rules", games.settings) if part)
        here: Cell | str = NOT_HERE
        if games.opponent in _ENGINES:
            trials = {
                trial.id: trial.result["samples"]
                for net in measured.nets
                if net.base and net.study.base == games.base
                for trial in net.trials
                if trial.result is not None
            }
            cell = against_engine(measured.played, trials, games.opponent, _RULES.get(games.rules or ""))
            here = cell if cell.trials else "not played here"
        return [("", {"settings": settings or None, "here": here})]

    notes = [_GAMES_NOTE] if any(games.base for games in published.games) else []
    return joined(f"games-{published.id}", f"Games and ranks: {author}", _GAMES, published.games, "source", ours, notes)
