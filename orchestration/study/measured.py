"""Effects that studies of the workspace found to be large: a screen of a group leaves them out."""

from collections.abc import Mapping

from ablations.designs import SCREEN
from ablations.screens.choice import LARGE
from ablations.study import read_study
from gonn_core.errors import UserError
from reports.results.compare import analyse_study
from reports.results.decisions import load_results
from reports.workspace import Workspace


def large_effects(workspace: Workspace, base: str, budget: str) -> Mapping[str, str]:
    """Card -> its largest effect shown on a base under a budget (its label), in words, where it is at least LARGE nats.

    Studies that cannot be read are skipped. So are screens: what a screen found must not change what the same command
    plans next time.
    """
    largest: dict[str, tuple[float, str]] = {}
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
            if effect.leaves_out_zero and abs(effect.delta) > abs(largest.get(card, (0.0, ""))[0]):
                largest[card] = effect.delta, study.id
    return {
        card: f"its effect of {delta:+.2f} nats is known ({study})"
        for card, (delta, study) in largest.items()
        if abs(delta) >= LARGE
    }
