"""Figures whose numbers a document does not tell: what it says of each curve, and the net measured here."""

from collections.abc import Sequence

import numpy as np

from ablations.published_results import Published, PublishedCurve
from ablations.registry import Registry
from reports.book.documents.ours import comparable, counterparts, coverage, level_alone, with_ours
from reports.book.documents.printing import NOT_HERE, legend, mark
from reports.results.nets import MeasuredNet, structure
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, text_cell
from reports.tables.formats import in_short

_COLUMNS = (
    Column("figure", "figure"),
    Column("net", "net", "left"),
    Column("layers", "layers", "left", under="net"),
    Column("planes", "output planes"),
    Column("measure", "measured", "left"),
    Column("words", "as the text tells it", "left"),
    Column("place", "place"),
    Column("here", "here", parts=("here", *interval95("here"))),
    Column("ours", "net measured here", "left", under="words"),
    Column("note", "remarks", "left", brief=False),
)
_NOTE = (
    "Place: in its figure in the end, 1 the best. Here: top-1; mean square error of the softmax, over all planes of a "
    "net with three, on test games; and of training positions since the last but one progress point. Nets that "
    "minimise another loss have a test error alone: no squared error is measured in their training."
)


def curves_table(registry: Registry, published: Published, nets: Sequence[MeasuredNet], title: str) -> Table:
    """A row per curve and net of ours that it is of."""
    rows, used = [], []
    for curve in published.curves:
        width = f" of {curve.width} planes" if curve.width else ""
        told = {
            "figure": Cell(curve.figure, curve.figure),
            "net": text_cell(curve.net),
            "layers": text_cell(f"{curve.layers} layers{width}"),
            "planes": Cell(str(curve.output_planes), curve.output_planes),
            "measure": text_cell(curve.measure),
            "words": text_cell(curve.words + mark(curve.evidence)),
            "place": Cell(formats.NONE if curve.place is None else str(curve.place), curve.place),
            "note": text_cell(curve.note or ""),
        }
        found = [(net, _measured(registry, net, curve)) for net in counterparts(nets, registry, curve.ours)]
        ours = [
            (net.trials[0].id, {"here": cell, "ours": text_cell(f"here: {net.title}")})
            for net, cell in found
            if cell is not None
        ]
        used += [net for net, cell in found if cell is not None]
        about = f"Fig. {curve.figure}, {curve.net}, {curve.output_planes}, {curve.measure}"
        rows += with_ours(about, told, ours or [("", {"here": Cell(formats.NONE), "ours": text_cell(NOT_HERE)})])
    notes = (
        legend(curve.evidence for curve in published.curves),
        _NOTE,
        *coverage(
            registry,
            used,
            lambda net: (
                f"{structure(net.config.net)} trained on {net.config.training.loss.replace('_', ' ')}, "
                f"{net.study.budget_label} budget, {in_short(net.study.coverage)}"
            ),
            "; 95 % intervals are in the CSV file",
        ),
    )
    return Table(f"figures-{published.id}", title, _COLUMNS, tuple(rows), tuple(filter(None, notes)))


def _measured(registry: Registry, net: MeasuredNet, curve: PublishedCurve) -> Cell | None:
    """What stands for the curve here; None where it was not measured."""
    if curve.measure == "training error":
        return _training_error(net)
    error = "squared_error_planes" if curve.output_planes > 1 else "squared_error"
    metric, digits = ("top1", None) if curve.measure == "accuracy" else (error, 4)
    cell = level_alone(net, comparable(registry, net), metric, digits)
    return cell if cell.trials else None


def _training_error(net: MeasuredNet) -> Cell | None:
    """The squared error that was minimised, mean over seeds; None for a net trained on another loss."""
    if net.config.training.loss != "squared_error":
        return None
    ends = {trial.id: trial.curve[-1] for trial in net.trials if trial.curve}
    losses = {trial: line["train_loss"] for trial, line in ends.items() if "train_loss" in line}
    if not losses:
        return None
    mean = float(np.mean(list(losses.values())))
    return Cell(f"{mean:.4f}", [mean], tuple(losses))
