"""Each source of numbers that a claim can be about: what we measured, and the verdict where no test gives it."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ablations.claimed import conditions_of
from ablations.study import seeded
from gonn_core.evaluation.probes.suite import picture_cases
from gonn_core.go.points import point
from gonn_core.metrics import Source
from reports.claims.context import Answer, ClaimContext, Measured, answer, claim_evaluation, level_answer, not_measured
from reports.claims.verdicts import ClaimedEffect, ClaimVerdict
from reports.play.players import choice_text
from reports.play.win_rates import PUBLISHED, win_rates
from reports.probes.effects import level, probability_effect
from reports.results.compare import by_seed_alone, paired_curve, used_trials
from reports.results.costs import mean_cost, net_cost
from reports.results.group import MAIN
from reports.stats.clusters import ArmResult
from reports.stats.estimates import mean_effect
from reports.tables import formats
from reports.tables.formats import HISTORY
from reports.weights.statistics import has_weights, trained_statistic, untrained_statistic

_MOVES = {"increase": 1, "decrease": -1, "no_change": 0}


def weights(context: ClaimContext) -> Measured | Answer:
    """The range of the trained nets of one arm, beside that of the untrained ones.

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
    return _answer(context, trained, untrained, tuple(trial.id for trial in trials))


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


def _answer(
    context: ClaimContext,
    trained: Mapping[str, Mapping[int, float]],
    untrained: Mapping[str, Mapping[int, float]],
    trials: tuple[str, ...],
) -> Measured | Answer:
    claim = context.claim
    means, before = (
        {layer: float(np.mean(list(each.values()))) for layer, each in of.items()} for of in (trained, untrained)
    )
    layers = f"{len(trained)} layer{'s' if len(trained) > 1 else ''}"
    text = f"{_range(means)} over {layers} (untrained {_range(before)})"
    if any(math.isnan(mean) for mean in means.values()):
        return not_measured("a layer of the final weights has no such statistic")
    agreeing = sum(np.sign(means[layer] - before[layer]) == _MOVES[claim.direction] for layer in means)
    note = f"{agreeing} of {len(means)} layers moved in the claimed direction; {len(trials)} trials"
    value = [min(means.values()), max(means.values())]
    claimed = [_claimed(context.claimed, before[layer]) for layer in means]
    known = [each for each in claimed if each is not None]
    if len(known) < len(claimed):
        note = f"untrained nets are beyond the claimed range; {note}"
        return Measured(text, ClaimVerdict.NOT_TESTED, note, value, trials)
    effects = tuple(mean_effect(layer, by_seed_alone(trained[layer]), before[layer]) for layer in means)
    margin = context.thresholds.claim_share * max(
        (abs(end) for end in claim.bounds or () if math.isfinite(end)), default=0.0
    )
    return Answer(effects, tuple(known), margin, text, note, value, trials)


def _claimed(claimed: ClaimedEffect, untrained: float) -> ClaimedEffect | None:
    """The claim on a layer, counted from its untrained value; None where that lies beyond the claimed range already."""
    if not claimed.judged or claimed.low is None or claimed.high is None:
        return replace(claimed, low=None, high=None, of_level=False)
    low, high = claimed.low - untrained, claimed.high - untrained
    low, high = (
        (max(low, 0.0) if claimed.direction == "increase" else low),
        (min(high, 0.0) if claimed.direction == "decrease" else high),
    )
    return replace(claimed, low=low, high=high, of_level=False) if low <= high else None


def _range(values: Mapping[str, float]) -> str:
    low, high = (formats.minus(f"{end:.3g}") for end in (min(values.values()), max(values.values())))
    return low if low == high else f"{low} to {high}"


_NO_ANSWERS = "the test positions were not put to these nets: gonn probe STUDY does it"


def probe(context: ClaimContext) -> Measured | Answer:
    """The effect on the probability, or the probability in one arm."""
    claimed = context.claim.probe
    assert claimed is not None
    case, move = picture_cases()[claimed.position], point(claimed.move)
    if context.claim.quantity != "difference":
        other = None if claimed.minus is None else picture_cases()[claimed.minus]
        return _level(context, case, other, move, claimed.head)
    effect, trials = probability_effect(context.results, context.contrast, case, move, claimed.head)
    if effect is None:
        return not_measured(_NO_ANSWERS)
    return answer(context, effect, trials, note=f"{effect.n} seeds")


