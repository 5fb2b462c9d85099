"""Claims on a level: what the nets of one arm have themselves, no difference of two arms."""

import numpy as np

from reports.claims.context import ClaimContext, Measured, not_measured
from reports.stats.verdicts import ClaimVerdict
from reports.tables import formats


def positions_level(context: ClaimContext, evaluation: int) -> Measured:
    """The mean over seeds of the arm that is claimed about; replicated when it lies within the claim."""
    metric = context.claim.metric
    results = [context.results.arm_result(arm, evaluation, metric) for arm in context.claimed_arms]
    found = [result for result in results if result is not None]
    if not found:
        return not_measured(f"no evaluation of {', '.join(context.claimed_arms)} holds it")
    values = [float(mean) for result in found for mean in result.means]
    mean = float(np.mean(values))
    verdict, reason = judge_level(context, mean, len(values))
    trials = [trial.id for arm in context.claimed_arms for trial in context.results.evaluated(arm, evaluation).values()]
    spread = f"{len(values)} seeds, {100 * min(values):.3g} to {100 * max(values):.3g} %"
    text = f"{100 * mean:.3g} % at {formats.samples(context.samples)} samples"
    return Measured(text, str(verdict), "; ".join(filter(None, (reason, spread))), mean, tuple(trials), evaluation)


def judge_level(context: ClaimContext, mean: float, seeds: int) -> tuple[ClaimVerdict, str]:
    """Verdict and reason of a mean over seeds beside the claimed value or range, give or take the claim's margin; no
    interval stands behind it, so that none is contradicted."""
    claim, thresholds = context.claim, context.thresholds
    if context.from_memory:
        return ClaimVerdict.COMPARED, "claim from unverified memory"
    if context.differs:
        return ClaimVerdict.NOT_TESTED, f"differs from the claim in {', '.join(context.differs)}"
    if claim.bounds is None or seeds < thresholds.min_seeds:
        return ClaimVerdict.NOT_SHOWN, ""
    margin = thresholds.margin(claim.metric, max(abs(end) for end in claim.bounds if np.isfinite(end)))
    inside = claim.bounds[0] - margin <= mean <= claim.bounds[1] + margin
    return ClaimVerdict.REPLICATED if inside else ClaimVerdict.NOT_SHOWN, ""
