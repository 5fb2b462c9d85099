"""Tables of losses and effects over samples."""

from collections.abc import Sequence

import numpy as np

from reports.results.compare import used_trials
from reports.results.group import MAIN
from reports.scaling.courses import Course, Measured
from reports.study.tables import effect_values
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row, of_split, text_cell
from reports.tables.entities import EFFECTS, pick
from reports.worth.curve import ControlCurve
from reports.worth.effects import WORTH, worth_values
from reports.worth.envelope import FURTHEST, envelope

_CURVE = (
    Column("samples", "samples"),
    Column("seeds", "seeds", "left"),
    Column("nats", "test nats", parts=("test_nats",)),
    Column("sd", "sd of seeds", parts=("sd_of_seeds",)),
    Column("top1", "test top-1", parts=("test_top1",)),
)
_EFFECTS = (*of_split(pick(EFFECTS, "card", "base", "samples", "delta", "interval", "verdict", "q", "runs"), "test"),)
_WORTH = pick(EFFECTS, *WORTH)
_TRENDS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("course", "with samples", "left"),
    Column("slope", "Δ test nats per doubling", parts=("slope", *interval95("slope"))),
    Column("p", "p"),
)
_BEYOND = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", brief=False, under="card"),
    Column("twice", "at twice the most samples", parts=("twice_low", "twice_high")),
    Column("furthest", f"at {FURTHEST} times", parts=("furthest_low", "furthest_high")),
    Column("held_out", "most samples told from the others, Δ there", "left"),
)
_TREND_NOTE = (
    "With samples: growing or fading where the slope of Δ over log2 samples, by weighted least squares, differs from 0 "
    "at the level of the verdicts, steady where its 90 % interval lies within the smallest effect that counts. The "
    "studies share no trial; they share their test games, which makes the interval a little too wide."
)
_PAGE_NOTE = "Effects are at the base, so that those at different samples are of one question; q is over this page."
_RATE_NOTE = (
    "Learning rate and warm-up are those of the budget for its own number of samples, at every number; the rate falls "
    "to its end within each."
)
_BEYOND_NOTE = (
    "Beyond these samples: nothing is measured. The range is the envelope of the 90 % bands of three forms fixed "
    "beforehand (constant, a + b s^−c, log-linear). Beside it, how the same forms told the effect at the most samples "
    "from those at fewer: their envelope, each form's error, and whether the effect lay in the envelope."
)


def curve_table(curve: ControlCurve, number: int) -> Table:
    """A row a number of samples."""
    rows = []
    for point in curve.points:
        nats, top1 = np.array(list(point.nats.values())), np.array(list(point.top1.values()))
        sd = float(nats.std(ddof=1)) if len(nats) > 1 else None
        rows.append(
            Row(
                str(point.samples),
                {
                    "samples": Cell(formats.count(point.samples), point.samples),
                    "seeds": Cell(formats.seeds(point.nats), list(point.nats), point.trials),
                    "nats": Cell(formats.level(point.mean), point.mean, point.trials),
                    "sd": Cell(formats.NONE if sd is None else f"{sd:.4f}", sd, point.trials),
                    "top1": Cell(formats.level(float(top1.mean()), "share"), float(top1.mean()), point.trials),
                },
            )
        )
    return Table(f"curve-{number}", f"Loss over samples: {curve.label}", _CURVE, tuple(rows), (_RATE_NOTE,))


def effects_over_samples(courses: Sequence[Course]) -> Table | None:
    """A row an enhancement and number of samples."""
    worths = any(each.report.worths for course in courses for each in course.measured)
    rows = [_effect_row(course, each, worths) for course in courses for each in course.measured]
    columns = (*_EFFECTS, *(_WORTH if worths else ()))
    return Table("effects", "Effects over samples", columns, tuple(rows), (_PAGE_NOTE, _RATE_NOTE)) if rows else None


def _effect_row(course: Course, measured: Measured, worths: bool) -> Row:
    trials = used_trials(measured.report.results, measured.contrast, MAIN)
    values = {
        **effect_values(measured.effect, None, measured.verdict),
        "card": course.card,
        "base": course.label,
        "samples": measured.samples,
        **worth_values(measured.report.worths.get(course.card)),
    }
    columns = (*_EFFECTS, *(_WORTH if worths else ()))
    return make_row(columns, f"{course.label}:{course.card}:{measured.samples}", values, trials, MAIN)


def trends_table(courses: Sequence[Course]) -> Table | None:
    """A row an enhancement whose effects have a trend."""
    rows = []
    for course in courses:
        if (found := course.trend) is not None:
            slope = formats.with_interval(found.slope, found.interval95)
            cells = {
                "card": text_cell(course.card),
                "base": text_cell(course.label),
                "course": text_cell(found.course),
                "slope": Cell(slope, [found.slope, found.interval95.low, found.interval95.high]),
                "p": Cell(formats.p_value(found.p), found.p),
            }
            rows.append(Row(f"{course.label}:{course.card}", cells))
    return Table("trends", "Trends with samples", _TRENDS, tuple(rows), (_TREND_NOTE,)) if rows else None


def beyond_table(courses: Sequence[Course]) -> Table | None:
    """A row an enhancement that was measured at numbers of samples enough."""
    rows = []
    for course in courses:
        found = envelope(course.effects)
        if found is None:
            continue
        twice, furthest = found.beyond.values()
        held = found.held_out
        errors = ", ".join(f"{name} {formats.signed(error)}" for name, error in held.errors.items())
        inside = "in" if held.covered else "not in"
        text = f"{inside} {formats.interval(held.band)}; off by {errors}"
        cells = {
            "card": text_cell(course.card),
            "base": text_cell(course.label),
            "twice": Cell(formats.interval(twice), [twice.low, twice.high]),
            "furthest": Cell(formats.interval(furthest), [furthest.low, furthest.high]),
            "held_out": Cell(text, text),
        }
        rows.append(Row(f"{course.label}:{course.card}", cells))
    return Table("beyond", "Beyond these samples", _BEYOND, tuple(rows), (_BEYOND_NOTE,)) if rows else None
