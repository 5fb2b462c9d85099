"""Trained nets in tables: what each is, how well it predicts, how strong it plays."""

from collections.abc import Sequence
from dataclasses import dataclass

from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

IDS = 8
"""Characters of a trial's id that are shown, more where two begin alike."""
_COLUMNS = (
    Column("trial", "trial", "left"),
    Column("net", "net", "left"),
    Column("samples", "samples"),
    Column("top1", "test top-1"),
    Column("nats", "test nats"),
    Column("elo", "Elo"),
)


@dataclass(frozen=True)
class Elo:
    """A rating, half of its 95 % interval, and the games behind it."""

    value: float
    half: float
    games: int


@dataclass(frozen=True)
class TrainedNet:
    """A finished trial; nats and top1 on the test games of its study's main evaluation, None where it has none."""

    trial: str
    name: str
    base: str
    study: str
    data: str
    samples: int
    nats: float | None
    top1: float | None
    elo: Elo | None = None


def nets_tables(nets: Sequence[TrainedNet], anchor: str, hidden: int) -> list[Table]:
    """A table a study, a row a net; the last has the notes. anchor: who is at 0 Elo, empty where nobody played; hidden:
    finished trials that are left out."""
    length = _telling([net.trial for net in nets])
    rated = any(net.elo is not None for net in nets)
    columns = tuple(column for column in _COLUMNS if column.key != "elo" or rated)
    notes = ["Play with one: gonn gtp --model TRIAL, or make match A=TRIAL B=gnugo. Its id's beginning is enough."]
    if len({net.data for net in nets if net.data}) > 1:
        notes.append("Test nats and top-1 compare nets of one data set: these are of several.")
    if rated:
        notes.append(
            f"Elo relative to {anchor}, with half of the 95 % interval, of the net choosing as it did in most games; "
            "make rate shows all players."
        )
    if hidden:
        notes.append(f"{formats.count(hidden)} trials of learning-rate searches are left out: gonn models --all.")
    studies = list(dict.fromkeys(net.study for net in nets))
    return [
        Table(
            "models",
            f"{study or 'Of no study'}{' on ' + _data(nets, study) if study else ''}",
            columns,
            tuple(_row(net, length) for net in nets if net.study == study),
            tuple(notes) if study == studies[-1] else (),
        )
        for study in studies
    ]


def _data(nets: Sequence[TrainedNet], study: str) -> str:
    return next(net.data for net in nets if net.study == study)


def _row(net: TrainedNet, length: int) -> Row:
    elo = formats.NONE if net.elo is None else f"{formats.minus(f'{net.elo.value:.0f}')} ± {net.elo.half:.0f}"
    cells = {
        "trial": text_cell(net.trial[:length], [net.trial]),
        "net": text_cell(net.name),
        "samples": Cell(formats.samples(net.samples), net.samples),
        "top1": Cell(formats.NONE if net.top1 is None else formats.level(net.top1, "share"), net.top1),
        "nats": Cell(formats.NONE if net.nats is None else formats.level(net.nats), net.nats),
        "elo": Cell(elo, None if net.elo is None else net.elo.value),
    }
    return Row(net.trial, cells)


def _telling(trials: Sequence[str]) -> int:
    """How many characters tell all of these ids apart."""
    length = IDS
    while len({trial[:length] for trial in trials}) < len(set(trials)):
        length += 1
    return length
