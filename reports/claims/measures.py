"""What was measured for a claim: a function for each source of numbers. It gives a verdict, or an answer that is judged
together with the card's other claims."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ablations.claimed import conditions_of
from ablations.registry import Registry
from ablations.schema import Claim, Enhancement
from ablations.study import Contrast, Study, seeded
from gonn_core.evaluation.probes.suite import picture_cases
from gonn_core.go.points import point
from gonn_core.metrics import METRICS, Source
from reports.claims.verdicts import ClaimedEffect, ClaimVerdict
from reports.play.players import choice_text
from reports.play.win_rates import PUBLISHED, win_rates
from reports.probes.effects import level, probability_effect
from reports.results.compare import StudyAnalysis, by_seed_alone, used_trials
from reports.results.group import MAIN
from reports.results.nets import mean_cost, net_cost
from reports.results.study_results import StudyResults
from reports.stats.estimates import ArmResult, Effect, mean_effect
from reports.tables import formats
from reports.tables.formats import HISTORY
from reports.weights.statistics import has_weights, trained_statistic, untrained_statistic

_MOVES = {"increase": 1, "decrease": -1, "no_change": 0}


@dataclass(frozen=True)
class ClaimContext:
    """One claim of a card in one study. analyses: by evaluation and metric; differs: conditions in which the study
    differs from the claim's."""

    results: StudyResults
    registry: Registry
    card: Enhancement
    contrast: Contrast
    claim: Claim
    analyses: Mapping[tuple[int, str], StudyAnalysis]
    differs: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Samples that the arms are trained on."""
        return self.results.study.arm(self.contrast.without[0]).config.training.samples

    @property
    def claimed_arms(self) -> tuple[str, ...]:
        """The arms that a level is claimed of."""
        return self.contrast.with_it if self.claim.quantity == "on" else self.contrast.without

    @property
    def claimed(self) -> ClaimedEffect:
        """What the claim says, in numbers. A level has no direction, but for what a net answers in one position less
        what it answers in another."""
        claim, (low, high) = self.claim, self.claim.bounds or (None, None)
        from_memory = claim.evidence == "unverified_memory"
        of_level = claim.quantity != "difference" and (claim.probe is None or claim.probe.minus is None)
        return ClaimedEffect(claim.direction, low, high, self.differs, from_memory, of_level)


@dataclass(frozen=True)
class Measured:
    """The columns `ours` and `verdict`; `value`: numbers of the former, `note`: the reason of the latter; tests: of how
    many different numbers behind the card's claims it is one; 0: not judged by a test."""

    text: str
    verdict: ClaimVerdict
    note: str = ""
    value: object = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None
    tests: int = 0


@dataclass(frozen=True)
class Answer:
    """What was measured for a claim, to be judged by `reports.claims.findings`.

    effects: one, or one for each of the numbers that must bear it out together, with the claim on each; the other
    fields: as of `Measured`; note: added to the verdict's.
    """

    effects: tuple[Effect, ...]
    claimed: tuple[ClaimedEffect, ...]
    margin: float
    text: str
    note: str
    value: object
    trials: tuple[str, ...]
    evaluation: int | None = None


def claim_evaluation(study: Study, claim: Claim) -> int | None:
    """Number of the study's evaluation in which the claim's metric is read: the main one, or that of the same games
    with the claim's history. None: the study was planned without."""
    if METRICS[claim.metric].source == "curve" or claim.history == "full":
        return MAIN
    wanted = (study.evaluations[MAIN].split, study.evaluations[MAIN].subset, claim.history)
    known = enumerate(study.evaluations)
    return next((number for number, each in known if (each.split, each.subset, each.history) == wanted), None)


def not_measured(reason: str) -> Measured:
    """Nothing to compare a claim with, and why."""
    return Measured(formats.NONE, ClaimVerdict.NOT_MEASURED, reason)


