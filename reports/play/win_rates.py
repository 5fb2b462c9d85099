"""Enhancements judged by play: games of the arm with one against the arm without it, seed by seed.

A win rate is that of the side that has the enhancement, and its effect is what it has above one half. Nets of the same
seed meet, so that seeds are pairs as everywhere; the interval is made of the seeds' win rates, which hold the chance of
their games too, and is never narrower than the chance of the games alone allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.study import Contrast
from gonn_core.rating.matches import SIDES, Match
from reports.play.players import choice_text, is_net
from reports.results.compare import study_thresholds
from reports.results.decisions import judged_level
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect, Spread, quantile
from reports.stats.family import adjust
from reports.stats.verdicts import EffectVerdict, Thresholds, judge_effect

SMALLEST_WIN_RATE = Thresholds().smallest("win_rate")
"""Win rates nearer to one half are as good as even."""
PUBLISHED = ""
"""The choice of moves that claims are judged by, as `choice_text` has it."""


@dataclass(frozen=True)
class SeedGames:
    """Games of two trials of one seed: points of the one with the enhancement."""

    seed: int
    trials: tuple[str, str]
    points: float
    games: int


@dataclass(frozen=True)
class WinRate:
    """What a card does to play under one choice of moves (in words; empty for the published one)."""

    card: str
    choice: str
    seeds: tuple[SeedGames, ...]
    effect: Effect
    verdict: EffectVerdict

    @property
    def points(self) -> float:
        return sum(each.points for each in self.seeds)

    @property
    def games(self) -> int:
        return sum(each.games for each in self.seeds)

    @property
    def trials(self) -> tuple[str, ...]:
        return tuple(trial for each in self.seeds for trial in each.trials)


def win_rates(results: StudyResults) -> list[WinRate]:
    """Of every card and choice with games, in the order of the study; p adjusted over the cards of each choice."""
    rates = []
    for contrast in results.study.contrasts:
        for choice, seeds in _games(results, contrast).items():
            rates.append(
                WinRate(contrast.card, choice, seeds, win_rate_effect(contrast.card, seeds), EffectVerdict.UNDERPOWERED)
            )
    return [_judged(results, each, [other for other in rates if other.choice == each.choice]) for each in rates]


def _judged(results: StudyResults, rate: WinRate, alike: Sequence[WinRate]) -> WinRate:
    thresholds = study_thresholds(results.study)
    judged = [each for each in alike if each.effect.n >= thresholds.min_seeds]
    adjusted = adjust({each.card: each.effect for each in judged})
    level = judged_level(results.study, results.looks, rate.card)
    effect = replace(rate.effect, p_adjusted=None if results.unjudged else adjusted.get(rate.card), level=level)
    verdict = results.unjudged or judge_effect(effect, "higher", SMALLEST_WIN_RATE, thresholds)
    return replace(rate, effect=effect, verdict=verdict)


def _games(results: StudyResults, contrast: Contrast) -> dict[str, tuple[SeedGames, ...]]:
    """Choice -> games by seed, of final nets with the same choice on both sides. Empty for a contrast of several arms a
    side."""
    if len(contrast.with_it) > 1 or len(contrast.without) > 1:
        return {}
    pairs: dict[frozenset | None, tuple[int, str, str]] = {}
    with_it, without = (results.of_arm(arm) for arm in (contrast.with_it[0], contrast.without[0]))
    others = {trial.seed: trial for trial in without}
    for one in with_it:
        other = others.get(one.seed)
        if other is not None and one.result is not None and other.result is not None:
            pairs[frozenset(((one.id, one.result["samples"]), (other.id, other.result["samples"])))] = (
                one.seed,
                one.id,
                other.id,
            )
    sums: dict[str, dict[int, SeedGames]] = {}
    for match in results.played:
        players = _net_pair(match)
        if players not in pairs or not match.games:
            continue
        seed, trial, other_trial = pairs[players]
        side = next(side for side in SIDES if match.players[side]["trial"] == trial)
        by_seed = sums.setdefault(choice_text(match.players["A"]), {})
        known = by_seed.get(seed, SeedGames(seed, (trial, other_trial), 0.0, 0))
        by_seed[seed] = replace(known, points=known.points + match.points(side), games=known.games + len(match.games))
    return {choice: tuple(by_seed[seed] for seed in sorted(by_seed)) for choice, by_seed in sorted(sums.items())}


def _net_pair(match: Match) -> frozenset | None:
    """Trials and samples of two nets that choose their moves alike; None for any other match."""
    a, b = match.players["A"], match.players["B"]
    if not (is_net(a) and is_net(b)) or a["choice"] != b["choice"]:
        return None
    return frozenset(((a["trial"], a["samples"]), (b["trial"], b["samples"])))


def win_rate_effect(card: str, seeds: Sequence[SeedGames]) -> Effect:
    """Win rate - 1/2: mean over seeds, interval by t over seeds. p_adjusted is not filled in here."""
    rates = np.array([each.points / each.games for each in seeds])
    n, delta = len(seeds), float(rates.mean() - 0.5)
    whole, points = sum(each.games for each in seeds), sum(each.points for each in seeds)
    likely = (points + 0.5) / (whole + 1)  # never 0 or 1: all games won are not all games to come
    chance = likely * (1 - likely) / whole
    between = float(rates.var(ddof=1)) / n if n > 1 else None
    spread = None
    if (
        between is not None
    ):  # seeds that happen to agree would make an interval that further games of the same nets leave
        both = (Spread(float(np.sqrt(between)), n - 1), Spread(float(np.sqrt(chance)), whole - 1))
        spread = max(both, key=lambda each: each.se * quantile(0.975, each.df))
    return Effect(
        name=card,
        n=n,
        seeds=tuple(each.seed for each in seeds),
        delta=delta,
        deltas=tuple(float(rate - 0.5) for rate in rates),
        paired=True,
        pooled=False,
        se_seed=None if between is None else float(np.sqrt(between)),
        se_eval=float(np.sqrt(chance)),
        se=None if spread is None else spread.se,
        df=None if spread is None else spread.df,
        interval95=None if spread is None else spread.interval(delta, 0.95),
        interval90=None if spread is None else spread.interval(delta, 0.90),
        own_interval95=None if spread is None else spread.interval(delta, 0.95),
        p=None if spread is None else spread.p_value(delta),
        p_adjusted=None,
        correlation=None,
        weights={},
        control_seeds=n,
    )
