"""Enhancements judged by play: games of the arm with one against the arm without it, seed by seed.

A win rate is that of the side that has the enhancement, and its effect is what it has above one half. Nets of the same
seed meet, so that seeds are pairs as everywhere; the interval is made of the seeds' win rates, which hold the chance of
their games too, and is never narrower than the chance of the games alone allows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.study import Contrast
from gonn_core.play.match.record import SIDES, Match
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
        return sum(each.points for each in self.seeds)

    @property
    def games(self) -> int:
        return sum(each.games for each in self.seeds)

    @property
    def trials(self) -> tuple[str, ...]:
        return tuple(trial for each in self.seeds for trial in each.trials)


def win_rates(results: StudyResults) -> list[WinRate]:
    """Of every card and choice with games, in the order of the study; q over the cards of each choice."""
    thresholds, unjudged = results.study.thresholds, results.unjudged
    played = [(each.card, *games) for each in results.study.contrasts for games in _games(results, each).items()]
    effects = {(choice, card): win_rate_effect(card, seeds) for card, choice, seeds in played}
    for wanted in () if unjudged else {choice for choice, _ in effects}:
        effects |= with_q({key: each for key, each in effects.items() if key[0] == wanted}, thresholds)
    verdicts = {key: unjudged or judge_effect(each, "higher", thresholds) for key, each in effects.items()}
    return [
        WinRate(card, choice, seeds, effects[choice, card], verdicts[choice, card]) for card, choice, seeds in played
    ]


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
    """Win rate - 1/2: mean over seeds, interval by t over seeds."""
    rates, n = np.array([each.points / each.games for each in seeds]), len(seeds)
    whole, points = sum(each.games for each in seeds), sum(each.points for each in seeds)
    likely = (points + 0.5) / (whole + 1)  # never 0 or 1: all games won are not all games to come
    part = None
    if n > 1:  # seeds that happen to agree would make an interval that further games of the same nets leave
        parts = (float(rates.var(ddof=1)) / n, n - 1.0), (likely * (1 - likely) / whole, whole - 1.0)
        part = max(parts, key=lambda each: each[0] ** 0.5 * quantile(0.975, each[1]))
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