def answer(
    context: ClaimContext,
    effect: Effect,
    trials: tuple[str, ...],
    *,
    counted_from: str = "",
    note: str = "",
    evaluation: int | None = None,
) -> Answer:
    """An effect on the claim's metric, with its interval, as an answer to the claim.

    counted_from: what an effect of 0 stands for, where it is no difference of two levels; note: added to the verdict's.
    """
    claimed, unit = context.claimed, METRICS[context.claim.metric].unit
    parts = [
        formats.with_interval(effect.delta, effect.interval95, unit),
        "points" if unit == "share" else "",
        counted_from,
        f"at {formats.samples(context.samples)} samples",
    ]
    margin = context.results.study.thresholds.margin(context.claim.metric, claimed.size)
    text = " ".join(filter(None, parts))
    return Answer((effect,), (claimed,), margin, text, note, effect.with_ends, trials, evaluation)


def level_answer(
    context: ClaimContext, effect: Effect, trials: tuple[str, ...], *, unit: str = "%", evaluation: int | None = None
) -> Answer:
    """The mean over seeds of what one arm has itself, a share of 1."""
    claimed, values, ends = context.claimed, effect.deltas, effect.interval95
    finite = max((abs(end) for end in context.claim.bounds or () if abs(end) != float("inf")), default=None)
    interval = "" if ends is None else f" [{_percent(ends.low)}, {_percent(ends.high)}]"
    text = f"{_percent(effect.delta)} {unit}{interval} at {formats.samples(context.samples)} samples"
    note = f"{effect.n} seeds, {_percent(min(values))} to {_percent(max(values))} {unit}"
    margin = context.results.study.thresholds.margin(context.claim.metric, finite)
    return Answer((effect,), (claimed,), margin, text, note, effect.with_ends, trials, evaluation)


def _percent(share: float) -> str:
    return formats.minus(f"{100 * share:.3g}" if abs(share) < 0.01 else f"{100 * share:.1f}")


def weights(context: ClaimContext) -> Measured | Answer:
    """The range of the trained nets of one arm, with that of the untrained ones.

    Every layer has to bear the claim out. Its direction is counted from the untrained nets' mean, which is taken as
    known: each is a mean over many weights drawn at random.
    """
    claim, results = context.claim, context.results
    if claim.quantity == "difference":
        return not_measured("differences of weight statistics are not computed")
    assert claim.statistic is not None
    arms = context.claimed_arms
    trials = [trial for arm in arms for trial in results.of_arm(arm) if trial.result is not None]
    if not trials:
        return not_measured(f"no finished trial of {', '.join(arms)}")
    gone = [trial.id for trial in trials if not has_weights(trial)]
    if gone:
        return not_measured(f"the final weights are gone from {', '.join(gone)}")
    seeds = [trial.seed for trial in trials]
    trained = _by_layer(seeds, [trained_statistic(claim.statistic, trial, results.cache) for trial in trials])
    if not trained:
        return not_measured(f"{', '.join(arms)} has no such weights")
    configs = [seeded(results.study.arm(trial.arm).config, trial.seed) for trial in trials]
    untrained = _by_layer(seeds, [untrained_statistic(claim.statistic, config, results.cache) for config in configs])
    ids = tuple(trial.id for trial in trials)
    means, before = (
        {layer: float(np.mean(list(each.values()))) for layer, each in of.items()} for of in (trained, untrained)
    )
    layers = f"{len(trained)} layer{'s' if len(trained) > 1 else ''}"
    text = f"{_range(means)} over {layers} (untrained {_range(before)})"
    if any(math.isnan(mean) for mean in (*means.values(), *before.values())):
        return not_measured("a layer of the first or the final weights has no such statistic")
    agreeing = sum(np.sign(means[layer] - before[layer]) == _MOVES[claim.direction] for layer in means)
    note = f"{agreeing} of {len(means)} layers moved in the claimed direction; {len(ids)} trials"
    value = [min(means.values()), max(means.values())]
    claimed = [_claimed(context.claimed, before[layer]) for layer in means]
    known = [each for each in claimed if each is not None]
    if len(known) < len(claimed):
        note = f"untrained nets are beyond the claimed range; {note}"
        return Measured(text, ClaimVerdict.NOT_TESTED, note, value, ids)
    effects = tuple(mean_effect(layer, by_seed_alone(trained[layer]), before[layer]) for layer in means)
    margin = context.results.study.thresholds.claim_share * max(
        (abs(end) for end in claim.bounds or () if math.isfinite(end)), default=0.0
    )
    return Answer(effects, tuple(known), margin, text, note, value, ids)


