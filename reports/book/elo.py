"""The sections on games: accuracy, loss and playing strength (the published correspondence, the ladders rated here, and
other nets' strength read from them), and games of arms and with engines. `write_ladders` writes the first as a page of
its own."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ablations.published_results import EloPoint
from ablations.registry import Registry
from gonn_core.errors import markdown_escape, printable
from reports.book.published import comparable
from reports.cache import Picture
from reports.figures.marks import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.page import Section, escaped
from reports.play.ladder import Ladder, elo_of_nats, elo_text, ladder_table, ladder_text, uncertainty
from reports.play.matches import Played, match_table
from reports.play.players import engine_text, names_in, trial_names
from reports.play.rating import NORMAL_95
from reports.play.win_rates import effect_key, play_table
from reports.results.nets import MeasuredNet, level, structure
from reports.study.report import Report
from reports.summary.lines import SummaryLine
from reports.tables.cells import Cell, Column, Table, make_row, text_cell
from reports.tables.writers import csv_text, markdown_table
from reports.workspace import write_files
from reports.worth.effects import samples_of

_PUBLISHED = (
    Column("top1", "test top-1, GoGoD", show=lambda share: f"{100 * share:.0f} %"),
    Column("nats", "test nats, GoGoD", show="{:.2f}".format),
    Column("perplexity", "perplexity", show="{:.1f}".format),
    Column("elo", "relative Elo", show=lambda elo: f"{'~' if elo else ''}{elo:.0f}"),
)
_READ = (
    Column("net", "net", "left"),
    Column("nats", "test nats", parts=("test_nats",), show="{:.4f}".format),
    Column("elo", "relative Elo, interpolated", parts=("elo", "elo_low", "elo_high")),
)
TO_RATE = (
    "Elo of our own needs games between checkpoints of several strengths and against GNU Go; none are rated yet: "
    "make elo BASE=gonn-b5 DATA=kgs plays them,"
    " once such a net is trained. Then they are drawn here with the published line."
)
TO_PLAY = "No net has played an engine yet: make match A=TRIAL B=gnugo GAMES=100 lets one."
PAGE = "elo.md"


def elo_section(registry: Registry, nets: Sequence[MeasuredNet], ladders: Sequence[Ladder] = ()) -> Section:
    """The published table and those of our ladders, both in one picture; losses on GoGoD read from the first; how
    ladders are made."""
    points = [point for published in registry.published.values() for point in published.correspondence]
    rated = [ladder for ladder in ladders if len(ladder.rated()) > 1]
    sentences = _published_sentences(points, any(net.study.data == "gogod" for net in nets))
    tables = [_published(points)]
    for ladder in rated:
        sentences += escaped(ladder_text(ladder))
        tables.append(ladder_table(ladder))
    tables += _read_tables(registry, points, nets)
    if not rated:
        sentences.append(TO_RATE)
    title = "Accuracy and strength: as published" + (", and as rated here" if rated else "")
    pictures = (Picture("elo", title, lambda: elo_picture(points, rated)),)
    return Section("Elo correspondence", tuple(sentences), pictures, tuple(tables))


def _published_sentences(points: Sequence[EloPoint], measured: bool) -> list[str]:
    origin = (
        "Published for nets trained on GoGoD and moves drawn as the document's play.py draws them; from a few "
        "thousand games, very roughly."
    )
    missed = uncertainty([point.nats for point in points], [point.elo for point in points])
    read = (
        "Between its points Elo is read from straight lines. Leaving out each inner point in turn misses it by "
        f"{missed:.0f} Elo (root mean square): that is"
        " taken for the uncertainty, and nothing is read outside the table or from games other than GoGoD's."
    )
    return [origin, read if measured else f"{read} No net here was measured on GoGoD."]


def _published(points: Sequence[EloPoint]) -> Table:
    rows = [
        make_row(
            _PUBLISHED,
            f"{point.nats:g}",
            {"top1": point.top1, "nats": point.nats, "perplexity": math.exp(point.nats), "elo": point.elo},
        )
        for point in points
    ]
    note = "~ about, as printed. Perplexity, exp(nats), is worked out here."
    return Table("elo", "Published correspondence", _PUBLISHED, tuple(rows), (note,))


def _read_tables(registry: Registry, points: Sequence[EloPoint], nets: Sequence[MeasuredNet]) -> list[Table]:
    """Losses on GoGoD of nets of the published kind, read from the published correspondence. From ladders nothing is
    read: a rating is one net's own."""
    losses, elos = [point.nats for point in points], [float(point.elo) for point in points]
    rows = []
    for net in nets:
        number, is_kind = comparable(registry, net), structure(net.config.net).split()[0] == "ResNet"
        loss = None if number is None or net.study.data != "gogod" or not is_kind else level(net, number, "nats")
        if loss is None:
            continue
        strength = elo_of_nats(losses, elos, loss.delta, loss.interval95)
        trials = tuple(trial.id for trial in net.evaluated(number))
        text = "outside the table"
        if strength is not None:
            elo, low, high = map(elo_text, strength)
            text = f"{elo} [{low}, {high}]"
        values = {
            "net": text_cell(f"{net.name} ({net.study.budget_label})"),
            "nats": loss.delta,
            "elo": Cell(text, strength and list(strength), trials, number),
        }
        key = f"{net.name}, {net.study.budget_label}, {net.trials[0].id}"
        rows.append(make_row(_READ, key, values, trials, number))
    note = (
        "What a net loses in nats is not all that strength is made of: the lines were drawn through other nets, and "
        "who sees no last moves, or only lost them now and"
        " then, plays another game than its loss tells. In brackets: one uncertainty of the lines beyond the 95 % "
        "interval of the loss."
    )
    title = "Losses measured here, read from the published correspondence"
    return [Table("elo-ours", title, _READ, tuple(rows), (note,))] if rows else []


