"""One table's statistics: from every arm's sums by game to effects with intervals, adjusted p and verdicts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gonn_core.metrics import Better
from reports.stats.clusters import ArmResult, EvaluationNoise, evaluation_noise
from reports.stats.estimates import Effect, spread, welch
from reports.stats.extra_seeds import ExtraSeeds, extra_seeds
from reports.stats.family import adjust
from reports.stats.seed_noise import Differences, RunNoise, SeedPool, moderated, pair_correlation, pool_seed_noise
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect


@dataclass(frozen=True)
class TableAnalysis:
    """All toggles of one table on one metric, in the order given.

    margins: the delta of each toggle's `no effect`; differences: of the paired toggles, for the pool of later tables
    (`prior`);
    pool: None when nothing could be pooled; correlation: of the arms without and with over seeds, pooled over the
    paired toggles;
    evaluation_variance: the mean over toggles of the part that more seeds do not shrink. noise: of a run, where effects
    are estimated from runs (`reports.stats.linear`).
    """

    effects: Mapping[str, Effect]
    verdicts: Mapping[str, EffectVerdict]
    margins: Mapping[str, float]
    differences: Mapping[str, Differences]
    pool: SeedPool | None
    correlation: float | None
    evaluation_variance: float
    noise: RunNoise | None = None


@dataclass(frozen=True)
class Comparison:
    """An effect: the mean of the arms that have the enhancement minus the mean of those that have not.

    paired: seeds of all these arms saw the same data and started alike (False: the card says `pairing: none`). lone,
    more: of a plain pair, the arm that was given more seeds than the other, and these.
    """

    with_it: Sequence[str]
    without: Sequence[str]
    paired: bool = True
    lone: str | None = None
    more: Sequence[int] = ()

    @property
    def weights(self) -> dict[str, float]:
        """Arm -> its weight in the difference."""
        plus = {arm: 1.0 / len(self.with_it) for arm in self.with_it}
        return plus | {arm: -1.0 / len(self.without) for arm in self.without}


def analyse_comparisons(
    arms: Mapping[str, ArmResult],
    comparisons: Mapping[str, Comparison],
    thresholds: Thresholds,
    better: Better,
    *,
    metric: str = "nats",
    claims: Mapping[str, float] | None = None,
    prior: Mapping[str, Differences] | None = None,
    level: float | None = None,
    decided: Collection[str] = (),
) -> TableAnalysis:
    """Estimates and judges each comparison, named by its toggle.

    Paired arms are compared on the seeds that all of them have, and on more of one of them where a comparison says so
    (`reports.stats.extra_seeds`); without pairs all seeds count, each arm with its own
    variance (Welch).
    claims: the claimed size by toggle, for the margins. prior: differences of toggles of earlier tables on the same
    base, budget, metric and evaluation subset; they join the pool of seed noise, not the table (a toggle of this table
    replaces its former self). p values are adjusted over the toggles with enough seeds to be judged. level: that of a
    planned look, None for alpha; decided: toggles that were shown at an earlier one, which the others' family has not.
    ValueError: an arm is unknown, was evaluated on other games, or shares no seed with the one it is paired with.
    """
    _check(arms, comparisons)
    claims = claims or {}
    paired, differences, pool, effects = _estimate(arms, comparisons, thresholds, prior)
    enough = {effect.name: effect for effect in effects if effect.n >= thresholds.min_seeds}
    adjusted = adjust(enough) | adjust({name: each for name, each in enough.items() if name not in decided})
    judged = {each.name: replace(each, p_adjusted=adjusted.get(each.name), level=level) for each in effects}
    margins = {name: thresholds.margin(metric, claims.get(name)) for name in comparisons}
    return TableAnalysis(
        effects=judged,
        verdicts={name: judge_effect(effect, better, margins[name], thresholds) for name, effect in judged.items()},
        margins=margins,
        differences=differences,
        pool=pool,
        correlation=pair_correlation([pairs.means for pairs in paired.values()]),
        evaluation_variance=float(np.mean([effect.se_eval**2 for effect in effects])),
    )


def estimate_comparisons(
    arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison], thresholds: Thresholds
) -> dict[str, Effect]:
    """The effects alone, estimated as in `analyse_comparisons`, of a metric on which nothing is judged: p_adjusted
    is None."""
    _check(arms, comparisons)
    return {effect.name: effect for effect in _estimate(arms, comparisons, thresholds, None)[-1]}


def _estimate(arms, comparisons, thresholds: Thresholds, prior):
    """Pairs and their differences by toggle, the pool of seed noise, and the effects in order, not yet adjusted for
    their number."""
    paired = {name: _Pairs(arms, comparison) for name, comparison in comparisons.items() if comparison.paired}
    differences = {name: pairs.differences for name, pairs in paired.items()}
    pool = pool_seed_noise({**(prior or {}), **differences})
    share = pair_correlation([pairs.means for pairs in paired.values()])
    effects = [
        paired[name].effect(name, pool, thresholds, share)
        if name in paired
        else _unpaired_effect(name, arms, comparison, thresholds)
        for name, comparison in comparisons.items()
    ]
    return paired, differences, pool, effects


def _check(arms: Mapping[str, ArmResult], comparisons: Mapping[str, Comparison]) -> None:
    if not comparisons:
        raise ValueError("nothing to compare")
    for name, comparison in comparisons.items():
        used = [*comparison.with_it, *comparison.without]
        if missing := [arm for arm in used if arm not in arms]:
            raise ValueError(f"{name}: no arm {', '.join(missing)}; arms: {', '.join(arms)}")
        if not comparison.with_it or not comparison.without or len(set(used)) < len(used):
            raise ValueError(f"{name}: want arms with and without it, each once")
        if any(not np.array_equal(arms[arm].counts, arms[used[0]].counts) for arm in used):
            raise ValueError(f"{name}: arms evaluated on different games")
        if comparison.paired and not set.intersection(*(set(arms[arm].seeds) for arm in used)):
            raise ValueError(f"{name}: the arms have no seed in common")


class _Pairs:
    """The arms of one paired comparison on the seeds (ascending) that all of them have."""

    def __init__(self, arms: Mapping[str, ArmResult], comparison: Comparison):
        weights = comparison.weights
        self._arms, self._comparison = arms, comparison
        self.seeds = tuple(sorted(set.intersection(*(set(arms[arm].seeds) for arm in weights))))
        self.counts = arms[comparison.without[0]].counts
        without = np.mean([arms[arm].of_seeds(self.seeds) for arm in comparison.without], axis=0)
        with_it = np.mean([arms[arm].of_seeds(self.seeds) for arm in comparison.with_it], axis=0)
        self.sums = with_it - without
        self.means = tuple(sums.sum(1) / self.counts.sum() for sums in (without, with_it))
        self.deltas = self.means[1] - self.means[0]
        self.differences = Differences(dict(zip(self.seeds, self.deltas.tolist(), strict=True)), weights)

    def _extra(self, share: float | None) -> ExtraSeeds | None:
        """What more seeds of one of the two arms tell, if it has any."""
        lone = self._comparison.lone
        if lone is None:
            return None
        other = next(arm for arm in self._comparison.weights if arm != lone)
        sign = self._comparison.weights[other]
        return extra_seeds(self._arms[other], self._arms[lone], sign, self.seeds, self._comparison.more, share)

    def effect(self, name: str, pool: SeedPool | None, thresholds: Thresholds, share: float | None) -> Effect:
        n, extra, positions = len(self.seeds), self._extra(share), float(self.counts.sum())
        per_seed = self.deltas if extra is None else extra.per_seed.sum(1) / positions
        variance = float(per_seed.var(ddof=1)) if n > 1 else None
        own = (variance / n, n - 1.0) if variance is not None else None
        # Arms that compute the same thing have no noise to moderate.
        used = pool if pool is not None and name not in pool.own else None
        borrowed = used.without(name, n - 1.0) if used else 0.0
        seed_part = own
        if used is not None and borrowed:
            scaled = used.variance * self.differences.scale * (extra.ratio if extra else 1.0)
            moderate = moderated(variance, n - 1.0, scaled, borrowed, thresholds.noise_weight)
            assert moderate is not None, "the pool has degrees of freedom"
            seed_part = moderate[0] / n, moderate[1]
        groups = [(1.0, self.sums)]
        if extra is not None and own is not None and seed_part is not None:
            own, seed_part = extra.joined(*own), extra.joined(*seed_part)
            groups = [(1.0, extra.per_seed), (extra.weight, extra.extra)]
        return joined_effect(
            seed_part,
            own,
            evaluation_noise(groups, self.counts),
            thresholds,
            name=name,
            n=n,
            seeds=self.seeds,
            delta=float(self.deltas.mean()) if extra is None else extra.delta(positions),
            deltas=tuple(self.deltas.tolist()),
            paired=True,
            pooled=bool(borrowed),
            correlation=pair_correlation([self.means]),
            weights=self.differences.weights,
            control_seeds=n if extra is None else len(extra.control),
        )


def _unpaired_effect(
    name: str, arms: Mapping[str, ArmResult], comparison: Comparison, thresholds: Thresholds
) -> Effect:
    groups = [(weight, arms[arm]) for arm, weight in comparison.weights.items()]
    n = min(len(arm.seeds) for _, arm in groups)
    own = None
    if n > 1:
        own = welch(
            [
                (weight**2 * float(arm.means.var(ddof=1)) / len(arm.seeds), len(arm.seeds) - 1.0)
                for weight, arm in groups
            ]
        )
    return joined_effect(
        own,
        own,
        evaluation_noise([(weight, arm.sums) for weight, arm in groups], groups[0][1].counts),
        thresholds,
        name=name,
        n=n,
        seeds=tuple(sorted(set().union(*(arm.seeds for _, arm in groups)))),
        delta=float(sum(weight * arm.means.mean() for weight, arm in groups)),
        deltas=(),
        paired=False,
        pooled=False,
        correlation=None,
        weights=comparison.weights,
        control_seeds=n,
    )


def joined_effect(
    seed_part: tuple[float, float] | None,
    own_part: tuple[float, float] | None,
    noise: EvaluationNoise,
    thresholds: Thresholds,
    *,
    delta: float,
    **fields,
) -> Effect:
    """An effect from (variance, df) of its mean over seeds, `own_part` without what was borrowed, and the evaluation
    noise; p_adjusted is filled in once the whole table is known."""
    total = spread(*seed_part, noise) if seed_part else None
    own = spread(*own_part, noise) if own_part else None
    return Effect(
        delta=delta,
        se_seed=float(np.sqrt(seed_part[0])) if seed_part else None,
        se_eval=float(np.sqrt(noise.common)),
        se=total.se if total else None,
        df=total.df if total else None,
        interval95=total.interval(delta, 0.95) if total else None,
        interval90=total.interval(delta, thresholds.equivalence_level) if total else None,
        own_interval95=own.interval(delta, 0.95) if own else None,
        p=total.p_value(delta) if total else None,
        p_adjusted=None,
        **fields,
    )
