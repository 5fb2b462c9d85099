"""Effects that the workspace's studies measured, for what is planned next."""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.designs import SCREEN
from ablations.study import read_study
from gonn_core.errors import UserError
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.workspace import Workspace


@dataclass(frozen=True)
class MeasuredEffect:
    """Δ nats of having a card, whose 95 % interval leaves out 0, and the study that it is of."""

    delta: float
    study: str


def measured_effects(workspace: Workspace, base: str, budget: str) -> Mapping[str, MeasuredEffect]:
    """Card -> the largest effect shown on a base under a budget (its label), one card at a time. Studies that cannot be
    read tell nothing. Screens are left out: what one found must not change what the same command asks for next time."""
    found: dict[str, MeasuredEffect] = {}
    for path in sorted(workspace.studies.glob("*/study.json")):
        try:
            study = read_study(path)
            if (study.base, study.budget_label) != (base, budget) or study.design == SCREEN or not study.evaluations:
                continue
            results = load_results(study, workspace.runs, cache=workspace.report_cache)
            effects = analyse_study(results, "nats").effects
        except UserError:
            continue
        for card, effect in effects.items():
            if effect.leaves_out_zero and (card not in found or abs(effect.delta) > abs(found[card].delta)):
                found[card] = MeasuredEffect(effect.delta, study.id)
    return found
