"""What probes say about a study's enhancements: scores by group with intervals, and probabilities in the documents'
positions."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ablations.study import Contrast
from gonn_core.evaluation.probes.scoring import rescaled
from gonn_core.evaluation.probes.stored import ProbeAnswers, load_answers
from reports.results.study_results import StudyResults, TrialResult
from reports.stats.clusters import evaluation_noise, sums_by_game
from reports.stats.estimates import Effect, Interval, Spread, sign_flip_p, spread


@dataclass(frozen=True)
class GroupEffect:
    """A group's score with and without an enhancement. interval95: over seeds and cases; with one seed over cases
    alone; None with one cluster."""

    group: str
    seeds: tuple[int, ...]
    cases: int
    off: float
    on: float
    interval95: Interval | None

    @property
    def delta(self) -> float:
        """On minus off."""
        return self.on - self.off


def answers_of(trial: TrialResult) -> dict[str, ProbeAnswers]:
    """Suite -> answers of a finished trial's final weights."""
    if trial.result is None:
        return {}
    return {each.summary["suite"]: each for each in load_answers(trial.folder, trial.result["weights"])}


def common_suite(results: StudyResults) -> str | None:
    """The suite that most of a study's trials have answered (of equals the first by digest), None when none has."""
    counts: dict[str, int] = {}
    for trial in results.trials:
        for suite in answers_of(trial):
            counts[suite] = counts.get(suite, 0) + 1
    return min(counts, key=lambda suite: (-counts[suite], suite), default=None)


def by_seed(
    results: StudyResults, arms: tuple[str, ...], suite: str | None = None
) -> dict[int, list[tuple[TrialResult, ProbeAnswers]]]:
    """Seed -> a trial with answers for each of the arms, of the seeds that have all of them; to the given suite, or to
    any."""
    answers_by_seed: dict[int, list] = {}
    for arm in arms:
        for trial in results.of_arm(arm):
            known = answers_of(trial)
            chosen = known.get(suite) if suite else next(iter(known.values()), None)
            if chosen is not None:
                answers_by_seed.setdefault(trial.seed, []).append((trial, chosen))
    return {seed: each for seed, each in answers_by_seed.items() if len(each) == len(arms)}


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
            effects.append(
                GroupEffect(
                    group["name"],
                    seeds,
                    int(inside.sum()),
                    float(off),
                    float(on),
                    _interval(scores[1] - scores[0], clusters),
                )
            )
    return effects


def _interval(differences: np.ndarray, clusters: np.ndarray) -> Interval | None:
    """95 % interval of the mean of (seeds, cases) differences: variance between seeds, and between clusters of
    cases."""
    sums, counts = sums_by_game(differences, clusters)
    seeds = len(differences)
    if len(counts) < 2:
        return None
    noise = evaluation_noise([(1.0, sums)], counts)
    mean_spread = (
        Spread(float(np.sqrt(noise.total)), len(counts) - 1)
        if seeds == 1
        else spread(float(differences.mean(1).var(ddof=1)) / seeds, seeds - 1, noise)
    )
    return mean_spread.interval(float(differences.mean()), 0.95)


def probability_effect(
    results: StudyResults, contrast: Contrast, case: str, move: int
) -> tuple[Effect | None, tuple[str, ...]]:
    """The effect on the probability of a move in one of the documents' positions, paired by seed, and the trials behind
    it.

    Noise is that between these seeds alone: the position is the claim's own, none was drawn.
    """
    sides = [_probabilities(by_seed(results, arms), case, move) for arms in (contrast.with_it, contrast.without)]
    seeds = tuple(sorted(sides[0].keys() & sides[1].keys()))
    if not seeds:
        return None, ()
    deltas = np.array([sides[0][seed][0] - sides[1][seed][0] for seed in seeds])
    trials = tuple(dict.fromkeys(trial for seed in seeds for side in sides for trial in side[seed][1]))
    return paired_effect(contrast.card, seeds, deltas), trials


def _probabilities(
    answers_by_seed: Mapping[int, list], case: str, move: int, head: str = "policy"
) -> dict[int, tuple[float, list[str]]]:
    probabilities = {}
    for seed, each in answers_by_seed.items():
        maps = [answers.policy(case) if head == "policy" else answers.laddered(case) for _, answers in each]
        if all(one is not None for one in maps):
            probabilities[seed] = float(np.mean([one[move] for one in maps])), [trial.id for trial, _ in each]
    return probabilities


def paired_effect(name: str, seeds: tuple[int, ...], deltas: np.ndarray) -> Effect:
    """The effect of paired differences by seed, with no other noise; without intervals for a single seed."""
    n, delta = len(deltas), float(deltas.mean())
    noise = Spread(float(deltas.std(ddof=1) / np.sqrt(n)), n - 1) if n > 1 else None
    p = noise.p_value(delta) if noise else None
    intervals = [noise.interval(delta, level) if noise else None for level in (0.95, 0.90)]
    return Effect(
        name=name,
        n=n,
        seeds=seeds,
        delta=delta,
        deltas=tuple(map(float, deltas)),
        paired=True,
        pooled=False,
        se_seed=noise.se if noise else None,
        se_eval=0.0,
        se=noise.se if noise else None,
        df=noise.df if noise else None,
        interval95=intervals[0],
        interval90=intervals[1],
        own_interval95=intervals[0],
        p=p,
        p_adjusted=p,
        p_sign_flip=sign_flip_p(deltas),
        correlation=None,
        weights={},
        control_seeds=n,
    )


def level(
    results: StudyResults, arms: tuple[str, ...], case: str, move: int, head: str = "policy"
) -> tuple[list[float], tuple[str, ...]]:
    """Probability of a move by seed, as a mean over arms, and the trials behind it; head: as in
    `ablations.schema.Probe`."""
    probabilities = _probabilities(by_seed(results, arms), case, move, head)
    return [probabilities[seed][0] for seed in sorted(probabilities)], tuple(
        trial for seed in sorted(probabilities) for trial in probabilities[seed][1]
    )
