"""Losses and effects over samples: the curves of controls, effects at several numbers of samples, and their trends. A
section of the report over all studies, and a page in out/samples."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from ablations.study import Contrast
from reports.cache import Picture
from reports.figures.marks import nats_axis
from reports.figures.style import COLOURS, WIDTH, figure_bytes
from reports.page import Page, Section, markdown
from reports.results.compare import used_trials
from reports.results.group import MAIN, comparison_key
from reports.results.nets import MeasuredNet, measured_nets, net_cost
from reports.stats.estimates import Effect, Interval, Spread
from reports.stats.verdicts import judge_effect, with_q
from reports.study.report import Report
from reports.study.tables import effect_values
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row, of_split
from reports.tables.entities import EFFECTS, pick
from reports.tables.writers import csv_text
from reports.workspace import write_files
from reports.worth.curve import ControlCurve
from reports.worth.effects import WORTH, net_key, samples_of, worth_values
from reports.worth.law import Trained, fit_law

TITLE = "Losses and effects over samples"
NONE_YET = (
    "Nothing was trained on more than one number of samples yet: `make scale BASE=gonn-b5 SAMPLES=25k,50k,100k` does."
)
_CURVE = (
    Column("samples", "samples", show=formats.count),
    Column("seeds", "seeds", "left"),
    Column("nats", "test nats", parts=("test_nats",), show=formats.level),
    Column("sd", "sd of seeds", parts=("sd_of_seeds",), show=formats.level),
    Column("top1", "test top-1", parts=("test_top1",), show=lambda share: formats.level(share, "share")),
)
_EFFECTS = of_split(pick(EFFECTS, "card", "base", "samples", "delta", "interval", "verdict", "q", "runs"), "test")
_TRENDS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("course", "with samples", "left"),
    Column("slope", "Δ test nats per doubling", parts=("slope", *interval95("slope"))),
    Column("p", "p", show=formats.p_value),
)
_LAW = (
    Column("operations", "operations", exact=True, show="{:.0e}".format),
    Column("size", "best FLOPs per sample", parts=("flops", *interval95("flops"))),
    Column("samples", "samples then", show=lambda samples: formats.about(round(samples))),
    Column("nats", "validation nats", parts=("validation_nats", *interval95("validation_nats"))),
)
_TREND_NOTE = (
    "With samples: growing or fading where the slope of Δ over log2 samples, by weighted least squares, differs from 0 "
    "at the level of the verdicts, steady where its 90 % interval lies within the smallest effect that counts. The "
    "studies share no trial; they share their test games, which makes the interval a little too wide."
)
_LAW_NOTE = (
    "Nets that differ in the number and width of their layers and in samples alone, each trained to its end. Loss = "
    "floor + (size / s)^−a + (samples / n)^−b by least squares over the nets' means (Hoffmann et al. 2022), size in "
    "operations of training by a sample. Beyond the largest training it is a guess: the interval is for the case that "
    "the law holds there."
)
_PAGE_NOTE = (
    "Rows of one enhancement are between the same arms; a screen's effects are means over what else it varies. "
    "q is over this page."
)
_RATE_NOTE = "Learning rate and warm-up are the budget's at every number of samples; the rate falls to its end in each."


@dataclass(frozen=True)
class Trend:
    """slope: nats per doubling of the samples, its 95 % interval and two-sided p; kind: growing, fading, steady or not
    settled."""

    slope: float
    interval95: Interval
    p: float
    kind: str


def trend(effects: Mapping[int, Effect], alpha: float, margin: float) -> Trend | None:
    """Weighted least squares of effects (by samples) on log2 samples, by their own standard errors; None with fewer
    than two that have one.

    growing, fading: the slope differs from 0 at `alpha`, away from or towards 0 by the sign of the weighted mean of
    the effects. steady: its 90 % interval lies within ±margin. The studies share no trial, so the effects are
    independent but for their test games; what these have in common falls out of a slope, which makes the interval a
    little too wide. Degrees of freedom as of any sum of variances here: V / df = sum(V_i / df_i).
    """
    tested = {samples: effect for samples, effect in effects.items() if effect.se and effect.df}
    if len(tested) < 2:
        return None
    at = np.log2(np.array(list(tested), dtype=float))
    deltas, errors, dfs = (
        np.array([getattr(effect, name) for effect in tested.values()]) for name in ("delta", "se", "df")
    )
    weights = errors**-2
    centred = at - np.average(at, weights=weights)
    shares = weights * centred / (weights * centred**2).sum()
    variances = (shares * errors) ** 2
    slope, total = float(shares @ deltas), float(variances.sum())
    spread = Spread(math.sqrt(total), total / float((variances / dfs).sum()))
    p = spread.p_value(slope)
    kind = "not settled"
    if p < alpha:
        kind = "growing" if slope * np.average(deltas, weights=weights) > 0 else "fading"
    elif spread.interval(slope, 0.90).within(margin):
        kind = "steady"
    return Trend(slope, spread.interval(slope, 0.95), p, kind)


@dataclass(frozen=True)
class SampledEffect:
    """An effect on the loss at one number of samples, between the arms of one comparison: two, or a screen's halves.
    Its q is over this page."""

    report: Report
    contrast: Contrast
    samples: int
    effect: Effect

    @property
    def names(self) -> dict[str, str]:
        """Values of the columns `card` and `base`."""
        study = self.report.study
        return {"card": self.contrast.card, "base": f"{study.base} ({study.budget_label}, {study.data})"}

    @property
    def key(self) -> str:
        """Of a table's row."""
        return "{base}:{card}".format(**self.names)


