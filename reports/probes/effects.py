"""What probes say about a study's enhancements: scores by group with intervals, and probabilities in the documents'
positions."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ablations.study import Contrast
from gonn_core.evaluation.probes.stored import ProbeAnswers, load_answers, rescaled
from gonn_core.evaluation.probes.suite import PublishedPosition, published
from gonn_core.go.points import point_name
from reports.results.compare import by_seed_alone
from reports.results.study_results import StudyResults, TrialResult
from reports.stats.estimates import ArmResult, Effect, Spread, evaluation_noise, mean_effect, sums_by_game
from reports.stats.verdicts import EffectVerdict, judge_effect, with_q
from reports.tables import formats
from reports.tables.cells import Cell, Column, Table, interval95, make_row
from reports.tables.formats import verdict_text


@dataclass(frozen=True)
class GroupEffect:
    """A group's score with and without an enhancement; chance is 0, certainty 1.

    effect: on minus off, the mean over seeds and clusters of cases; with one seed its interval95 is over cases alone;
    none at all with one cluster. Its q and the verdict are those of `study_effects`; verdict: None with one cluster.
    """

    group: str
    cases: int
    off: float
    on: float
    effect: Effect
    verdict: EffectVerdict | None = None


def answers_of(trial: TrialResult) -> dict[str, ProbeAnswers]:
    """Suite -> answers of a finished trial's final weights."""
    answers = load_answers(trial.folder, trial.result["weights"]) if trial.result else []
    return {each.summary["suite"]: each for each in answers}


def common_suite(results: StudyResults) -> str | None:
    """The suite that most of a study's trials have answered (of equals the first by digest), None when none has."""
    counts = Counter(suite for trial in results.trials for suite in answers_of(trial))
    return min(counts, key=lambda suite: (-counts[suite], suite), default=None)


def by_seed(
    results: StudyResults, arms: tuple[str, ...], suite: str | None = None
) -> dict[int, list[tuple[TrialResult, ProbeAnswers]]]:
    """Seed -> a trial with answers for each of the arms, of the seeds that have all of them; to the given suite, or to
    any."""
    answered: dict[int, list[tuple[TrialResult, ProbeAnswers]]] = {}
    for trial in (trial for arm in arms for trial in results.of_arm(arm)):
        answers = answers_of(trial)
        if chosen := answers.get(suite) if suite else next(iter(answers.values()), None):
            answered.setdefault(trial.seed, []).append((trial, chosen))
    return {seed: of_seed for seed, of_seed in answered.items() if len(of_seed) == len(arms)}


def group_effects(results: StudyResults, contrast: Contrast, suite: str) -> list[GroupEffect]:
    """The effect of a card on the score of every group, from the seeds of which all arms answered the suite; none
    without such a seed."""
    sides = [by_seed(results, arms, suite) for arms in (contrast.without, contrast.with_it)]
    seeds = tuple(sorted(sides[0].keys() & sides[1].keys()))
    if not seeds:
        return []
    example = sides[0][seeds[0]][0][1]
    # (side, seed, case): shares, as means over the arms of a side
    values = np.array(
        [[np.mean([answers.arrays["share"] for _, answers in side[seed]], axis=0) for seed in seeds] for side in sides]
    )
    effects = []
    for number, group in enumerate(example.summary["groups"]):
        inside = (example.arrays["group"] == number) & ~np.isnan(example.arrays["chance"])
        if inside.any():
            scores = np.array(
                [[rescaled(seed[inside], example.arrays["chance"][inside]) for seed in side] for side in values]
            )
            off, on = scores.mean(axis=(1, 2))
            clusters = example.arrays["cluster"][inside]
            effect = _effect(contrast.card, seeds, scores[1] - scores[0], clusters)
            effects.append(GroupEffect(group["name"], int(inside.sum()), float(off), float(on), effect))
    return effects


def _effect(card: str, seeds: tuple[int, ...], differences: np.ndarray, clusters: np.ndarray) -> Effect:
    """The mean of (seeds, cases) differences: variance between seeds, and between clusters of cases."""
    sums, counts = sums_by_game(differences, clusters)
    if len(counts) < 2:
        known = mean_effect(card, by_seed_alone(dict(zip(seeds, differences.mean(1), strict=True))))
        return replace(known, se_seed=None, se=None, df=None, interval95=None, interval90=None, p=None)
    effect = mean_effect(card, ArmResult(seeds, sums, counts))
    if len(seeds) > 1:
        return effect
    over_cases = Spread(float(np.sqrt(evaluation_noise(sums, counts).total)), len(counts) - 1)
    return replace(effect, interval95=over_cases.interval(effect.delta, 0.95))