def _level(context: ClaimContext, case: str, other: str | None, move: int, head: str) -> Measured | Answer:
    """other: the position whose probability is taken off, net by net. Noise is that between seeds alone: the position
    is the claim's own, none was drawn."""
    values, trials = level(context.results, context.claimed_arms, case, move, head)
    if not values:
        return not_measured(_NO_ANSWERS)
    if other is not None:
        taken_off, _ = level(context.results, context.claimed_arms, other, move, head)
        values = {seed: value - taken_off[seed] for seed, value in values.items()}
    effect = mean_effect(context.card.id, by_seed_alone(values))
    return level_answer(context, effect, trials, unit="%" if other is None else "points")


def positions_level(context: ClaimContext, evaluation: int) -> Measured | Answer:
    """The mean over seeds and games of the arm that is claimed about."""
    metric, arms = context.claim.metric, context.claimed_arms
    results = [context.results.arm_result(arm, evaluation, metric) for arm in arms]
    found = [result for result in results if result is not None]
    seeds = sorted(set.intersection(*(set(result.seeds) for result in found))) if found else []
    if len(found) < len(arms) or not seeds:
        return not_measured(f"no evaluation of {', '.join(arms)} holds it")
    sums = np.mean([result.of_seeds(tuple(seeds)) for result in found], axis=0)
    effect = mean_effect(context.card.id, ArmResult(tuple(seeds), sums, found[0].counts))
    evaluated = [context.results.evaluated(arm, evaluation) for arm in arms]
    trials = tuple(trial.id for each in evaluated for seed, trial in each.items() if seed in seeds)
    return level_answer(context, effect, trials, evaluation=evaluation)


_NO_GAMES = "the arms did not play each other: gonn play STUDY makes them"
_NO_GAMES_WITHOUT_HISTORY = (
    "the arms did not play each other without history: gonn play STUDY --how history=none makes the games"
)


def _effect(context: ClaimContext) -> Measured | Answer:
    """A metric with an effect and an interval (nats, hit rates, rank, probability, training loss)."""
    evaluation = claim_evaluation(context.results.study, context.claim)
    if evaluation is None:
        return not_measured(f"the study has no evaluation with {HISTORY[context.claim.history]}: gonn ablate makes it")
    if context.claim.quantity != "difference":
        return positions_level(context, evaluation)
    analysis = context.analyses[evaluation, context.claim.metric]
    effect = analysis.in_arms(context.contrast)
    if effect is None:
        return not_measured(analysis.left_out.get(context.contrast.card, "its runs do not tell the effect at the base"))
    trials = used_trials(context.results, context.contrast, evaluation)
    note = _on_the_way(context) if evaluation == MAIN else ""
    return answer(context, effect, trials, note=note, evaluation=evaluation)


def _training(context: ClaimContext) -> Measured | Answer:
    """A metric of the progress lines: no evaluation stands behind it. Two losses are not compared."""
    other = next((each for each in context.differs if each.startswith("training.loss (")), None)
    if context.claim.metric == "train_loss" and other:
        return not_measured(f"another loss is minimised here: {other}")
    return replace(_effect(context), evaluation=None)


def _on_the_way(context: ClaimContext) -> str:
    """What the progress subset showed at the claim's own samples, when training went beyond them."""
    claim = context.claim
    if claim.metric != "nats" or claim.samples is None or claim.samples >= context.samples:
        return ""
    curve = paired_curve(context.results, context.contrast)
    if not curve:
        return ""
    claimed_samples = claim.samples
    nearest = min(curve, key=lambda count: abs(count - claimed_samples))
    return f"validation at {formats.samples(nearest)} samples: Δ {formats.signed(float(np.mean(curve[nearest])))}"


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
    if context.from_memory:
        notes.append(f"claim from unverified memory; {verdict}")
        verdict = ClaimVerdict.COMPARED
    return Measured(f"{formats.signed_count(on - off)} on {claim.base}", verdict, "; ".join(notes), on - off)


def _speed(context: ClaimContext) -> Measured:
    """The ratio of speeds alone: stated beside the claim, never judged, for the document's device is not ours."""
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
    for rate in win_rates(context.results):
        if (rate.card, rate.choice) == (context.contrast.card, choice):
            note = f"{rate.games:,} games of {rate.effect.n} seeds"
            return answer(context, rate.effect, rate.trials, counted_from="from 50 %", note=note)
    return not_measured(_NO_GAMES if choice == PUBLISHED else _NO_GAMES_WITHOUT_HISTORY)


def _probe(context: ClaimContext) -> Measured | Answer:
    from reports.claims.measures import probe  # numba behind it: only when a claim needs it

    return probe(context)


MEASURES: Mapping[Source, Callable[[ClaimContext], Measured | Answer]] = {
    "positions": _effect,
    "curve": _training,
    "gap": _effect,
    "net": _parameters,
    "speed": _speed,
    "weights": weights,
    "probes": _probe,
    "games": _win_rate,
}
"""Where a claimed metric is read -> its measure."""
