"""Where a net is right: accuracy by move number and by number of guesses (Clark & Storkey), and the gap from training
to test games."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gonn_core.evaluation.metrics import MOVES_A_BIN
from gonn_core.evaluation.stored import Sums
from reports.page import Section
from reports.results.nets import MeasuredNet, level
from reports.results.study_results import curve_value
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, make_row

TITLE = "Where the nets are right"
GUESSES = (1, 2, 3, 4, 5, 10, 20, 50)
FEWEST_POSITIONS = 200
"""A bin of moves with fewer test positions is left out: its accuracy would be noise."""


@dataclass(frozen=True)
class _Evaluated:
    """A base, and the number of its evaluation on test games with full history."""

    net: MeasuredNet
    number: int

    @cached_property
    def sums(self) -> list[Sums]:
        return [evaluation.sums for evaluation in self.net.evaluations(self.number)]

    @property
    def trials(self) -> tuple[str, ...]:
        return tuple(trial.id for trial in self.net.evaluated(self.number))

    @property
    def key(self) -> str:
        return f"{self.net.title}, {self.net.trials[0].id}"


def accuracy_section(nets: Sequence[MeasuredNet]) -> Section:
    """Accuracy by number of guesses and by move number, and the gap from training to test games, of the bases."""
    numbers = [(net, net.evaluation("full")) for net in nets if net.base]
    bases = [_Evaluated(net, number) for net, number in numbers if number is not None and net.evaluations(number)]
    if not bases:
        return Section(TITLE, ("No base is trained yet.",))
    tables = (guesses_table(bases), gap_table(bases))
    text = "The bases, over all their seeds. `gonn inspect NET` shows the weights and channels of one net."
    return Section(TITLE, (text,), (), tuple(table for table in tables if table.rows), moves_tables(bases))


def guesses_table(bases: Sequence[_Evaluated]) -> Table:
    """A row per net, a column per number of guesses: means over seeds."""
    columns = (
        Column("net", "net", "left"),
        *(Column(str(k), str(k), show=lambda share: f"{100 * share:.1f}") for k in GUESSES),
    )
    rows = []
    for base in bases:
        shares = np.mean([np.cumsum(sums.guesses) / sums.guesses.sum() for sums in base.sums], axis=0)
        values = {"net": base.net.title, **{str(k): float(shares[k - 1]) for k in GUESSES}}
        rows.append(make_row(columns, base.key, values, base.trials, base.number))
    note = "Share of test positions, in percent, in which so many guesses are enough."
    return Table("guesses", "Accuracy by number of guesses", columns, tuple(rows), (note,))


def moves_tables(bases: Sequence[_Evaluated]) -> tuple[Table, ...]:
    """A row per bin of moves, a column per net: top-1, means over seeds. None for evaluations without move numbers."""
    columns, values = [Column("moves", "moves")], dict[int, dict[str, Cell]]()
    for base in bases:
        bins = [sums.moves for sums in base.sums if sums.moves is not None]
        if len(bins) == len(base.sums):
            columns.append(Column(base.key, base.net.title, escape=True, parts=(base.net.title,)))
            for each in zip(*bins, strict=True):
                (first, positions, _), top1 = each[0], float(np.mean([share for *_, share in each]))
                if positions >= FEWEST_POSITIONS:
                    cell = Cell(formats.level(top1, "share"), top1, base.trials, base.number)
                    values.setdefault(first, {})[base.key] = cell
    rows = [
        make_row(columns, str(first), {"moves": Cell(f"{first}–{first + MOVES_A_BIN - 1}", first), **cells})
        for first, cells in sorted(values.items())
    ]
    note = f"Bins of fewer than {FEWEST_POSITIONS} test positions are left out."
    return (Table("moves", "Accuracy by move number", tuple(columns), tuple(rows), (note,)),) if rows else ()


_GAP = (
    Column("net", "net", "left"),
    Column("train", "train nats", parts=("train_nats",)),
    Column("test", "test nats", parts=("test_nats",)),
    Column("gap", "test − train"),
    Column("train_top1", "train top-1", under="train"),
    Column("test_top1", "test top-1", under="test"),
    Column("gap_top1", "test − train", under="gap"),
    Column("samples", "samples"),
    Column("seeds", "seeds"),
)
_GAP_NOTE = (
    "Training loss and accuracy: means over the samples since the last but one progress point, on the weights of that "
    "time, as the net sees them then (with dropped history and whatever else training alone does). Positions of the "
    "first epoch are new to the net too: a gap is then not memory but the difference between the games."
)


def gap_table(bases: Sequence[_Evaluated]) -> Table:
    """Loss and accuracy at the end of training and on test games."""
    rows = []
    for base in bases:
        samples, values = base.net.config.training.samples, dict[str, Any]()
        for suffix, metric, unit in (("", "nats", "nats"), ("_top1", "top1", "share")):
            test = level(base.net, base.number, metric)
            evaluated = base.net.evaluated(base.number)
            ends = [(trial.id, curve_value(trial.curve[-1], f"train_{metric}")) for trial in evaluated if trial.curve]
            shares = {trial: value for trial, value in ends if value is not None}
            if test is not None:
                values[f"test{suffix}"] = Cell(formats.level(test.delta, unit), test.delta, base.trials, base.number)
            if shares:  # training's accuracy is missing in old trials
                train, trials = float(np.mean(list(shares.values()))), tuple(shares)
                values[f"train{suffix}"] = Cell(formats.level(train, unit), train, trials)
                if test is not None:
                    gap = test.delta - train
                    values[f"gap{suffix}"] = Cell(formats.signed(gap, unit), gap, trials, base.number)
        if "gap" in values:
            values |= {"samples": Cell(formats.samples(samples), samples), "seeds": len(base.trials)}
            rows.append(make_row(_GAP, base.key, {"net": base.net.title, **values}))
    return Table("gap", "Training and test loss", _GAP, tuple(rows), (_GAP_NOTE,))
