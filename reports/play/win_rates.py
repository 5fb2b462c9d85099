"""Enhancements judged by play: games of the arm with one against the arm without it, seed by seed.

A win rate is that of the side that has the enhancement, and its effect is what it has above one half. Nets of the same
seed meet, so that seeds are pairs as everywhere; the interval is made of the seeds' win rates, which hold the chance of
their games too, and is never narrower than the chance of the games alone allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.study import Contrast, Study
from gonn_core.play.match.record import SIDES
from reports.play.matches import per_cent, per_cents
from reports.play.players import choice_text, is_net
from reports.play.rating import wilson
from reports.results.group import comparison_key
from reports.results.study_results import StudyResults
from reports.stats.estimates import Effect, EvaluationNoise, effect_of, quantile
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, make_row
from reports.tables.formats import verdict_text
from reports.worth.effects import samples_of

PUBLISHED = ""
"""The choice of moves that claims are judged by, as `choice_text` has it."""
USUAL = "drawn, full history"
"""How nets choose where a game does not say otherwise; GoNN's own games showed its nets the last moves alone."""


_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("base", "base", "left", under="card"),
    Column("nats", "Δ test nats", show=formats.signed),
    Column("rate", "win rate", show=per_cent),
    Column("interval", "95 % interval", under="rate", parts=interval95(), show=per_cents),
    Column(
        "wilson",
        "of these nets alone",
        brief=False,
        under="rate",
        parts=("wilson95_low", "wilson95_high"),
        show=per_cents,
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
    """What a card does to play under one choice of moves (in words; empty for the published one). study: the first
    with these games."""

    card: str
    study: Study
    samples: int
    choice: str
    seeds: tuple[SeedGames, ...]
    effect: Effect
    verdict: EffectVerdict

    @property
    def games(self) -> int:
        return sum(seed.games for seed in self.seeds)

    @property
    def trials(self) -> tuple[str, ...]:
        return tuple(trial for seed in self.seeds for trial in seed.trials)


def win_rates(studies: Sequence[StudyResults]) -> list[WinRate]:
    """Of every card and choice with games, in the order of the studies; one row of studies that compare the same nets
    with other seeds. q over the rows of each choice."""
    first: dict[tuple, tuple[StudyResults, Contrast]] = {}
    seeds: dict[tuple, dict[tuple[str, str], SeedGames]] = {}
    for results in studies:
        for contrast in results.study.contrasts:
            for choice, games in _games(results, contrast).items():
                samples = samples_of(results.study.arm(contrast.without[0]))
                key = (choice, samples, *comparison_key(results.study, contrast))
                first.setdefault(key, (results, contrast))
                seeds.setdefault(key, {}).update((each.trials, each) for each in games)
    effects = {key: win_rate_effect(first[key][1].card, tuple(games.values())) for key, games in seeds.items()}
    judged = {key: effect for key, effect in effects.items() if not first[key][0].unjudged}
    for choice in {choice for choice, *_ in judged}:
        of_choice = {key: effect for key, effect in judged.items() if key[0] == choice}
        effects |= with_q(of_choice, first[next(iter(of_choice))][0].study.thresholds)
    rates = []
    for key, (results, contrast) in first.items():
        effect = effects[key]
        verdict = results.unjudged or judge_effect(effect, "higher", results.study.thresholds)
        games = tuple(sorted(seeds[key].values(), key=lambda each: each.seed))
        rates.append(WinRate(contrast.card, results.study, key[1], key[0], games, effect, verdict))
    return rates


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
    rates, n, games = np.array([seed.points / seed.games for seed in seeds]), len(seeds), _equal_games(seeds)
    likely = (rates.mean() * games + 0.5) / (games + 1)  # never 0 or 1: all games won are not all games to come
    part = None
    if n > 1:  # seeds that happen to agree would make an interval that further games of the same nets leave
        parts = (float(rates.var(ddof=1)) / n, n - 1.0), (likely * (1 - likely) / games, games - 1.0)
        part = max(parts, key=lambda pair: pair[0] ** 0.5 * quantile(0.975, pair[1]))
    return effect_of(card, float(rates.mean() - 0.5), part, EvaluationNoise(0.0, 0.0, 2), (n, n))


def _equal_games(seeds: Sequence[SeedGames]) -> float:
    """How many games, the same number with each seed, tell their mean as well as these do."""
    return len(seeds) ** 2 / sum(1 / seed.games for seed in seeds)


def effect_key(study: Study, card: str, samples: int) -> tuple:
    """Under which conditions an effect was measured: with the same ones a win rate is next to it."""
    return card, study.base, study.budget_label, study.data, samples


def play_table(studies: Sequence[StudyResults], effects: Mapping[tuple, Effect] | None = None) -> Table | None:
    """A row per card and choice of moves; None while no games are played. With the effects on the loss of a page, by
    `effect_key`, each row has its own, and its base."""
    rates = win_rates(studies)
    if not rates:
        return None
    columns = _COLUMNS if effects else tuple(column for column in _COLUMNS if column.key not in ("base", "nats"))
    notes = (
        "Points of the arm that has the enhancement, in games with the arm that has not, nets of the same seed "
        "against each other. The interval is over seeds: it is for nets trained anew; the one of these nets alone "
        "(Wilson's) is for further games of theirs. q is over the enhancements with one choice of moves. Drawn: from "
        "GoNN's distribution over the likeliest moves.",
    )
    rows = tuple(_row(rate, columns, effects) for rate in rates)
    return Table("play", "Play: with against without", columns, rows, notes)


def _row(rate: WinRate, columns: Sequence[Column], effects: Mapping[tuple, Effect] | None) -> Row:
    ends, share, games = rate.effect.interval95, 0.5 + rate.effect.delta, _equal_games(rate.seeds)
    key = effect_key(rate.study, rate.card, rate.samples)
    nats = (effects or {}).get(key)
    values = {
        "card": rate.card,
        "base": rate.study.base,
        "nats": nats and nats.delta,
        "rate": share,
        "interval": None if ends is None else [0.5 + ends.low, 0.5 + ends.high],
        "games": rate.games,
        "wilson": list(wilson(share * games, games)),
        "choice": rate.choice or USUAL,
        "q": rate.effect.q,
        "bound": rate.effect.bound,
        "verdict": Cell(verdict_text(rate.verdict, rate.effect, "win_rate"), rate.verdict, rate.trials),
        "seeds": [seed.seed for seed in rate.seeds],
    }
    of = ":".join(map(str, key)) if effects else rate.card
    return make_row(columns, f"{of} {rate.choice}".strip(), values, rate.trials)