def study_effects(results: StudyResults, suite: str) -> dict[str, list[GroupEffect]]:
    """Card -> its effects on the groups' scores, judged among those of all cards and groups: they are in one table."""
    thresholds, unjudged = results.study.thresholds, results.unjudged
    groups = {contrast.card: group_effects(results, contrast, suite) for contrast in results.study.contrasts}
    every = {(card, each.group): each.effect for card, of_card in groups.items() for each in of_card}
    if unjudged:
        every = {key: replace(effect, p=None) for key, effect in every.items()}
    effects = with_q(every, thresholds)

    def judged(card: str, each: GroupEffect) -> GroupEffect:
        effect = effects[card, each.group]
        if each.effect.p is None and effect.n >= thresholds.min_seeds:  # of one cluster
            return replace(each, effect=effect)
        return replace(each, effect=effect, verdict=unjudged or judge_effect(effect, "higher", thresholds))

    return {card: [judged(card, each) for each in of_card] for card, of_card in groups.items()}


def probability_effect(
    results: StudyResults, contrast: Contrast, case: str, move: int, head: str = "policy"
) -> tuple[Effect | None, tuple[str, ...]]:
    """The effect on a head's probability of a move in one of the documents' positions, paired by seed, and the trials
    behind it.

    Noise is that between these seeds alone: the position is the claim's own, none was drawn.
    """
    on, off = (_probabilities(results, arms, case, move, head) for arms in (contrast.with_it, contrast.without))
    seeds = sorted(on.keys() & off.keys())
    if not seeds:
        return None, ()
    trials = tuple(dict.fromkeys(trial for seed in seeds for side in (on, off) for trial in side[seed][1]))
    return mean_effect(contrast.card, by_seed_alone({seed: on[seed][0] - off[seed][0] for seed in seeds})), trials


def level(
    results: StudyResults, arms: tuple[str, ...], case: str, move: int, head: str = "policy"
) -> tuple[dict[int, float], tuple[str, ...]]:
    """Seed -> probability of a move, as a mean over arms, by rising seed, and the trials behind it; head: as in
    `ablations.schema.Probe`."""
    probabilities = dict(sorted(_probabilities(results, arms, case, move, head).items()))
    trials = tuple(trial for _, of_seed in probabilities.values() for trial in of_seed)
    return {seed: value for seed, (value, _) in probabilities.items()}, trials


def _probabilities(
    results: StudyResults, arms: tuple[str, ...], case: str, move: int, head: str
) -> dict[int, tuple[float, list[str]]]:
    """Seed -> mean over the arms, and their trials, of the seeds of which all arms have an answer."""
    probabilities = {}
    for seed, of_seed in by_seed(results, arms).items():
        maps = [answers.policy(case) if head == "policy" else answers.laddered(case) for _, answers in of_seed]
        values = [float(values[move]) for values in maps if values is not None]
        if len(values) == len(maps):
            probabilities[seed] = float(np.mean(values)), [trial.id for trial, _ in of_seed]
    return probabilities


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.1f} %")


_DISTANCES = ((0, 3), (4, 6), (7, 10), (11, 18))
"""Distances that share a row."""
_GROUPS = (
    Column("group", "probes", "left"),
    Column("cases", "cases", show=formats.count),
    Column("found", "found", show=_percent),
    Column("score", "score", show=_percent),
    Column("right", "P(right)", show=_percent),
    Column("wrong", "P(wrong)", show=_percent),
)
_GROUPS_NOTE = (
    "found: a right move is likelier than all it is set against; score: probability of right among right and wrong "
    "moves, rescaled so that chance is 0 and certainty 100 %"
)


def groups_table(answers: ProbeAnswers, title: str) -> Table:
    """One row per group, and one per class of distance within it."""
    arrays, rows = answers.arrays, []
    for number, group in enumerate(answers.summary["groups"]):
        inside = (arrays["group"] == number) & ~np.isnan(arrays["chance"])
        parts = [(group["name"].replace("_", " "), inside)]
        if group["name"] != "published":
            for low, high in _DISTANCES:
                near = (arrays["distance"] >= low) & (arrays["distance"] <= high)
                parts.append((f"  {low}–{high} away", inside & near))
        for name, chosen in parts:
            if chosen.any():
                values: dict[str, Any] = {
                    "group": name,
                    "cases": int(chosen.sum()),
                    "found": float(answers.solved()[chosen].mean()),
                    "score": float(rescaled(arrays["share"][chosen], arrays["chance"][chosen]).mean()),
                    **{side: float(arrays[side][chosen].mean()) for side in ("right", "wrong")},
                }
                rows.append(make_row(_GROUPS, f"{group['name']} {name}", values))
    return Table("probes", title, _GROUPS, tuple(rows), (_GROUPS_NOTE,))


