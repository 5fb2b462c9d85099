"""Accuracy, loss and playing strength: the published correspondence, and where the nets measured here would stand in it."""

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from ablations.registry import Registry
from ablations.schema import EloPoint
from reports import formats
from reports.book_nets import MeasuredNet, level
from reports.book_section import Picture, Section
from reports.cells import Cell, Column, Row, Table, text_cell
from reports.correspondence import elo_of_nats, uncertainty
from reports.figures import WIDTH, figure_bytes
from reports.panels import COLOURS

_PUBLISHED = (Column("top1", "GoGoD top-1"), Column("nats", "GoGoD nats"), Column("perplexity", "perplexity"), Column("elo", "relative Elo"))
_OURS = (Column("net", "net", "left"), Column("nats", "GoGoD nats"), Column("elo", "relative Elo, interpolated"))
TO_RATE = (
    "Elo of our own: needs games between checkpoints of several sizes and against GNU Go; no games of trained nets are rated yet, so this part is"
    " empty. Once games are there, their rated checkpoints stand here beside the published line."
)


def elo_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """The published table with its picture; losses of ours on GoGoD read from it; how ours is made."""
    points = [point for published in registry.published.values() for point in published.correspondence]
    if len(points) < 3:
        return Section("Elo correspondence", ("No correspondence is published.", TO_RATE))
    margin = uncertainty(points)
    told = "Published for nets trained on GoGoD and moves drawn as the document's play.py draws them; from a few thousand games, very roughly."
    read = (
        f"Between its points Elo is read from straight lines. Leaving out each inner point in turn misses it by {margin:.0f} Elo (root mean square): that is taken for"
        " the uncertainty, and nothing is read outside the table or from games other than GoGoD's."
    )
    ours = [net for net in nets if net.study.data == "gogod"]
    tables = [_published(points)] + ([_ours(points, ours)] if ours else [])
    if not ours:
        read += " No net here was measured on GoGoD."
    return Section("Elo correspondence", (told, read, TO_RATE), (Picture("elo", "Published correspondence of loss and strength", _picture(points)),), tuple(tables))


def _published(points: Sequence[EloPoint]) -> Table:
    rows = []
    for point in points:
        cells = {"top1": Cell(f"{100 * point.top1:.0f} %", point.top1), "nats": Cell(f"{point.nats:.2f}", point.nats)}
        cells |= {"perplexity": Cell(f"{math.exp(point.nats):.1f}", math.exp(point.nats)), "elo": Cell(f"{'≈ ' if point.elo else ''}{point.elo:.0f}", point.elo)}
        rows.append(Row(f"{point.nats:g}", cells))
    return Table("elo", "Published correspondence", _PUBLISHED, tuple(rows))


def _ours(points: Sequence[EloPoint], nets: Sequence[MeasuredNet]) -> Table:
    rows = []
    for net in nets:
        number = net.evaluation("full")
        found = None if number is None else level(net, number, "nats")
        if found is None:
            continue
        strength = elo_of_nats(points, found.mean, found.interval95)
        trials = tuple(trial.id for trial in net.evaluated(number))
        text = "outside the table" if strength is None else f"{strength.elo:.0f} [{formats.minus(f'{strength.low:.0f}')}, {strength.high:.0f}]"
        cells = {"net": text_cell(f"{net.name} ({net.study.budget})"), "nats": Cell(f"{found.mean:.4f}", found.mean, trials, number)}
        cells["elo"] = Cell(text, None if strength is None else [strength.elo, strength.low, strength.high], trials, number)
        rows.append(Row(f"{net.name}, {net.study.budget}, {net.trials[0].id}", cells))
    return Table("elo-ours", "Losses measured here, read from it", _OURS, tuple(rows))


def _picture(points: Sequence[EloPoint]) -> dict[str, bytes]:
    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        ordered = sorted(points, key=lambda point: point.nats)
        losses, elos, margin = [point.nats for point in ordered], [point.elo for point in ordered], uncertainty(points)
        axes.fill_between(losses, [elo - margin for elo in elos], [elo + margin for elo in elos], color=COLOURS[0], alpha=0.15, linewidth=0, label="± its uncertainty")
        axes.plot(losses, elos, marker="o", markersize=4.5, linewidth=1.6, color=COLOURS[0], label="published (GoGoD)")
        for point in ordered:
            axes.annotate(f"{100 * point.top1:.0f} %", (point.nats, point.elo), xytext=(-4, 6), textcoords="offset points", fontsize=8, ha="right")
        axes.margins(x=0.08)
        axes.invert_xaxis()
        axes.set(xlabel="nats on GoGoD test games (better to the right; beside the points: top-1)", ylabel="relative Elo")
        axes.legend(loc="upper left")

    return figure_bytes("elo", (WIDTH, 3.4), paint)
