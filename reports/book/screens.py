"""Screens beside add-one: the same enhancements as a mean over the others on and off, and at the base.

The two are different questions. Where no interaction matters their answers agree, and a screen tells all of them from
fewer runs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median_high

from matplotlib.figure import Figure

from gonn_core.errors import printable
from reports.book.section import Section
from reports.figures.axes import nats_axis
from reports.figures.picture import Picture
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.results.compare import used_trials
from reports.results.group import MAIN
from reports.results.seed_pool import alike
from reports.stats.estimates import Effect, Interval, Spread, welch
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

AT_THE_BASE = ("add-one", "leave-one-out")
_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("screen", "screen: Δ test nats", parts=("screen", *interval95("screen"))),
    Column("screen_se", "s.e.", under="screen"),
    Column("alone", "at the base: Δ test nats", parts=("alone", *interval95("alone"))),
    Column("alone_se", "s.e.", under="alone"),
    Column("difference", "screen − base", parts=("difference", *interval95("difference"))),
    Column("p", "p", under="difference"),
    Column("study", "study at the base", "left", brief=False),
)


@dataclass(frozen=True)
class Beside:
    """One card of a screen, and what a study of it at the base found; `alone` and `report` are None without one."""

    card: str
    effect: Effect
    report: Report | None
    alone: Effect | None

    @property
    def difference(self) -> tuple[float, Interval, float] | None:
        """Screen minus base, its 95 % interval and two-sided p, as of independent estimates (the runs of the base that
        both share are one of the screen's); None where either has no standard error."""
        one, other = self.effect, self.alone
        if other is None or one.se is None or one.df is None or other.se is None or other.df is None:
            return None
        variance, df = welch([(one.se**2, one.df), (other.se**2, other.df)])
        delta, spread = one.delta - other.delta, Spread(math.sqrt(variance), df)
        return delta, spread.interval(delta, 0.95), spread.p_value(delta)


def screens_section(reports: Sequence[Report]) -> Section:
    """Every screen with the studies at the base of its cards."""
    tables, pictures, sentences = [], [], []
    for screen in (report for report in reports if report.study.design == "screen"):
        rows = beside(screen, reports)
        if not rows:
            continue
        name = f"screen-{screen.study.id}"
        title = f"Screen of {len(screen.study.contrasts)} on {screen.study.base}, and add-one at that base"
        tables.append(Table(name, title, _COLUMNS, tuple(_row(screen, each) for each in rows)))
        pictures.append(beside_picture(name, title, rows))
        sentences.append(agreement(screen, rows))
    if not tables:
        return Section("Screens beside add-one", ("No screen has results yet.",))
    question = (
        "A screen tells an enhancement's mean effect over the others on and off, add-one its effect at the base with "
        "all others as they are there: two questions, with one answer where interactions are small."
    )
    return Section("Screens beside add-one", (question, *sentences), tuple(pictures), tuple(tables))


def beside(screen: Report, reports: Sequence[Report]) -> list[Beside]:
    """The cards of a screen that have an effect on the loss, the largest first; of several studies of one card at the
    base under the same conditions the one with the smallest standard error."""
    table = screen.analyses[MAIN, "nats"].table
    rows = []
    for card, effect in table.effects.items() if table else ():
        found = [
            (report, alone)
            for report in reports
            if report.study.design in AT_THE_BASE and alike(report.study, screen.study)
            if (alone := report.analyses[MAIN, "nats"].effect(card)) is not None and alone.se is not None
        ]
        report, alone = min(found, key=lambda each: (each[1].se, each[0].study.id), default=(None, None))
        rows.append(Beside(card, effect, report, alone))
    return sorted(rows, key=lambda each: -abs(each.effect.delta))


def agreement(screen: Report, rows: Sequence[Beside]) -> str:
    """How many runs each took, the typical standard errors, and in how many cards the two answers differ."""
    study = screen.study
    both = [each for each in rows if each.difference is not None]
    runs = sum(trial.result is not None for trial in screen.results.trials)
    text = (
        f"{study.id}: {len(rows)} effects of {runs} runs, standard error {_middle([each.effect.se for each in rows])}"
    )
    if not both:
        return f"{text}; no study at this base has one of them."
    trained = {trial for each in both for trial in _trials(each)}
    apart = [each.card for each in both if each.difference and each.difference[2] < 0.05]
    there = _middle([each.alone.se for each in both if each.alone])
    text += f"; at the base {len(both)} of them of {len(trained)} runs, standard error {there}. "
    return text + (
        f"Of these {len(both)} the two answers differ by more than their noise (p below 0.05 each) in "
        f"{', '.join(apart) if apart else 'none'}."
    )


def _middle(errors: Sequence[float | None]) -> str:
    known = [each for each in errors if each is not None]
    return f"{median_high(known):.4f} nats (median)" if known else "unknown"


def _trials(row: Beside) -> tuple[str, ...]:
    if row.report is None or row.alone is None:
        return ()
    contrast = next(each for each in row.report.study.contrasts if each.card == row.card)
    return used_trials(row.report.results, contrast, row.alone, MAIN)


def _row(screen: Report, row: Beside) -> Row:
    contrast = next(each for each in screen.study.contrasts if each.card == row.card)
    trials = used_trials(screen.results, contrast, row.effect, MAIN)
    cells = {
        "card": text_cell(row.card),
        **_effect_cells("screen", row.effect, trials),
        "study": text_cell(row.report.study.id if row.report else formats.NONE),
    }
    if row.alone is None or row.report is None:
        empty = ("alone", "alone_se", "difference", "p")
        return Row(row.card, cells | dict.fromkeys(empty, Cell(formats.NONE)))
    others = _trials(row)
    cells |= _effect_cells("alone", row.alone, others)
    if row.difference is None:
        return Row(row.card, cells | dict.fromkeys(("difference", "p"), Cell(formats.NONE)))
    delta, interval, p = row.difference
    value = [delta, interval.low, interval.high]
    both = (*trials, *others)
    cells["difference"] = Cell(formats.with_interval(delta, interval), value, both, MAIN)
    return Row(row.card, cells | {"p": Cell(formats.p_value(p), p, both, MAIN)})


def _effect_cells(key: str, effect: Effect, trials: tuple[str, ...]) -> dict[str, Cell]:
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
    error = formats.NONE if effect.se is None else f"{effect.se:.4f}"
    text = formats.with_interval(effect.delta, effect.interval95)
    return {
        key: Cell(text, [effect.delta, *ends], trials, MAIN),
        f"{key}_se": Cell(error, effect.se, trials, MAIN),
    }


def beside_picture(name: str, title: str, rows: Sequence[Beside]) -> Picture:
    """A row a card: the screen's effect, and the one at the base below it."""
    shown = [(each.card, each.effect, each.alone) for each in rows]
    rows = sorted(rows, key=lambda each: each.effect.delta if each.effect else 0.0)
    return Picture(name, title, lambda: draw_beside(name, rows), shown)


def draw_beside(name: str, rows: Sequence[Beside]) -> dict[str, bytes]:
    """`<name>.png` and `<name>.svg`."""
    return figure_bytes(name, (WIDTH, 1.3 + 0.3 * len(rows)), lambda figure: _paint(figure, rows))


def _paint(figure: Figure, rows: Sequence[Beside]) -> None:
    axes = figure.subplots()
    axes.axvline(0.0, color="0.35", linewidth=0.9)
    kinds = (("in the screen: mean over the others on and off", "o", -0.14), ("at the base: add-one", "s", 0.18))
    for place, row in enumerate(rows):
        for effect, (_, marker, shift), colour in zip((row.effect, row.alone), kinds, COLOURS, strict=False):
            if effect is None:
                continue
            if effect.interval95:
                ends = [effect.interval95.low, effect.interval95.high]
                axes.plot(ends, [place + shift] * 2, color=colour, linewidth=1.8)
            axes.plot([effect.delta], [place + shift], marker=marker, markersize=4.5, color=colour, linestyle="none")
    axes.set_yticks(range(len(rows)), [printable(row.card, 40) for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Δ test nats, with − without (left of 0: helps), 95 % intervals")
    nats_axis(axes.xaxis)
    for (label, marker, _), colour in zip(kinds, COLOURS, strict=False):
        axes.plot([], [], marker=marker, markersize=4.5, color=colour, linewidth=1.8, label=label)
    figure.legend(loc="outside lower left", ncols=2, alignment="left")
