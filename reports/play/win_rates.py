"""Enhancements judged by play: games of the arm with one against the arm without it, seed by seed.

A win rate is that of the side that has the enhancement, and its effect is what it has above one half. Nets of the same
seed meet, so that seeds are pairs as everywhere; the interval is made of the seeds' win rates, which hold the chance of
their games too, and is never narrower than the chance of the games alone allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.study import Contrast
from gonn_core.play.match.record import SIDES
from reports.play.players import choice_text, is_net
from reports.play.rating import wilson
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect, EvaluationNoise, effect_of, quantile
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row
from reports.tables.formats import verdict_text

PUBLISHED = ""
"""The choice of moves that claims are judged by, as `choice_text` has it."""
USUAL = "drawn, full history"
"""How nets choose where a game does not say otherwise; GoNN's own games showed its nets the last moves alone."""


def _per_cent(share: float) -> str:
    return f"{100 * min(1.0, max(0.0, share)):.1f} %"


def _per_cents(ends: Sequence[float]) -> str:
    return f"[{', '.join(map(_per_cent, ends))}]"


_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("rate", "win rate", show=_per_cent),
    Column("interval", "95 % interval", under="rate", parts=interval95(), show=_per_cents),
    Column(
        "wilson",
        "of these nets alone",
        brief=False,
        under="rate",
        parts=("wilson95_low", "wilson95_high"),
        show=_per_cents,
    ),
    Column("games", "games", show=formats.count),
    Column("choice", "moves", "left"),
    Column("q", "q", printed=False, show=formats.q_value),
    Column("verdict", "verdict", "left"),
    Column("bound", "smaller than", printed=False, show=lambda bound: ""),
    Column("seeds", "seeds", under="games", show=formats.seeds),
)


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
        return sum(seed.points for seed in self.seeds)

    @property
    def games(self) -> int:
        return sum(seed.games for seed in self.seeds)

    @property
    def trials(self) -> tuple[str, ...]:
        return tuple(trial for seed in self.seeds for trial in seed.trials)


def win_rates(results: StudyResults) -> list[WinRate]:
    """Of every card and choice with games, in the order of the study; q over the cards of each choice."""
    thresholds, unjudged = results.study.thresholds, results.unjudged
    played = [(pair.card, *games) for pair in results.study.contrasts for games in _games(results, pair).items()]
    effects = {(choice, card): win_rate_effect(card, seeds) for card, choice, seeds in played}
    for choice in () if unjudged else {choice for choice, _ in effects}:
        effects |= with_q({key: effect for key, effect in effects.items() if key[0] == choice}, thresholds)
    verdicts = {key: unjudged or judge_effect(effect, "higher", thresholds) for key, effect in effects.items()}
    return [
        WinRate(card, choice, seeds, effects[choice, card], verdicts[choice, card]) for card, choice, seeds in played
    ]


def _games(results: StudyResults, contrast: Contrast) -> dict[str, tuple[SeedGames, ...]]:
    """Choice -> games by seed, of final nets with the same choice on both sides. Empty for a contrast of several arms a
    side."""
    if len(contrast.with_it) > 1 or len(contrast.without) > 1:
        return {}
    pairs: dict[frozenset, tuple[int, str, str]] = {}
    without = {trial.seed: trial for trial in results.of_arm(contrast.without[0])}
    for trial in results.of_arm(contrast.with_it[0]):
        other = without.get(trial.seed)
        if other is not None and trial.result is not None and other.result is not None:
            nets = frozenset(((trial.id, trial.result["samples"]), (other.id, other.result["samples"])))
            pairs[nets] = trial.seed, trial.id, other.id
    sums: dict[str, dict[int, SeedGames]] = {}
    for match in results.played:
        a, b = (match.players[side] for side in SIDES)
        if not (match.games and is_net(a) and is_net(b)) or a["choice"] != b["choice"]:
            continue
        nets = frozenset(((a["trial"], a["samples"]), (b["trial"], b["samples"])))
        if nets in pairs:
            seed, with_it, without_it = pairs[nets]
            points = match.points("A" if a["trial"] == with_it else "B")
            by_seed = sums.setdefault(choice_text(a), {})
            before = by_seed.get(seed, SeedGames(seed, (with_it, without_it), 0.0, 0))
            by_seed[seed] = replace(before, points=before.points + points, games=before.games + len(match.games))
    return {choice: tuple(by_seed[seed] for seed in sorted(by_seed)) for choice, by_seed in sorted(sums.items())}


def win_rate_effect(card: str, seeds: Sequence[SeedGames]) -> Effect:
    """Win rate - 1/2: mean over seeds, interval by t over seeds."""
    rates, n = np.array([seed.points / seed.games for seed in seeds]), len(seeds)
    games, points = sum(seed.games for seed in seeds), sum(seed.points for seed in seeds)
    likely = (points + 0.5) / (games + 1)  # never 0 or 1: all games won are not all games to come
    part = None
    if n > 1:  # seeds that happen to agree would make an interval that further games of the same nets leave
        parts = (float(rates.var(ddof=1)) / n, n - 1.0), (likely * (1 - likely) / games, games - 1.0)
        part = max(parts, key=lambda pair: pair[0] ** 0.5 * quantile(0.975, pair[1]))
    return effect_of(card, float(rates.mean() - 0.5), part, EvaluationNoise(0.0, 0.0, 2), (n, n))


def play_table(results: StudyResults) -> Table | None:
    """A row per card and choice of moves; None while no games are played."""
    rows = tuple(_row(rate) for rate in win_rates(results))
    if not rows:
        return None
    notes = (
        "Points of the arm that has the enhancement, in games with the arm that has not, nets of the same seed "
        "against each other. The interval is over seeds: it is for nets trained anew; the one of these nets alone "
        "(Wilson's) is for further games of theirs. q is over the enhancements with one choice of moves. Drawn: from "
        "GoNN's distribution over the likeliest moves.",
    )
    return Table("play", "Play: with against without", _COLUMNS, rows, notes)


def _row(rate: WinRate) -> Row:
    ends = rate.effect.interval95
    values = {
        "card": rate.card,
        "rate": 0.5 + rate.effect.delta,
        "interval": None if ends is None else [0.5 + ends.low, 0.5 + ends.high],
        "games": rate.games,
        "wilson": list(wilson(rate.points, rate.games)),
        "choice": rate.choice or USUAL,
        "q": rate.effect.q,
        "bound": rate.effect.bound,
        "verdict": Cell(verdict_text(rate.verdict, rate.effect, "win_rate"), rate.verdict, rate.trials),
        "seeds": [seed.seed for seed in rate.seeds],
    }
    return make_row(_COLUMNS, f"{rate.card} {rate.choice}".strip(), values, rate.trials)
