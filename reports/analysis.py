"""One table's statistics: from every arm's sums by game to effects with intervals, Holm and verdicts."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from reports.games import ArmResult, EvaluationNoise, evaluation_noise
from reports.seed_noise import Deltas, SeedPool, pair_correlation, pool_seed_noise
from reports.statistics import Effect, holm, sign_flip_p, spread, welch
from reports.verdicts import Better, EffectVerdict, Thresholds, judge_effect


@dataclass(frozen=True)
class TableAnalysis:
    """All toggles of one table on one metric, in the order of the arms given.

    margins: the delta of each toggle's `no effect`; pool: None when nothing could be pooled; correlation: of control and treatment over
    seeds, pooled over the paired toggles; evaluation_variance: the mean over toggles of the part that more seeds do not shrink.
    """

    control: str
    effects: Mapping[str, Effect]
    verdicts: Mapping[str, EffectVerdict]
    margins: Mapping[str, float]
    pool: SeedPool | None
    correlation: float | None
    evaluation_variance: float


def analyse(
    arms: Mapping[str, ArmResult],
    control: str,
    thresholds: Thresholds,
    better: Better,
    *,
    metric: str = "nats",
    claims: Mapping[str, float] | None = None,
    unpaired: Collection[str] = (),
    earlier: Mapping[str, Deltas] | None = None,
) -> TableAnalysis:
    """Compares every other arm with `arms[control]` and judges the effects.

    A toggle is paired with the control by the seeds that both have, unless named in `unpaired` (its card says `pairing: none`): then all
    seeds of both arms count, each arm with its own variance (Welch). claims: the claimed size by arm, for the margins. earlier: paired
    differences by seed of other toggles on the same base, budget, metric and evaluation subset; they join the pool of seed noise, not the
    table (a toggle of this table replaces its earlier self). Holm runs over the toggles with enough seeds to be judged.
    ValueError: an arm is unknown, was evaluated on other games, or shares no seed with the control.
    """
    treatments = [name for name in arms if name != control]
    _check(arms, control, treatments, unpaired)
    claims = claims or {}
    base = arms[control]
    paired = [name for name in treatments if name not in unpaired]
    pairs = {name: _paired_means(base, arms[name]) for name in paired}
    deltas = {name: dict(zip(seeds, (treated - plain).tolist())) for name, (seeds, plain, treated) in pairs.items()}
    pool = pool_seed_noise({**(earlier or {}), **deltas}, thresholds.outlier_ratio, thresholds.outlier_level)
    effects = [
        _paired_effect(name, base, arms[name], *pairs[name], pool, thresholds)
        if name in pairs
        else _unpaired_effect(name, base, arms[name], thresholds)
        for name in treatments
    ]
    adjusted = holm([effect.p if effect.n >= thresholds.min_seeds else None for effect in effects])
    judged = {effect.name: replace(effect, p_holm=p) for effect, p in zip(effects, adjusted)}
    margins = {name: thresholds.margin(metric, claims.get(name)) for name in treatments}
    return TableAnalysis(
        control=control,
        effects=judged,
        verdicts={name: judge_effect(effect, better, margins[name], thresholds) for name, effect in judged.items()},
        margins=margins,
        pool=pool,
        correlation=pair_correlation([(plain, treated) for _, plain, treated in pairs.values()]),
        evaluation_variance=float(np.mean([effect.se_eval**2 for effect in effects])),
    )


def _check(arms: Mapping[str, ArmResult], control: str, treatments: list[str], unpaired: Collection[str]) -> None:
    if control not in arms or not treatments:
        raise ValueError(f"control {control!r} and at least one other arm are needed; arms: {', '.join(arms) or 'none'}")
    if unknown := set(unpaired) - set(treatments):
        raise ValueError(f"unpaired: {', '.join(sorted(unknown))} not among the treatments: {', '.join(treatments)}")
    for name in treatments:
        if not np.array_equal(arms[name].counts, arms[control].counts):
            raise ValueError(f"{name} and {control} were evaluated on different games")
        if name not in unpaired and not set(arms[name].seeds) & set(arms[control].seeds):
            raise ValueError(f"{name} and {control} have no seed in common")


def _paired_means(base: ArmResult, arm: ArmResult) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The seeds that both arms have, ascending, and the metric of each: control's and treatment's, (n,) each."""
    seeds = tuple(sorted(set(base.seeds) & set(arm.seeds)))
    total = base.counts.sum()
    return seeds, base.of_seeds(seeds).sum(1) / total, arm.of_seeds(seeds).sum(1) / total


def _paired_effect(name, base, arm, seeds, plain, treated, pool: SeedPool | None, thresholds: Thresholds) -> Effect:
    deltas = treated - plain
    n = len(seeds)
    own = (float(deltas.var(ddof=1)) / n, n - 1.0) if n > 1 else None
    # A toggle with one seed is in no pool but may use it; an outlier has its own variance.
    pooled = pool is not None and name not in pool.own
    return _effect(
        (pool.variance / n, pool.df) if pooled else own,
        own,
        evaluation_noise([(1.0, arm.of_seeds(seeds) - base.of_seeds(seeds))], base.counts),
        thresholds,
        name=name,
        n=n,
        seeds=seeds,
        delta=float(deltas.mean()),
        deltas=tuple(deltas.tolist()),
        paired=True,
        pooled=pooled,
        p_sign_flip=sign_flip_p(deltas),
        correlation=pair_correlation([(plain, treated)]),
    )


def _unpaired_effect(name, base: ArmResult, arm: ArmResult, thresholds: Thresholds) -> Effect:
    n = min(len(arm.seeds), len(base.seeds))
    own = None
    if n > 1:
        own = welch([(float(result.means.var(ddof=1)) / len(result.seeds), len(result.seeds) - 1.0) for result in (arm, base)])
    return _effect(
        own,
        own,
        evaluation_noise([(1.0, arm.sums), (-1.0, base.sums)], base.counts),
        thresholds,
        name=name,
        n=n,
        seeds=arm.seeds,
        delta=float(arm.means.mean() - base.means.mean()),
        deltas=(),
        paired=False,
        pooled=False,
        p_sign_flip=None,
        correlation=None,
    )


def _effect(
    seed_part: tuple[float, float] | None,
    own_part: tuple[float, float] | None,
    noise: EvaluationNoise,
    thresholds: Thresholds,
    *,
    delta: float,
    **fields,
) -> Effect:
    """Joins (variance, df) of the seeds with the evaluation noise; p_holm is filled in once the whole table is known."""
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
        p_holm=None,
        **fields,
    )