Course = Sequence[SampledEffect]
"""One comparison at two or more numbers of samples, rising."""


def courses(reports: Sequence[Report]) -> list[Course]:
    """Every effect that was measured at two or more numbers of samples; of several studies at one number the one with
    most runs."""
    comparisons: dict[tuple, dict[int, SampledEffect]] = {}
    for report in reports:
        for contrast in report.study.contrasts:
            effect, samples = report.nats.in_arms(contrast), samples_of(report.study.arms[0])
            if effect is not None and report.results.unjudged is None:
                by_samples = comparisons.setdefault(comparison_key(report.study, contrast), {})
                if samples not in by_samples or effect.n > by_samples[samples].effect.n:
                    by_samples[samples] = SampledEffect(report, contrast, samples, effect)
    several = [[by[samples] for samples in sorted(by)] for by in comparisons.values() if len(by) > 1]
    if not several:
        return []
    effects = {(number, each.samples): each.effect for number, course in enumerate(several) for each in course}
    effects = with_q(effects, several[0][0].report.study.thresholds)
    judged = [
        [replace(each, effect=effects[number, each.samples]) for each in course]
        for number, course in enumerate(several)
    ]
    return sorted(judged, key=lambda course: course[0].key)


def curve_table(curve: ControlCurve, number: int) -> Table:
    """A row per number of samples."""
    rows = []
    for point in curve.points:
        nats = list(point.nats.values())
        values = {
            "samples": Cell(formats.count(point.samples), point.samples),
            "seeds": Cell(formats.seeds(point.nats), list(point.nats), point.trials),
            "nats": point.mean,
            "sd": float(np.std(nats, ddof=1)) if len(nats) > 1 else None,
            "top1": float(np.mean(list(point.top1.values()))),
        }
        rows.append(make_row(_CURVE, str(point.samples), values, point.trials))
    return Table(f"curve-{number}", f"Loss over samples: {curve.label}", _CURVE, tuple(rows), (_RATE_NOTE,))


def _is_of_worth(each: SampledEffect) -> bool:
    """Whether it is the effect that a worth is of: no effect at the base where that is a mean over others."""
    judged = each.report.nats.effect(each.contrast.card)
    return judged is not None and judged.delta == each.effect.delta


def effects_over_samples(courses: Sequence[Course]) -> Table:
    """A row per enhancement and number of samples."""
    every = [each for course in courses for each in course]
    columns = (*_EFFECTS, *(pick(EFFECTS, *WORTH) if any(each.report.worths for each in every) else ()))
    rows = []
    for each in every:
        verdict = judge_effect(each.effect, "lower", each.report.study.thresholds)
        values = {
            **effect_values(each.effect, None, verdict),
            **each.names,
            "samples": each.samples,
            **worth_values(each.report.worths.get(each.contrast.card) if _is_of_worth(each) else None),
        }
        trials = used_trials(each.report.results, each.contrast, MAIN)
        rows.append(make_row(columns, f"{each.key}:{each.samples}", values, trials, MAIN))
    return Table("effects", "Effects over samples", columns, tuple(rows), (_PAGE_NOTE, _RATE_NOTE))


def trends_table(courses: Sequence[Course]) -> Table:
    """A row per enhancement whose effects have a trend."""
    rows = []
    for course in courses:
        thresholds = course[0].report.study.thresholds
        effects = {each.samples: each.effect for each in course}
        if line := trend(effects, thresholds.alpha, thresholds.smallest("nats")):
            text = formats.with_interval(line.slope, line.interval95)
            slope = Cell(text, [line.slope, line.interval95.low, line.interval95.high])
            values = {**course[0].names, "course": line.kind, "slope": slope, "p": line.p}
            rows.append(make_row(_TRENDS, course[0].key, values))
    return Table("trends", "Trends with samples", _TRENDS, tuple(rows), (_TREND_NOTE,))


