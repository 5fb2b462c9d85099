"""Each metric that a claim can be about: what we measured of it, and the verdict."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ablations.registry import Registry
from ablations.schema import Claim, Enhancement
from ablations.study import Contrast, seeded
from gonn_core.config import with_values
from reports.play.win_rates import PUBLISHED, SMALLEST_WIN_RATE, win_rates
from reports.results.compare import MAIN, StudyAnalysis, study_thresholds, used_trials
from reports.results.costs import mean_cost, net_cost
from reports.results.study_results import StudyResults, TrialResult
from reports.stats.estimates import Effect
from reports.stats.verdicts import ClaimedEffect, ClaimVerdict, judge_claim
from reports.tables import formats
from reports.weights.cached_statistics import trained_statistic, untrained_statistic
from reports.weights.statistics import last_snapshot

NOT_MEASURED = "not measured yet"
UNPLAYED = "the arms did not play each other: gonn play STUDY makes them"
UNASKED = "the test positions were not put to these nets: gonn probe STUDY does it"
_UNITS = {"top1": "share", "top4": "share", "probability": "share"}


@dataclass(frozen=True)
class Setting:
    """One claim of a card, and all that a measure looks at. `differs`: conditions in which the study differs from the
    claim's."""

    results: StudyResults
    registry: Registry
    card: Enhancement
    contrast: Contrast
    claim: Claim
    analyses: Mapping[str, StudyAnalysis]
    differs: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Samples that the arms are trained on."""
        return self.results.study.arm(self.contrast.without[0]).config.training.samples


@dataclass(frozen=True)
class Measured:
    """What stands in the columns `ours` and `verdict`; `value`: numbers of the former, `note`: the reason of the
    latter."""

    text: str
    verdict: str
    note: str = ""
    value: object = None
    trials: tuple[str, ...] = ()
    evaluation: int | None = None


def _effect(setting: Setting) -> Measured:
    """A metric with an effect and an interval (nats, hit rates, rank, probability, training loss)."""
    claim, metric = setting.claim, setting.claim.metric
    analysis = setting.analyses[metric]
    effect = analysis.effect(setting.contrast.card)
    if effect is None:
        return Measured(formats.NONE, NOT_MEASURED, analysis.left_out[setting.contrast.card])
    thresholds = study_thresholds(setting.results.study)
    low, high = claim.bounds or (None, None)
    claimed = ClaimedEffect(claim.direction, low, high, setting.differs, claim.evidence == "unverified_memory")
    judged = judge_claim(effect, claimed, thresholds.margin(metric, claimed.size), thresholds)
    text = formats.with_interval(effect.delta, effect.interval95, _UNITS.get(metric, "nats"))
    text += f"{' points' if metric in _UNITS else ''} at {formats.samples(setting.samples)} samples"
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
    trials = used_trials(setting.results, setting.contrast, effect, MAIN)
    note = "; ".join(part for part in (judged.note, _on_the_way(setting, effect)) if part)
    return Measured(
        text, str(judged.verdict), note, [effect.delta, *ends], trials, None if metric == "train_nats" else MAIN
    )


def _on_the_way(setting: Setting, effect: Effect) -> str:
    """What the progress subset showed at the claim's own samples, when training went beyond them."""
    claim = setting.claim
    if claim.metric != "nats" or claim.samples is None or claim.samples >= setting.samples or not effect.paired:
        return ""
    curve = paired_curve(setting.results, setting.contrast)
    if not curve:
        return ""
    nearest = min(curve, key=lambda count: abs(count - claim.samples))
    return f"validation at {formats.samples(nearest)} samples: Δ {formats.signed(float(np.mean(curve[nearest])))}"


def paired_curve(results: StudyResults, contrast: Contrast) -> dict[int, np.ndarray]:
    """Samples -> differences in nats on the validation progress subset, of the seeds of which all arms got that far, by
    rising seed."""
    points: dict[int, dict[int, dict[str, float]]] = {}
    arms = (*contrast.with_it, *contrast.without)
    for arm in arms:
        for trial in results.of_arm(arm):
            for line in trial.curve:
                if "nats" in line:
                    points.setdefault(line["samples"], {}).setdefault(trial.seed, {})[arm] = line["nats"]
    curve = {}
    for count in sorted(points):
        whole = [values for _, values in sorted(points[count].items()) if len(values) == len(arms)]
        if whole:
            sides = [
                np.mean([[values[arm] for arm in side] for values in whole], axis=1)
                for side in (contrast.with_it, contrast.without)
            ]
            curve[count] = sides[0] - sides[1]
    return curve