_POSITIONS = (
    Column("position", "position", "left"),
    Column("named", "named move", "left"),
    Column("published", "published nets", "left"),
    Column("best", "likeliest here", "left"),
)


def positions_table(answers: ProbeAnswers) -> Table:
    """One row per test position of the documents: the named moves and the published figures, the likeliest moves, and
    what a ladder head says of the stones in question."""
    rows = []
    for each in published():
        policy, laddered = answers.policy(each.case.name), answers.laddered(each.case.name)
        named = [*((move, "right") for move in each.case.right), *((move, "wrong") for move in each.case.wrong)]
        ours = [f"{point_name(move)} ({side}) {_percent(policy[move])}" for move, side in named]
        theirs = _published(each, [move for move, _ in named])
        if laddered is not None and each.laddered:
            ours += [f"{point_name(stone)} (laddered) {_percent(laddered[stone])}" for stone in each.laddered]
            stones = [f"{point_name(stone)} {_percent(share)}" for stone, share in each.laddered.items()]
            theirs.append(f"laddered {', '.join(stones)}")
        likeliest = np.argsort(-policy, kind="stable")[:3]
        values = {
            "position": each.case.name,
            "named": Cell(", ".join(ours)),
            "published": Cell("; ".join(theirs)),
            "best": ", ".join(f"{point_name(int(move))} {_percent(policy[move])}" for move in likeliest),
        }
        rows.append(make_row(_POSITIONS, each.case.name, values))
    return Table("positions", "Test positions of the documents", _POSITIONS, tuple(rows))


def _published(each: PublishedPosition, named: list[int]) -> list[str]:
    """The published probabilities of the named moves, or of the first one, in each picture that shows a policy."""
    texts = []
    for picture, moves in each.pictures.items():
        if moves:
            figures = [
                f"{point_name(move)} {_percent(moves[move]) if move in moves else 'not among its best'}"
                for move in named or list(moves)[:1]
            ]
            texts.append(f"{picture} {', '.join(figures)}")
    return texts


_EFFECTS = (
    Column("card", "enhancement", "left"),
    Column("group", "probes", "left"),
    Column("cases", "cases", show=formats.count),
    Column("off", "score without", show=_percent),
    Column("on", "with", show=_percent),
    Column("delta", "Δ points, 95 %", parts=("delta", *interval95())),
    Column("q", "q", printed=False, show=formats.q_value),
    Column("verdict", "verdict", "left"),
    Column("bound", "smaller than", printed=False),
    Column("n", "seeds"),
)


def study_table(results: StudyResults) -> Table | None:
    """Scores by card and group of the suite that most trials of a study answered; None when no card has both its arms
    answered.

    A shared control may have been probed for another study: that alone is no comparison.
    """
    suite = common_suite(results)
    effects = {} if suite is None else study_effects(results, suite)
    return effects_table(effects) if any(effects.values()) else None


def effects_table(effects: Mapping[str, list[GroupEffect]]) -> Table:
    """One row per card and group: scores without and with it, difference with interval."""
    rows = []
    for card, groups in effects.items():
        for each in groups:
            effect, verdict = each.effect, each.verdict
            delta = formats.with_interval(effect.delta, effect.interval95, "share")
            values: dict[str, Any] = {
                "card": card,
                "group": Cell(each.group.replace("_", " "), each.group),
                "cases": each.cases,
                "off": each.off,
                "on": each.on,
                "delta": Cell(delta, effect.with_ends),
                "q": effect.q,
                "n": effect.n,
            }
            if verdict is not None:
                values |= {"verdict": Cell(verdict_text(verdict, effect, "probe"), verdict), "bound": effect.bound}
            rows.append(make_row(_EFFECTS, f"{card} {each.group}", values))
    every = [each.effect for groups in effects.values() for each in groups]
    notes, count = [], sum(effect.q is not None for effect in every)
    if count > 1:
        notes.append(f"q is over the {count} effects of this table; an interval is of one by itself.")
    if any(effect.n == 1 for effect in every):
        notes.append("An interval of one seed is over cases alone.")
    return Table("probe_effects", "Probe scores", _EFFECTS, tuple(rows), tuple(notes))