def write_ladders(ladders: Sequence[Ladder], registry: Registry, folder: Path) -> Path:
    """Write elo.md, elo.png and a CSV file per table into `folder`; elo.md's path. Raises InputError when the disk does
    not take it."""
    write_files(folder, ladder_files(ladders, registry))
    return folder / PAGE


def ladder_files(ladders: Sequence[Ladder], registry: Registry) -> dict[str, bytes]:
    """File -> content; the same ladders give the same bytes."""
    section = elo_section(registry, [], ladders)
    (picture,) = section.pictures
    parts = [f"# {section.title}", *section.sentences, f"![{picture.title}]({picture.name}.png)"]
    for table in section.all_tables:
        parts += [f"## {markdown_escape(table.title)}", markdown_table(table), *map(markdown_escape, table.notes)]
    tables = {f"{table.name}.csv": csv_text(table).encode() for table in section.all_tables}
    return {
        PAGE: ("\n\n".join(parts) + "\n").encode(),
        f"{picture.name}.png": picture.files()[f"{picture.name}.png"],
        **tables,
    }


def play_section(played: Played, reports: Sequence[Report], lines: Sequence[SummaryLine]) -> Section:
    """Arms judged by play, next to their effect on the loss, and every match with an engine or of two ways to choose
    moves; the others are in the ladders."""
    studies = [report.study for report in reports]
    effects = {
        effect_key(line.report.study, line.card, samples_of(line.report.study.arms[0])): line.effect
        for line in lines
        if line.effect
    }
    arms = play_table([report.results for report in reports], effects)
    tables, matches = [arms] if arms else [], played.of_two_kinds
    if matches:
        tables.append(match_table(matches, names_in(matches, trial_names(studies))))
    sentences = "Whole games, colours alternating; those with engines through the Go Text Protocol."
    return Section("Games", (sentences if tables else TO_PLAY,), tables=tuple(tables))


def elo_picture(points: Sequence[EloPoint], ladders: Sequence[Ladder]) -> dict[str, bytes]:
    """PNG and SVG. All curves are at 0 Elo where their accuracy is the least that all of them have; one that lacks it
    is at 0 with its own weakest net, and its name says so. Each names the games that its nets were tested on."""
    published = sorted(points, key=lambda point: point.top1)
    curves = [[point.top1 for point in published], *(_rungs(ladder)[1] for ladder in ladders)]
    top1 = max(shares[0] for shares in curves if shares)

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        axes.axhline(0.0, color="0.8", linewidth=0.9, zorder=0)
        axes.axvline(top1, color="0.8", linewidth=0.9, zorder=0)
        _draw_published(axes, published, top1)
        for number, ladder in enumerate(ladders, 1):
            _draw_ladder(axes, ladder, top1, COLOURS[number % len(COLOURS)])
        axes.margins(x=0.08, y=0.1)
        axes.set(
            xlabel="test top-1 on the games named; at the marks: test nats",
            ylabel=f"Elo above a net with {100 * top1:.0f} % test top-1",
        )
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0, symbol=" %"))
        nats_axis(axes.yaxis)
        figure.legend(loc="outside lower left", alignment="left")  # next to the curves there is room by chance only

    return figure_bytes("elo", (WIDTH, 4.6), paint)


