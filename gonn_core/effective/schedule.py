"""One form for all schedules that give the same learning rate at every step of a run.

Schedules that are constant between drops become `steps` at the first sample that sees them, or `constant`; so do all
schedules of very short runs. What falls all the time keeps its kind. Every rate stays what it was, to the bit.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from typing import Any

from gonn_core.config import ScheduleConfig, TrainingConfig, TrialConfig
from gonn_core.effective.nets import Rule, default, steps_of
from gonn_core.training.schedule import FINAL_PERCENT, schedule_factor

ENUMERATED = 64
"""Steps up to which a run's rates are listed one by one, whatever their schedule."""
_RATE = "training.optimiser.learning_rate"
_FIELDS = tuple(f"training.schedule.{name}" for name in ScheduleConfig.model_fields)
_FALLING: dict[str, tuple[str, ...]] = {
    "linear": (),
    "half_life": ("half_life_share",),
    "knots": ("knots", "compression"),
}
"""Kinds that fall all the time -> their own fields."""
Pieces = list[tuple[int, float]]
"""(first step, factor of the first rate from there on)."""


def _effective_schedule(config: TrialConfig) -> Mapping[str, Any]:
    training = config.training
    if training.batch_ramp > 1:  # steps within a batch have rates of their own
        return {}
    schedule, batch, steps = training.schedule, training.batch_size, steps_of(training)
    kind, warmup, window = schedule.kind, _warmup(training), _window(training)
    drop = schedule.final_drop if _final_step(training) < steps else 1.0
    values = {path: default(path) for path in _FIELDS}
    values |= {"training.schedule.warmup": warmup, "training.schedule.final_drop": drop, "training.schedule.kind": kind}
    if kind == "stall_halving" and 2 * window < steps:
        return {**values, "training.schedule.stall_window": window * batch}
    pieces = _pieces(training)
    if pieces is None:
        return {**values, **{f"training.schedule.{name}": getattr(schedule, name) for name in _FALLING[kind]}}
    if warmup:
        pieces = _from_rest(pieces, steps)
    if drop < 1 and warmup <= _final_step(training) * batch:
        pieces = _dropped(pieces, _final_step(training), drop)
        values["training.schedule.final_drop"] = 1.0
    # A warm-up of one batch leaves all rates but the first, which it makes 0, as they are.
    # The small net of `hardest` has a rate of its own, times these factors.
    if warmup <= batch and training.loss_rate_factor == 1 and training.hardest == 1:
        values[_RATE], pieces = _from_the_first(training.optimiser.learning_rate, pieces)
    shares = tuple((step * batch / training.samples, factor) for step, factor in pieces if (step, factor) != (0, 1.0))
    return {**values, "training.schedule.kind": "steps" if shares else "constant", "training.schedule.steps": shares}


def _warmup(training: TrainingConfig) -> int:
    """A first batch warms up at a rate of 0, however little of it does."""
    warmup, batch = training.schedule.warmup, training.batch_size
    return batch if 0 < warmup <= batch or (warmup and steps_of(training) == 1) else warmup


def _window(training: TrainingConfig) -> int:
    """Steps of a window of stall_halving."""
    return -(-training.schedule.stall_window // training.batch_size)


def _final_step(training: TrainingConfig) -> int:
    """The first step of `final_drop`, beyond the last one where there is none."""
    return -(-(100 - FINAL_PERCENT) * training.samples // (100 * training.batch_size))


def _pieces(training: TrainingConfig) -> Pieces | None:
    """Where the factor changes, warm-up and final drop apart; None for what falls all the time."""
    schedule, batch, steps = training.schedule, training.batch_size, steps_of(training)

    def factor(step: int) -> float:
        return schedule_factor(training, step * batch)

    if steps <= ENUMERATED and all(factor(step) <= 1 for step in range(steps)):
        starts = list(range(steps))
    elif schedule.kind == "steps":
        begun = (-(-round(start * training.samples) // batch) for start, _ in schedule.steps)
        starts = [0, *(step for step in begun if 0 < step < steps)]
    elif schedule.kind == "gonn":
        starts = _drops(factor, steps)
    elif schedule.kind != "knots" and factor(steps - 1) == factor(0):
        starts = [0]
    else:
        return None
    return _changes([(step, factor(step)) for step in starts])


def _changes(pieces: Pieces) -> Pieces:
    """Without those that change nothing."""
    before = [None, *(factor for _, factor in pieces)]
    return [piece for piece, factor in zip(pieces, before, strict=False) if piece[1] != factor]


def _drops(factor: Callable[[int], float], steps: int) -> list[int]:
    """The steps at which a factor that only falls does so."""
    starts = [0]
    while (last := factor(starts[-1])) != factor(steps - 1):
        starts.append(bisect_left(range(steps), True, starts[-1] + 1, key=lambda step: factor(step) < last))
    return starts


def _dropped(pieces: Pieces, step: int, drop: float) -> Pieces:
    """With a further drop from a step on."""
    before = [piece for piece in pieces if piece[0] < step]
    later = [piece for piece in pieces if piece[0] > step]
    at = [factor for start, factor in pieces if start <= step][-1]
    return _changes([*before, (step, at * drop), *((start, factor * drop) for start, factor in later)])


def _from_rest(pieces: Pieces, steps: int) -> Pieces:
    """As though the first step, whose rate is 0 in a warm-up, had the factor of the second."""
    if steps == 1:
        return [(0, 1.0)]
    return [(0, pieces[1][1]), *pieces[2:]] if len(pieces) > 1 and pieces[1][0] == 1 else pieces


def _from_the_first(rate: float, pieces: Pieces) -> tuple[float, Pieces]:
    """The rate of the first piece and factors of that, where these give the same rates to the bit."""
    first = rate * pieces[0][1]
    shares = [(step, factor / pieces[0][1]) for step, factor in pieces]
    exact = all(first * share == rate * factor for (_, share), (_, factor) in zip(shares, pieces, strict=True))
    return (first, shares) if exact and all(share <= 1 for _, share in shares) else (rate, pieces)


RULES = (
    Rule(
        (*_FIELDS, _RATE),
        "every step of the run has the same rate with and without",
        _effective_schedule,
    ),
)
