"""Each source of numbers that a claim can be about: what we measured, and the verdict where no test gives it."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ablations.claimed import conditions_of
from gonn_core.metrics import Source
from reports.claims.context import Answer, ClaimContext, Measured, answer, claim_evaluation, not_measured
from reports.claims.levels import positions_level
from reports.claims.verdicts import ClaimVerdict
from reports.claims.weights import weights
from reports.play.players import choice_text
from reports.play.win_rates import PUBLISHED, win_rates
from reports.results.compare import paired_curve, used_trials
from reports.results.costs import mean_cost, net_cost
from reports.results.group import MAIN
from reports.tables import formats
from reports.tables.histories import HISTORY

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
    from reports.claims.probes import probe  # numba behind it: only when a claim needs it

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