def _parameters(setting: Setting) -> Measured:
    """Counted exactly, on the net of the claim: training has no say in it."""
    claim, study = setting.claim, setting.results.study
    if claim.base is None:
        return Measured(formats.NONE, str(ClaimVerdict.NOT_TESTED), "the document's net is none of the bases")
    base = setting.registry.base(claim.base)
    formed = setting.registry.card(setting.card.id).on_base(claim.base)
    sides = ({path: getattr(toggle, state) for path, toggle in formed.toggles.items()} for state in ("on", "off"))
    on, off = (net_cost(with_values(base.config, values, formed.id), setting.results.kept)[0] for values in sides)
    text = f"{formats.signed_count(on - off)} on {claim.base}"
    note = ""
    if claim.bounds is None:
        right = {"increase": on > off, "decrease": on < off, "no_change": on == off}[claim.direction]
        note = "direction only: no value is claimed"
    else:
        right = claim.bounds[0] <= on - off <= claim.bounds[1]
    here = (
        mean_cost(setting.results, setting.contrast.with_it).parameters
        - mean_cost(setting.results, setting.contrast.without).parameters
    )
    if here != on - off:
        small = f"on the arms of this study ({study.budget} budget): {formats.signed_count(here)}"
        note = f"{note}; {small}" if note else small
    return Measured(text, str(ClaimVerdict.REPLICATED if right else ClaimVerdict.CONTRADICTED), note, on - off)


def _speed(setting: Setting) -> Measured:
    """The ratio of speeds alone: stated beside the claim, never judged, for the document's device is not ours."""
    on, off = (
        mean_cost(setting.results, side).samples_per_s for side in (setting.contrast.with_it, setting.contrast.without)
    )
    if on is None or off is None:
        return Measured(formats.NONE, NOT_MEASURED, "the speed of the arms alone was not measured")
    device = setting.results.speeds[setting.contrast.with_it[0]].device
    apart = (f"the device ({device})", *(part for part in setting.differs if not part.startswith("samples ")))
    text = f"{formats.ratio(on / off)} on {device}"
    return Measured(text, str(ClaimVerdict.NOT_TESTED), f"differs from the claim in {', '.join(apart)}", on / off)


def _weights(setting: Setting) -> Measured:
    """A statistic of the final weights by layer: the range over layers of the means over seeds, beside that of the
    untrained nets."""
    claim = setting.claim
    if claim.quantity == "difference":
        return Measured(formats.NONE, NOT_MEASURED, "differences of weight statistics are not computed")
    arms = setting.contrast.with_it if claim.quantity == "on" else setting.contrast.without
    trials = [trial for arm in arms for trial in setting.results.of_arm(arm) if trial.result is not None]
    if not trials:
        return Measured(formats.NONE, NOT_MEASURED, f"no finished trial of {', '.join(arms)}")
    gone = [trial.id for trial in trials if not _last_snapshot(trial).exists()]
    if gone:
        return Measured(formats.NONE, NOT_MEASURED, f"the final weights are gone from {', '.join(gone)}")
    trained = _by_layer([trained_statistic(claim.statistic, trial, setting.results.kept) for trial in trials])
    if not trained:
        return Measured(formats.NONE, NOT_MEASURED, f"{', '.join(arms)} has no such weights")
    study = setting.results.study
    start = _by_layer(
        [
            untrained_statistic(claim.statistic, seeded(study.arm(trial.arm).config, trial.seed), setting.results.kept)
            for trial in trials
        ]
    )
    text = f"{_range(trained)} over {len(trained)} layer{'s' if len(trained) > 1 else ''} (untrained {_range(start)})"
    verdict, note = _judge_layers(claim, trained, start, setting.differs, study_thresholds(study).claim_share)
    note = f"{note}; {len(trials)} trials"
    return Measured(
        text, str(verdict), note, [min(trained.values()), max(trained.values())], tuple(trial.id for trial in trials)
    )


def _last_snapshot(trial: TrialResult) -> Path:
    return last_snapshot(trial.folder, trial.result)


def _by_layer(found: list[dict[str, float]]) -> dict[str, float]:
    """Mean over trials of each layer that all of them have."""
    layers = [layer for layer in found[0] if all(layer in each for each in found)]
    return {layer: float(np.mean([each[layer] for each in found])) for layer in layers}


def _range(values: Mapping[str, float]) -> str:
    low, high = (formats.minus(f"{end:.3g}") for end in (min(values.values()), max(values.values())))
    return low if low == high else f"{low} to {high}"


def _judge_layers(claim: Claim, trained, start, differs, share: float) -> tuple[ClaimVerdict, str]:
    """A range over layers is replicated when ours lies within the claimed one ± `share` of its size; no interval stands
    behind it."""
    moved = [np.sign(trained[layer] - start[layer]) for layer in trained]
    wanted = {"increase": 1, "decrease": -1, "no_change": 0}[claim.direction]
    agreeing = sum(move == wanted for move in moved)
    direction = f"{agreeing} of {len(moved)} layers moved in the claimed direction"
    if claim.evidence == "unverified_memory":
        return ClaimVerdict.COMPARED, f"claim from unverified memory; {direction}"
    if differs:
        return ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(differs)}; {direction}"
    if agreeing == 0:
        return ClaimVerdict.CONTRADICTED, direction
    if claim.bounds is None:
        return (ClaimVerdict.REPLICATED if agreeing == len(moved) else ClaimVerdict.INCONCLUSIVE), direction
    size = max(abs(end) for end in claim.bounds if np.isfinite(end))
    low, high = claim.bounds[0] - share * size, claim.bounds[1] + share * size
    inside = sum(low <= value <= high for value in trained.values())
    note = f"{inside} of {len(trained)} layers within the claim ± {share * size:.2g}; {direction}"
    return (ClaimVerdict.REPLICATED if inside == len(trained) else ClaimVerdict.INCONCLUSIVE), note


