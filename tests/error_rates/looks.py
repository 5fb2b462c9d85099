"""Looks planned at 4, 8, 12 and 16 seeds (audit, table 2.4): errors of all looks together, power, and seeds spent.

An arm stops when its effect is shown at a look, or, where a futility bound was set, when it is smaller than that.
"""

from collections.abc import Mapping

import numpy as np

from reports.stats.clusters import ArmResult
from reports.stats.looks import planned_levels
from reports.stats.seed_noise import Differences
from tests.error_rates.growing import earlier_differences
from tests.error_rates.judged import CONTROL, SHOWN, THRESHOLDS, judge, toggles
from tests.error_rates.made import Noise, first_seeds, make_arms
from tests.error_rates.rates import Bar, Case, Table

SEEDS = (4, 8, 12, 16)
EVER, ANY, OTHERS, SPENT = "shown in the end", "any shown", "any of the others shown", "seeds of the arm"
FUTILITY = 0.02
"""Nats: the audit's."""


def sequence(
    arms: Mapping[str, ArmResult], prior: Mapping[str, Differences] | None, futility: float | None
) -> tuple[set[str], dict[str, int]]:
    """Toggles that were shown at any look, and the seeds of each when its arm stopped."""
    names = [arm for arm in arms if arm != CONTROL]
    stopped: dict[str, int] = {}
    shown: set[str] = set()
    for seeds, level in zip(SEEDS, planned_levels(SEEDS, THRESHOLDS.alpha, len(names)), strict=True):
        now = {arm: first_seeds({arm: arms[arm]}, stopped.get(arm, seeds))[arm] for arm in arms}
        table = judge(now, prior=prior, level=level, decided=frozenset(shown))
        going = [name for name in names if name not in stopped]
        for name in going:
            bound = table.effects[name].bound
            found = table.verdicts[name] in SHOWN
            if found:
                shown.add(name)
            if found or seeds == SEEDS[-1] or (futility is not None and bound is not None and bound < futility):
                stopped[name] = seeds
        if len(stopped) == len(names):
            break
    return shown, stopped


def _case(
    truth: float,
    count: int = 1,
    futility: float | None = None,
    audit: tuple[str, str] = ("", ""),
    pooled: bool = True,
    scale: Mapping[str, float] | None = None,
) -> Case:
    """One toggle, or the first of several, has a true effect, the others none."""

    def draw(generator: np.random.Generator) -> Table:
        arms = make_arms(generator, {**toggles(count), "t1": truth}, SEEDS[-1], Noise(scale=scale or {}))
        shown, stopped = sequence(arms, earlier_differences(generator) if pooled else None, futility)
        return {EVER: "t1" in shown, ANY: bool(shown), OTHERS: bool(shown - {"t1"}), SPENT: stopped["t1"]}

    bars: dict[str, Bar] = {}
    if count > 1:
        bars |= {OTHERS: Bar(most=0.05)} if truth else {ANY: Bar(most=0.05)}
    if truth or count == 1:
        bars |= {EVER: Bar(audit[0], most=None if truth else 0.05), SPENT: Bar(audit[1], unit="seeds")}
    words = f"a toggle of {truth:g}" if count == 1 else f"a toggle of {truth:g} beside {count - 1} of 0"
    stop = f", futility {futility:g}" if futility else ""
    noise = f", {next(iter(scale))} {next(iter(scale.values())):g}x as noisy" if scale else ""
    return Case("2.4", f"{words}{stop}{noise}{', with a pool' if pooled else ''}", draw, bars, share=0.5)


TRUTHS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.11)
POCOCK = (("5", "15.6"), ("47", "13.4"), ("97", "8.1"), ("", "5.2"), ("", "4.0"), ("", "4.0"))
WITH_FUTILITY = (("", "7.0"), ("33", "8.5"), ("91", "7.5"), ("", "5.2"), ("", "4.0"), ("", "4.0"))
CASES = [
    *(_case(truth, audit=audit) for truth, audit in zip(TRUTHS, POCOCK, strict=True)),
    *(_case(truth, futility=FUTILITY, audit=audit) for truth, audit in zip(TRUTHS, WITH_FUTILITY, strict=True)),
    _case(0.0, pooled=False),
    *(_case(truth, 5, pooled=pooled) for truth in (0.0, 0.02) for pooled in (False, True)),
    _case(0.0, 5, FUTILITY),
    _case(0.0, 5, scale={"t1": 3.0}),
]
"""The audit's design of four looks at one level (Pocock), with its truths; its table has one toggle and a pool."""