def _by_layer(seeds: Sequence[int], statistics: Sequence[Mapping[str, float]]) -> dict[str, dict[int, float]]:
    """Layer -> seed -> mean over the seed's trials, of each layer that all of them have."""
    layers = [layer for layer in statistics[0] if all(layer in each for each in statistics)]
    return {
        layer: {
            seed: float(np.mean([each[layer] for own, each in zip(seeds, statistics, strict=True) if own == seed]))
            for seed in seeds
        }
        for layer in layers
    }


def _claimed(claimed: ClaimedEffect, untrained: float) -> ClaimedEffect | None:
    """The claim on a layer, counted from its untrained value; None where that lies beyond the claimed range already."""
    if not claimed.judged or claimed.low is None or claimed.high is None:
        return replace(claimed, low=None, high=None, of_level=False)
    low, high = claimed.low - untrained, claimed.high - untrained
    low = max(low, 0.0) if claimed.direction == "increase" else low
    high = min(high, 0.0) if claimed.direction == "decrease" else high
    return replace(claimed, low=low, high=high, of_level=False) if low <= high else None


def _range(values: Mapping[str, float]) -> str:
    low, high = (formats.minus(f"{end:.3g}") for end in (min(values.values()), max(values.values())))
    return low if low == high else f"{low} to {high}"


_NO_ANSWERS = "these nets were not evaluated on the test positions: gonn probe STUDY does it"


def probe(context: ClaimContext) -> Measured | Answer:
    """The effect on the probability of a move, or the probability in one arm, perhaps less that in another position.
    Noise of a level is that between seeds alone: the position is the claim's own, none was drawn."""
    results, claimed = context.results, context.claim.probe
    assert claimed is not None
    case, move = picture_cases()[claimed.position], point(claimed.move)
    if context.claim.quantity == "difference":
        effect, trials = probability_effect(results, context.contrast, case, move, claimed.head)
        if effect is None:
            return not_measured(_NO_ANSWERS)
        return answer(context, effect, trials, note=f"{effect.n} seeds")
    values, trials = level(results, context.claimed_arms, case, move, claimed.head)
    if not values:
        return not_measured(_NO_ANSWERS)
    if claimed.minus is not None:
        other = picture_cases()[claimed.minus]
        taken_off, _ = level(results, context.claimed_arms, other, move, claimed.head)
        values = {seed: value - taken_off[seed] for seed, value in values.items()}
    effect = mean_effect(context.card.id, by_seed_alone(values))
    return level_answer(context, effect, trials, unit="%" if claimed.minus is None else "points")


def _effect(context: ClaimContext) -> Measured | Answer:
    """A metric with an effect and an interval (nats, hit rates, rank, probability, training loss)."""
    results, claim, arms = context.results, context.claim, context.claimed_arms
    evaluation = claim_evaluation(results.study, claim)
    if evaluation is None:
        return not_measured(f"the study has no evaluation with {HISTORY[claim.history]}: gonn ablate makes it")
    if claim.quantity == "difference":
        analysis = context.analyses[evaluation, claim.metric]
        effect = analysis.in_arms(context.contrast)
        if effect is None:
            unclear = "its runs do not tell the effect at the base"
            return not_measured(analysis.left_out.get(context.contrast.card, unclear))
        return answer(context, effect, used_trials(results, context.contrast, evaluation), evaluation=evaluation)
    levels = [level for arm in arms if (level := results.arm_result(arm, evaluation, claim.metric)) is not None]
    seeds = sorted(set.intersection(*(set(level.seeds) for level in levels))) if len(levels) == len(arms) else []
    if not seeds:
        return not_measured(f"no evaluation of {', '.join(arms)} holds it")
    sums = np.mean([level.of_seeds(tuple(seeds)) for level in levels], axis=0)
    effect = mean_effect(context.card.id, ArmResult(tuple(seeds), sums, levels[0].counts))
    evaluated = [results.evaluated(arm, evaluation) for arm in arms]
    trials = tuple(trial.id for each in evaluated for seed, trial in each.items() if seed in seeds)
    return level_answer(context, effect, trials, evaluation=evaluation)