def law_tables(nets: Sequence[MeasuredNet]) -> list[Table]:
    """For each base whose nets of several sizes and lengths tell a law: how large a net to train with some number of
    operations."""
    alike: dict[tuple, list[MeasuredNet]] = {}
    for net in nets:
        alike.setdefault((net.study.base, net.study.data, net_key(net.config, of_any_size=True)), []).append(net)
    tables = list[Table]()
    for (base, data, _), members in alike.items():
        losses: dict[tuple[float, int], dict[str, float]] = {}
        for net in members:
            of_net = losses.setdefault((net_cost(net.config, net.cache)[1], net.config.training.samples), {})
            of_net |= {each.id: each.result["nats"] for each in net.trials if each.result and "nats" in each.result}
        trained = [Trained(*net, float(np.mean(list(of.values())))) for net, of in losses.items() if of]
        law = fit_law(trained)
        if law is None:
            continue
        spent = [math.log10(each.size * each.samples) for each in trained]
        rows = []
        for power in range(math.ceil(min(spent)), math.floor(max(spent)) + 2):
            size, sizes, nats, ends = law.best(10.0**power)
            values = {
                "operations": 10.0**power,
                "size": Cell(f"{size:.1e} [{sizes.low:.1e}, {sizes.high:.1e}]", [size, sizes.low, sizes.high]),
                "samples": 10.0**power / size,
                "nats": Cell(f"{nats:.3f} [{ends.low:.3f}, {ends.high:.3f}]", [nats, ends.low, ends.high]),
            }
            rows.append(make_row(_LAW, f"1e{power}", values))
        title = f"Size and samples: {base} ({data}), {sum(map(len, losses.values()))} trials of {len(trained)} nets"
        tables.append(Table(f"law-{len(tables) + 1}", title, _LAW, tuple(rows), (_LAW_NOTE,)))
    return tables


def curve_picture(curve: ControlCurve, number: int) -> Picture:
    """Samples on a logarithmic axis, nats on test games."""
    name, size = f"curve-{number}", (WIDTH, 3.4)
    shown = [(point.samples, point.nats) for point in curve.points]

    def paint(figure: Figure) -> None:
        axes = figure.subplots()
        samples = [point.samples for point in curve.points]
        axes.plot(samples, [point.mean for point in curve.points], color=COLOURS[0], linewidth=1.6, label="mean")
        for index, point in enumerate(curve.points):
            places = [point.samples] * len(point.nats)
            label = "a seed each" if index == 0 else None
            axes.plot(places, list(point.nats.values()), "o", markersize=4.5, alpha=0.6, color=COLOURS[1], label=label)
        axes.set_xscale("log")
        axes.set_xticks(samples, [formats.about(count) for count in samples])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set(xlabel="samples, each trained to its end", ylabel="test nats")
        nats_axis(axes.yaxis)
        axes.legend(loc="upper right")

    title = f"Loss over samples: {curve.label}"
    return Picture(name, title, lambda: figure_bytes(name, size, paint), (size, curve.label, shown))


def samples_section(reports: Sequence[Report], curves: Iterable[ControlCurve]) -> Section:
    """The page as a section of another one; one sentence where nothing was trained on more than one number of
    samples."""
    shown: list[ControlCurve] = []
    for curve in curves:
        if len(curve.points) > 1 and curve not in shown:
            shown.append(curve)
    of_effects = courses(reports)
    tables = [curve_table(curve, number) for number, curve in enumerate(shown, 1)]
    tables += law_tables(measured_nets([report.results for report in reports]))
    tables += [table for table in (effects_over_samples(of_effects), trends_table(of_effects)) if table.rows]
    pictures = tuple(curve_picture(curve, number) for number, curve in enumerate(shown, 1))
    return Section(TITLE, () if tables else (NONE_YET,), pictures, tuple(tables))


def write_samples(
    reports: Sequence[Report], curves: Iterable[ControlCurve], folder: Path, cache: Path | None = None
) -> tuple[Path, list[Table]] | None:
    """Write the page into `folder`: its path and tables; None, and nothing written, where nothing was trained on more
    than one number of samples. `cache`: as in `reports.book.book.write_book`. Raises InputError."""
    section = samples_section(reports, curves)
    if not section.tables:
        return None
    page = Page(TITLE, "The control's loss, and effects, at several numbers of samples", None, (section,))
    contents = {f"{table.name}.csv": csv_text(table).encode() for table in section.tables}
    contents["samples.md"] = markdown(page).encode()
    for picture in section.pictures:
        contents |= picture.files(cache)
    write_files(folder, contents)
    for path in folder.iterdir():  # of an earlier page with more curves
        if path.suffix in (".csv", ".png", ".svg") and path.name not in contents:
            path.unlink()
    return folder / "samples.md", list(section.tables)