def _rungs(ladder: Ladder) -> tuple[list[int], list[float]]:
    """Numbers of the rungs of a ladder's curve, and their accuracies, the least first."""
    numbers = sorted(ladder.curve(), key=lambda number: ladder.file.rungs[number].top1)
    return numbers, [ladder.file.rungs[number].top1 for number in numbers]


def above(ladder: Ladder, top1: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Of all players of a ladder Elo above its curve at that accuracy, along straight lines, and half of the 95 %
    interval; None where the curve lacks that accuracy. Of players that no games link to it the numbers mean nothing."""
    chosen, shares = _rungs(ladder)
    if not shares[0] <= top1 <= shares[-1]:
        return None
    weights = np.zeros(len(ladder.tally.ids))
    weights[chosen] = [np.interp(top1, shares, row) for row in np.eye(len(chosen))]
    covariance = ladder.ratings.covariance
    variance = np.diag(covariance) + weights @ covariance @ weights - 2 * covariance @ weights
    return ladder.ratings.elo - weights @ ladder.ratings.elo, NORMAL_95 * np.sqrt(np.maximum(variance, 0.0))


def _draw_published(axes, points: Sequence[EloPoint], top1: float) -> None:
    shares, elos = np.array([point.top1 for point in points]), np.array([float(point.elo) for point in points])
    margin, here = uncertainty(shares, elos), shares[0] <= top1 <= shares[-1]
    elos -= float(np.interp(top1, shares, elos)) if here else 0.0
    label = f"± {margin:.0f} Elo: what straight lines between its points miss"
    axes.fill_between(shares, elos - margin, elos + margin, color=COLOURS[0], alpha=0.15, linewidth=0, label=label)
    label = "published, GoGoD games" + ("" if here else ", at 0 with its own weakest net")
    axes.plot(shares, elos, marker="o", markersize=4.5, linewidth=1.6, color=COLOURS[0], label=label)
    for point, elo in zip(points, elos, strict=True):
        _nats(axes, point.top1, elo, point.nats, COLOURS[0], (-17, 8))


def _draw_ladder(axes, ladder: Ladder, top1: float, colour: str) -> None:
    chosen, shares = _rungs(ladder)
    aligned = above(ladder, top1)
    half_widths = [ladder.ratings.half_width(number) for number in range(len(ladder.tally.ids))]
    elo, half = (ladder.ratings.elo, np.array(half_widths)) if aligned is None else aligned
    kind = "95 %" if aligned is not None else "95 % against its weakest net, which is at 0"
    label = printable(f"rated here: {ladder.title} ({kind})", 90)
    style = {"marker": "s", "markersize": 4.5, "linewidth": 1.6, "capsize": 3}
    axes.errorbar(shares, elo[chosen], half[chosen], color=colour, label=label, **style)
    for number in chosen:
        rung = ladder.file.rungs[number]
        _nats(axes, rung.top1, elo[number], rung.nats, colour, (14, -9))
    for engine in filter(ladder.linked, ladder.engines):
        strength = f"{elo_text(elo[engine])} ± {half[engine]:.0f}"
        name = engine_text(ladder.tally.identities[ladder.tally.ids[engine]])
        label = printable(f"{name}: {strength}, by its games with the nets of this colour", 90)
        axes.hlines(elo[engine], shares[0], shares[-1], linestyle="--", linewidth=1.2, color=colour, label=label)


def _nats(axes, top1: float, elo: float, nats: float, colour: str, offset: tuple[int, int]) -> None:
    style = {"textcoords": "offset points", "fontsize": 8, "ha": "center", "va": "center", "color": colour}
    axes.annotate(f"{nats:.2f}", (top1, elo), xytext=offset, **style)
