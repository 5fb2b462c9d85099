"""Where a net is right: accuracy by move number and by number of guesses (Clark & Storkey), and the gap from training
to test games."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from ablations.registry import Registry
from gonn_core.errors import printable
from gonn_core.evaluation.metrics import MOVES_A_BIN
from reports.cache import Picture
from reports.figures.style import COLOURS, DASHES, WIDTH, figure_bytes
from reports.page import Section
from reports.results.curves import curve_value
from reports.results.nets import MeasuredNet, level
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

TITLE = "Where the nets are right"
GUESSES = (1, 2, 3, 4, 5, 10, 20, 50)
FEWEST_POSITIONS = 200
"""A bin of moves with fewer test positions is left out: its accuracy would be noise."""
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


def accuracy_section(registry: Registry, nets: Sequence[MeasuredNet]) -> Section:
    """Accuracy by number of guesses and by move number, and the gap from training to test games, of the bases."""
    bases = [net for net in nets if net.base]
    if not bases:
        return Section(TITLE, ("No base is trained yet.",))
    picture, moves = accuracy_picture(bases), moves_table(bases)
    return Section(
        TITLE,
        ("The bases, over all their seeds. `gonn inspect NET` shows the weights and channels of one net.",),
        (picture,) if picture else (),
        tuple(table for table in (guesses_table(bases), gap_table(bases, registry)) if table),
        (moves,) if moves else (),
    )


def guesses(net: MeasuredNet) -> np.ndarray | None:
    """(361,) share of test positions in which 1, 2, … guesses are enough, mean over seeds; None while no trial is
    evaluated."""
    number = net.evaluation("full")
    counts = [evaluation.guesses for evaluation in net.evaluations(number)]
    if not counts:
        return None
    return np.mean([np.cumsum(each) / each.sum() for each in counts], axis=0)


def move_numbers(net: MeasuredNet) -> dict[int, tuple[int, float]]:
    """First move of a bin -> positions, mean top-1 over seeds; empty where the evaluations do not hold the numbers of
    moves."""
    number = net.evaluation("full")
    evaluations = net.evaluations(number)
    bins = [each.by_move_number for each in evaluations if each.by_move_number is not None]
    if not bins or len(bins) < len(evaluations):
        return {}
    by_first_move = {}
    for each in zip(*bins, strict=True):
        first, positions, _ = each[0]
        by_first_move[first] = positions, float(np.mean([share for _, _, share in each]))
    return {first: each for first, each in by_first_move.items() if each[0] >= FEWEST_POSITIONS}


def guesses_table(nets: Sequence[MeasuredNet]) -> Table | None:
    """A row per net, a column per number of guesses."""
    rows = []
    for net in nets:
        shares = guesses(net)
        if shares is not None:
            number = net.evaluation("full")
            trials = tuple(trial.id for trial in net.evaluated(number))
            cells = {str(k): Cell(f"{100 * shares[k - 1]:.1f}", float(shares[k - 1]), trials, number) for k in GUESSES}
            rows.append(Row(_key(net), {"net": text_cell(net.title), **cells}))
    columns = (Column("net", "net", "left"), *(Column(str(k), str(k)) for k in GUESSES))
    return (
        Table(
            "guesses",
            "Accuracy by number of guesses",
            columns,
            tuple(rows),
            ("Share of test positions, in percent, in which so many guesses are enough.",),
        )
        if rows
        else None
    )


def moves_table(nets: Sequence[MeasuredNet]) -> Table | None:
    """A row per bin of moves, a column per net."""
    bins_by_net = {net.title: (net, bins) for net in nets if (bins := move_numbers(net))}
    if not bins_by_net:
        return None
    rows = []
    for first in sorted({first for _, bins in bins_by_net.values() for first in bins}):
        cells = {"moves": Cell(f"{first}–{first + MOVES_A_BIN - 1}", first)}
        for title, (net, bins) in bins_by_net.items():
            number = net.evaluation("full")
            trials = tuple(trial.id for trial in net.evaluated(number))
            cells[title] = (
                Cell(formats.level(bins[first][1], "share"), bins[first][1], trials, number)
                if first in bins
                else Cell(formats.NONE)
            )
        rows.append(Row(str(first), cells))
    columns = (Column("moves", "moves"), *(Column(title, title, escape=True) for title in bins_by_net))
    lacking = [net.title for net in nets if net.title not in bins_by_net]
    notes = [f"Bins of fewer than {FEWEST_POSITIONS} test positions are left out."]
    notes += [f"Evaluated before numbers of moves were kept: {', '.join(lacking)}."] if lacking else []
    return Table("moves", "Accuracy by move number", columns, tuple(rows), tuple(notes))


def accuracy_picture(nets: Sequence[MeasuredNet]) -> Picture | None:
    """Both, a panel each, a line per net; None while none is evaluated."""
    by_guesses = [(net, shares) for net in nets if (shares := guesses(net)) is not None]
    by_move = [(net, bins) for net in nets if (bins := move_numbers(net))]
    if not by_guesses:
        return None

    def paint(figure: Figure) -> None:
        panels = figure.subplots(2 if by_move else 1, 1, squeeze=False)[:, 0]
        styles = {
            net.title: {"color": COLOURS[index % len(COLOURS)], "linestyle": DASHES[index % len(DASHES)]}
            for index, (net, _) in enumerate(by_guesses)
        }
        for net, shares in by_guesses:
            panels[0].plot(
                range(1, 51),
                100 * shares[:50],
                linewidth=1.6,
                **styles[net.title],
                label=printable(net.title, 60),
            )
        panels[0].set_xscale("log")
        panels[0].set_xticks([1, 2, 3, 5, 10, 20, 50], ["1", "2", "3", "5", "10", "20", "50"])
        panels[0].minorticks_off()
        panels[0].set(xlabel="guesses", ylabel="test move among them (%)", ylim=(0, 100))
        for net, bins in by_move:
            middles = [first + MOVES_A_BIN / 2 - 0.5 for first in bins]
            panels[1].plot(
                middles,
                [100 * share for _, share in bins.values()],
                marker="o",
                markersize=3.5,
                linewidth=1.4,
                **styles[net.title],
            )
        if by_move:
            panels[1].set(xlabel=f"move number (means over {MOVES_A_BIN} moves)", ylabel="test top-1 (%)")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower left", ncols=2, alignment="left")

    size = (WIDTH, (5.8 if by_move else 3.2) + 0.12 * len(by_guesses))
    lacking = ", ".join(net.title for net, _ in by_guesses if net.title not in {each.title for each, _ in by_move})
    title = "Accuracy by number of guesses" + (" and by move number" if by_move else "")
    title += f" (the latter was not kept for {lacking})" if by_move and lacking else ""
    inputs = (
        [(net.title, shares.tolist()) for net, shares in by_guesses],
        [(net.title, bins) for net, bins in by_move],
    )
    return Picture("accuracy", title, lambda: figure_bytes("accuracy", size, paint), (size, *inputs))


def gap_table(nets: Sequence[MeasuredNet], registry: Registry) -> Table | None:
    """Loss at the end of training beside that on test games, with what is published of such gaps; None while no net has
    both."""
    rows = []
    for net in nets:
        number = net.evaluation("full")
        test_loss = None if number is None else level(net, number, "nats")
        trained = [trial.curve[-1]["train_nats"] for trial in net.trials if trial.curve]
        if number is None or test_loss is None or not trained:
            continue
        trials, evaluated = tuple(trial.id for trial in net.trials), tuple(trial.id for trial in net.evaluated(number))
        train, samples = float(np.mean(trained)), net.config.training.samples
        cells = {
            "net": text_cell(net.title),
            **_accuracies(net, number),
            "train": Cell(formats.level(train), train, trials),
            "test": Cell(formats.level(test_loss.delta), test_loss.delta, evaluated, number),
            "gap": Cell(formats.signed(test_loss.delta - train), test_loss.delta - train, trials, number),
            "samples": Cell(formats.samples(samples), samples),
            "seeds": Cell(str(len(evaluated)), len(evaluated)),
        }
        rows.append(Row(_key(net), cells))
    note = (
        "Training loss and accuracy: means over the samples since the last but one progress point, on the weights of "
        "that time, as "
        "the net sees them then (with dropped history and"
        " whatever else training alone does). Positions of the first epoch are new to the net too: a gap is then not "
        "memory but the difference between the games."
    )
    return (
        Table("gap", "Training and test loss", _GAP, tuple(rows), (note, *_published_gaps(registry))) if rows else None
    )


def _accuracies(net: MeasuredNet, number: int) -> dict[str, Cell]:
    """The same of the first choice; training's is not known of trials from before it was kept."""
    test = level(net, number, "top1")
    evaluated = tuple(trial.id for trial in net.evaluated(number))
    told = [(trial.id, curve_value(trial.curve[-1], "train_top1")) for trial in net.trials if trial.curve]
    shares = {trial: share for trial, share in told if share is not None}
    cells = {name: Cell(formats.NONE) for name in ("train_top1", "test_top1", "gap_top1")}
    if test is not None:
        cells["test_top1"] = Cell(formats.level(test.delta, "share"), test.delta, evaluated, number)
    if shares:
        train = float(np.mean(list(shares.values())))
        cells["train_top1"] = Cell(formats.level(train, "share"), train, tuple(shares))
        if test is not None:
            gap = test.delta - train
            cells["gap_top1"] = Cell(formats.signed(gap, "share"), gap, tuple(shares), number)
    return cells


def _published_gaps(registry: Registry) -> list[str]:
    """Published nets of which an accuracy on training positions is told, beside that on test positions."""
    gaps = []
    for row in (row for published in registry.published.values() for row in published.rows):
        data, _, split = row.data.partition(" ")
        if split == "training" and row.top1 is not None:
            test = next(
                (
                    other.top1
                    for each in registry.published.values()
                    for other in each.rows
                    if (other.source, other.data) == (row.source, f"{data} test")
                ),
                None,
            )
            if test is not None:
                mark = ", from memory" if row.evidence == "unverified_memory" else ""
                gaps.append(
                    f"{row.source}, {data}: top-1 {100 * row.top1:.1f} % in training, {100 * test:.1f} % on test "
                    f"games{mark}"
                )
    return [f"Published: {'; '.join(gaps)}."] if gaps else []


def _key(net: MeasuredNet) -> str:
    return f"{net.title}, {net.trials[0].id}"