def _probe(setting: Setting) -> Measured:
    """The probability of a move in a test position of the documents, from the answers that `gonn probe` left in the
    trials."""
    from gonn_core.evaluation.probes.published import picture_cases  # with numba: only when a claim needs it
    from gonn_core.go.points import point
    from reports.probes.effects import probability_effect

    claim, contrast = setting.claim, setting.contrast
    case, move = picture_cases()[claim.probe.position], point(claim.probe.move)
    if claim.quantity != "difference":
        return _probe_level(setting, case, move)
    effect, trials = probability_effect(setting.results, contrast, case, move)
    if effect is None:
        return Measured(formats.NONE, NOT_MEASURED, UNASKED)
    thresholds = study_thresholds(setting.results.study)
    low, high = claim.bounds or (None, None)
    claimed = ClaimedEffect(claim.direction, low, high, setting.differs, claim.evidence == "unverified_memory")
    judged = judge_claim(effect, claimed, thresholds.margin("probe", claimed.size), thresholds)
    text = f"{formats.with_interval(effect.delta, effect.interval95, 'share')} points at {formats.samples(setting.samples)} samples"
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
    return Measured(text, str(judged.verdict), f"{judged.note}; {effect.n} seeds", [effect.delta, *ends], trials)


def _probe_level(setting: Setting, case: str, move: int) -> Measured:
    """The probability in one arm: replicated when its mean lies within the claim ± its share; no interval stands behind
    it."""
    from reports.probes.effects import level

    claim, contrast = setting.claim, setting.contrast
    values, trials = level(
        setting.results, contrast.with_it if claim.quantity == "on" else contrast.without, case, move, claim.probe.head
    )
    if not values:
        return Measured(formats.NONE, NOT_MEASURED, UNASKED)
    mean = float(np.mean(values))
    text, note = (
        f"{100 * mean:.1f} % at {formats.samples(setting.samples)} samples",
        f"{len(values)} seeds, {100 * min(values):.1f} to {100 * max(values):.1f} %",
    )
    if claim.evidence == "unverified_memory":
        return Measured(text, str(ClaimVerdict.COMPARED), f"claim from unverified memory; {note}", mean, trials)
    if setting.differs:
        return Measured(
            text,
            str(ClaimVerdict.NOT_TESTED),
            f"differs from the claim in {', '.join(setting.differs)}; {note}",
            mean,
            trials,
        )
    if claim.bounds is None or len(values) < study_thresholds(setting.results.study).min_seeds:
        return Measured(text, str(ClaimVerdict.INCONCLUSIVE), note, mean, trials)
    margin = study_thresholds(setting.results.study).margin(
        "probe", max(abs(end) for end in claim.bounds if np.isfinite(end))
    )
    inside = claim.bounds[0] - margin <= mean <= claim.bounds[1] + margin
    return Measured(text, str(ClaimVerdict.REPLICATED if inside else ClaimVerdict.INCONCLUSIVE), note, mean, trials)


def _win_rate(setting: Setting) -> Measured:
    """Games of the arms with each other, moves chosen as published; an effect of 0 is a win rate of 50 %."""
    found = next(
        (rate for rate in win_rates(setting.results) if (rate.card, rate.choice) == (setting.contrast.card, PUBLISHED)),
        None,
    )
    if found is None:
        return Measured(formats.NONE, NOT_MEASURED, UNPLAYED)
    claim, effect = setting.claim, found.effect
    thresholds = study_thresholds(setting.results.study)
    low, high = claim.bounds or (None, None)
    claimed = ClaimedEffect(claim.direction, low, high, setting.differs, claim.evidence == "unverified_memory")
    judged = judge_claim(
        effect, claimed, max(SMALLEST_WIN_RATE, thresholds.claim_share * (claimed.size or 0.0)), thresholds
    )
    text = f"{formats.with_interval(effect.delta, effect.interval95, 'share')} points from 50 % at {formats.samples(setting.samples)} samples"
    ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
    return Measured(
        text,
        str(judged.verdict),
        f"{judged.note}; {found.games:,} games of {effect.n} seeds",
        [effect.delta, *ends],
        found.trials,
    )


MEASURES: Mapping[str, Callable[[Setting], Measured]] = {
    **dict.fromkeys(("nats", "top1", "top4", "rank", "probability", "train_nats"), _effect),
    "parameters": _parameters,
    "samples_per_s_ratio": _speed,
    "weight_statistic": _weights,
    "probe": _probe,
    "win_rate": _win_rate,
}
"""Metric of a claim -> its measure."""
