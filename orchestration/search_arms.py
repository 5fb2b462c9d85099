"""`gonn ablate --lr search`: the learning rate of every arm of a study, searched before the study, with equal trials and seeds."""

from ablations.search import rate_range
from gonn_core.errors import UserError
from orchestration.planning import Plan
from orchestration.runner import Runner
from orchestration.search import carry_out
from orchestration.search_plan import SearchRequest, Target, search_of
from orchestration.workspace import Workspace


def search_arms(plan: Plan, device: str, workspace: Workspace, engine: Runner, slots: int | None, track: bool) -> dict[str, float]:
    """Arm id -> rate found. Raises UserError when a search cannot be brought to its end."""
    study, found = plan.study, {}
    base, budget, usual = plan.registry.base(study.base), plan.registry.budget(study.budget), SearchRequest("")
    for arm in study.arms:
        control = arm.id == study.arms[0].id
        name, title = (base.id, base.title) if control else (f"{arm.id}-{base.id}", f"{arm.label} ({base.id})")
        target = Target(name, title, base, budget, arm.config)
        rates = rate_range(base, budget.id, arm.config)
        search, settings = search_of(target, arm.config, rates, usual.trials, usual.seed, plan.prepared, workspace, device)
        report = carry_out(workspace, search, settings, plan.prepared, engine, slots, track).report
        if report.unfinished or report.rate is None:
            raise UserError(f"search {search.id}: {report.unfinished} of {search.trials} trials are still to come; the same command goes on")
        found[arm.id] = report.rate
    return found
