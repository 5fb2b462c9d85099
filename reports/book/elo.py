"""The sections on games: accuracy, loss and playing strength (the published correspondence, the ladders rated here, and
other nets' strength read from them), and games with engines. `write_ladders` writes the first as a page of its own."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ablations.published_results import EloPoint
from ablations.registry import Registry
from ablations.study import Study
from gonn_core.errors import markdown_escape
from gonn_core.play.match.record import player_id
from reports.book.elo_picture import elo_picture
from reports.book.published import comparable
from reports.cache import Picture
from reports.files import write_files
from reports.page import Section
from reports.play.all_games import Played, trial_names
from reports.play.correspondence import CurvePoint, RatedPoint, elo_of_nats, uncertainty
from reports.play.ladder import Ladder, ladder_table, ladder_text
from reports.play.match_table import match_table
from reports.play.players import player_names
from reports.results.nets import MeasuredNet, level, structure
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell
from reports.tables.markdown import markdown_table
from reports.tables.serial import csv_text

_PUBLISHED = (
    Column("top1", "test top-1, GoGoD"),
    Column("nats", "test nats, GoGoD"),
    Column("perplexity", "perplexity"),
    Column("elo", "relative Elo"),
)
_READ = (
    Column("net", "net", "left"),
    Column("nats", "test nats", parts=("test_nats",)),
    Column("elo", "relative Elo, interpolated", parts=("elo", "elo_low", "elo_high")),
)
TO_RATE = (
    "Elo of our own needs games between checkpoints of several strengths and against GNU Go; none are rated yet: "
    "make elo BASE=gonn-b5 DATA=kgs plays them,"
    " once such a net is trained. Then they stand here beside the published line."
)
TO_PLAY = "No net has played an engine yet: make match A=TRIAL B=gnugo GAMES=100 lets one."
PAGE = "elo.md"


def elo_section(registry: Registry, nets: Sequence[MeasuredNet], ladders: Sequence[Ladder] = ()) -> Section:
    """The published table and those of our ladders, both in one picture; other losses of ours read from them; how
    ladders are made."""
    points = [point for published in registry.published.values() for point in published.correspondence]
    rated = [ladder for ladder in ladders if len(ladder.rated()) > 1]
    sentences, tables = [], []
    if len(points) < 3:
        sentences.append("No correspondence is published.")
    else:
        sentences += _published_sentences(points, any(net.study.data == "gogod" for net in nets))
        tables.append(_published(points))
    for ladder in rated:
        sentences += ladder_text(ladder)
        tables.append(ladder_table(ladder))
    tables += _read_tables(registry, points, rated, nets)
    if not rated:
        sentences.append(TO_RATE)
    if len(points) < 3 and not rated:
        return Section("Elo correspondence", tuple(sentences))
    title = "Loss and strength: as published" + (", and as rated here" if rated else "")
    pictures = (Picture("elo", title, lambda: elo_picture(points, rated)),)
    return Section("Elo correspondence", tuple(sentences), pictures, tuple(tables))


def _published_sentences(points: Sequence[EloPoint], measured: bool) -> list[str]:
    origin = (
        "Published for nets trained on GoGoD and moves drawn as the document's play.py draws them; from a few "
        "thousand games, very roughly."
    )
    read = (
        "Between its points Elo is read from straight lines. Leaving out each inner point in turn misses it by "
        f"{uncertainty(points):.0f} Elo (root mean square): that is"
        " taken for the uncertainty, and nothing is read outside the table or from games other than GoGoD's."
    )
    return [origin, read if measured else f"{read} No net here was measured on GoGoD."]


def _published(points: Sequence[EloPoint]) -> Table:
    rows = []
    for point in points:
        cells = {"top1": Cell(f"{100 * point.top1:.0f} %", point.top1), "nats": Cell(f"{point.nats:.2f}", point.nats)}
        cells |= {
            "perplexity": Cell(f"{math.exp(point.nats):.1f}", math.exp(point.nats)),
            "elo": Cell(f"{'~' if point.elo else ''}{point.elo:.0f}", point.elo),
        }
        rows.append(Row(f"{point.nats:g}", cells))
    note = "~ about, as printed. Perplexity, exp(nats), is worked out here."
    return Table("elo", "Published correspondence", _PUBLISHED, tuple(rows), (note,))


def _read_tables(
    registry: Registry, points: Sequence[EloPoint], ladders: Sequence[Ladder], nets: Sequence[MeasuredNet]
) -> list[Table]:
    """Losses of nets that no games rate, each read from the correspondences of its own data set and kind of net."""
    tables = []
    if len(points) >= 3:
        read = [
            (net, comparable(registry, net)) for net in nets if net.study.data == "gogod" and _kind(net) == "ResNet"
        ]
        title = "Losses measured here, read from the published correspondence"
        tables.append(_read("elo-ours", title, points, None, read))
    for ladder in ladders:
        if len(ladder.curve()) >= 3:
            own = [
                RatedPoint(ladder.file.rungs[number].nats, float(ladder.ratings.elo[number]))
                for number in ladder.curve()
            ]
            kinds = {rung.structure.split()[0] for rung in ladder.file.rungs}
            alike = [net for net in nets if net.study.data == ladder.file.data and _kind(net) in kinds]
            read = [(net, net.evaluation(ladder.file.history)) for net in alike]
            title = f"Losses measured here, read from the ladder {ladder.title}"
            tables.append(_read(f"elo-read-{ladder.file.id}", title, own, ladder.covariance(), read))
    return [table for table in tables if table.rows]


def _kind(net: MeasuredNet) -> str:
    """ResNet, CNN or encoder: what another kind of net loses says less of its strength."""
    return structure(net.config.net).split()[0]


def _read(
    name: str,
    title: str,
    points: Sequence[CurvePoint],
    covariance: np.ndarray | None,
    nets: Sequence[tuple[MeasuredNet, int | None]],
) -> Table:
    """`nets`: each with the number of the evaluation that its loss is taken from."""
    rows = []
    for net, number in nets:
        loss = None if number is None else level(net, number, "nats")
        if loss is None:
            continue
        strength = elo_of_nats(points, loss.delta, loss.interval95, covariance)
        trials = tuple(trial.id for trial in net.evaluated(number))
        text = "outside the table"
        values: list[float] | None = None
        if strength is not None:
            values = [strength.elo, strength.low, strength.high]
            elo, low, high = (formats.minus(f"{value:.0f}") for value in values)
            text = f"{elo} [{low}, {high}]"
        cells = {
            "net": text_cell(f"{net.name} ({net.study.budget_label})"),
            "nats": Cell(f"{loss.delta:.4f}", loss.delta, trials, number),
            "elo": Cell(text, values, trials, number),
        }
        rows.append(Row(f"{net.name}, {net.study.budget_label}, {net.trials[0].id}", cells))
    note = (
        "What a net loses in nats is not all that strength is made of: the lines were drawn through other nets, and "
        "who sees no last moves, or only lost them now and"
        " then, plays another game than its loss tells. In brackets: one uncertainty of the lines beyond the 95 % "
        "interval of the loss."
    )
    return Table(name, title, _READ, tuple(rows), (note,))


def write_ladders(ladders: Sequence[Ladder], registry: Registry, folder: Path) -> Path:
    """Write elo.md, elo.png and a CSV file per table into `folder`; elo.md's path. Raises InputError when the disk does
    not take it."""
    write_files(folder, ladder_files(ladders, registry))
    return folder / PAGE


def ladder_files(ladders: Sequence[Ladder], registry: Registry) -> dict[str, bytes]:
    """File -> content; the same ladders give the same bytes."""
    section = elo_section(registry, [], ladders)
    (picture,) = section.pictures
    parts = [f"# {section.title}", *map(markdown_escape, section.sentences), f"![{picture.title}]({picture.name}.png)"]
    for table in section.all_tables:
        parts += [f"## {markdown_escape(table.title)}", markdown_table(table), *map(markdown_escape, table.notes)]
    tables = {f"{table.name}.csv": csv_text(table).encode() for table in section.all_tables}
    return {
        PAGE: ("\n\n".join(parts) + "\n").encode(),
        f"{picture.name}.png": picture.files()[f"{picture.name}.png"],
        **tables,
    }


def play_section(played: Played, studies: Sequence[Study]) -> Section:
    """Every match with an engine; matches between nets are in the studies' reports and in the ladders."""
    matches = played.with_engines
    if not matches:
        return Section("Games with engines", (TO_PLAY,))
    identities = {player_id(identity): identity for match in matches for identity in match.players.values()}
    names = player_names(identities, trial_names(studies))
    return Section(
        "Games with engines",
        ("Whole games through the Go Text Protocol, colours alternating.",),
        tables=(match_table(sorted(matches, key=lambda match: match.id), names),),
    )