def _training(context: ClaimContext) -> Measured | Answer:
    """A metric of the progress lines: no evaluation stands behind it. Two losses are not compared."""
    other = next((each for each in context.differs if each.startswith("training.loss (")), None)
    if context.claim.metric == "train_loss" and other:
        return not_measured(f"another loss is minimised here: {other}")
    return replace(_effect(context), evaluation=None)


def _parameters(context: ClaimContext) -> Measured:
    """Counted exactly, on the net of the claim: training has no say in it, and no count is a replication."""
    claim, results, contrast = context.claim, context.results, context.contrast
    if claim.base is None:
        return Measured(formats.NONE, ClaimVerdict.NOT_TESTED, "the document's net is none of the bases")
    conditions = conditions_of(context.registry, context.card, claim)
    assert conditions is not None
    on, off = (net_cost(config, results.cache)[0] for config in (conditions.on, conditions.off))
    notes = []
    if claim.bounds is None:
        right = {"increase": on > off, "decrease": on < off, "no_change": on == off}[claim.direction]
        notes.append("direction only: no value is claimed")
    else:
        right = claim.bounds[0] <= on - off <= claim.bounds[1]
    here = mean_cost(results, contrast.with_it).parameters - mean_cost(results, contrast.without).parameters
    if here != on - off:
        notes.append(f"on the arms of this study ({results.study.budget_label} budget): {formats.signed_count(here)}")
    verdict = ClaimVerdict.COUNT_AGREES if right else ClaimVerdict.COUNT_DIFFERS
    if context.claimed.from_memory:
        notes.append(f"claim from unverified memory; {verdict}")
        verdict = ClaimVerdict.COMPARED
    return Measured(f"{formats.signed_count(on - off)} on {claim.base}", verdict, "; ".join(notes), on - off)


def _speed(context: ClaimContext) -> Measured:
    """The ratio of speeds alone: stated with the claim, never judged, for the document's device is not ours."""
    results, contrast = context.results, context.contrast
    on, off = (mean_cost(results, side).samples_per_s for side in (contrast.with_it, contrast.without))
    if on is None or off is None:
        return not_measured("the speed of the arms alone was not measured")
    device = results.speeds[contrast.with_it[0]].device
    apart = (
        f"the device ({device})",
        *(part for part in context.differs if part.startswith(("the net", "the missing", "features.", "net."))),
    )
    text = f"{formats.ratio(on / off)} on {device}"
    return Measured(text, ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(apart)}", on / off)


def _win_rate(context: ClaimContext) -> Measured | Answer:
    """Games of the arms with each other, moves drawn with full history, of a claim about play without history without
    it; an effect of 0 is a win rate of 50 %."""
    choice = PUBLISHED if context.claim.history == "full" else choice_text({"choice": {"history": "none"}})
    for rate in win_rates([context.results]):
        if (rate.card, rate.choice) == (context.contrast.card, choice):
            note = f"{rate.games:,} games of {rate.effect.n} seeds"
            return answer(context, rate.effect, rate.trials, counted_from="from 50 %", note=note)
    how = "" if choice == PUBLISHED else " --how history=none"
    return not_measured(f"the arms did not play each other{' without history' * bool(how)}: gonn play STUDY{how}")


MEASURES: Mapping[Source, Callable[[ClaimContext], Measured | Answer]] = {
    "positions": _effect,
    "curve": _training,
    "gap": _effect,
    "net": _parameters,
    "speed": _speed,
    "weights": weights,
    "probes": probe,
    "games": _win_rate,
}
"""Where a claimed metric is read -> its measure."""
