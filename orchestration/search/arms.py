"""`gonn ablate --lr search`: the learning rate of every arm of a study, searched before the study, with equal trials
and seeds."""

from ablations.search import Search, rate_range
from gonn_core.errors import UserError
from gonn_core.trial.job import RunSettings
from orchestration.console import notes
from orchestration.runners.base import Runner
from orchestration.search.adopt import AdoptedRate
from orchestration.search.folder import tried_rates
from orchestration.search.planning import SearchRequest, Target, search_of
from orchestration.study.planning import Plan
from orchestration.workspace import Workspace
from reports.search.page import sentences
from reports.search.report import SearchReport, search_report


def arm_searches(plan: Plan, device: str, workspace: Workspace) -> dict[str, tuple[Search, RunSettings]]:
    """Arm id -> the search for its rate, and how its trials run. The control's serves every study of its base and
    data."""
    study, searches = plan.study, {}
    base, budget, usual = plan.registry.base(study.base), plan.registry.budget(study.budget), SearchRequest("")
    for arm in study.arms:
        control = arm.id == study.arms[0].id
        name, title = (base.id, base.title) if control else (f"{arm.id}-{base.id}", f"{arm.label} ({base.id})")
        rates = rate_range(base, budget.id, arm.config)
        searches[arm.id] = search_of(
            Target(name, title, base, budget, arm.config),
            arm.config,
            rates,
            usual.trials,
            usual.seed,
            plan.prepared,
            workspace,
            device,
        )
    return searches


def search_arms(
    plan: Plan, device: str, workspace: Workspace, engine: Runner, slots: int | None, track: bool
) -> dict[str, AdoptedRate]:
    """Arm id -> rate found for it. Raises UserError when a search cannot be brought to its end."""
    from orchestration.search.command import carry_out  # which trains; a plan needs only the above

    found = {}
    for arm, (search, settings) in arm_searches(plan, device, workspace).items():
        report = carry_out(workspace, search, settings, plan.prepared, engine, slots, track).report
        notes().print(" ".join(sentences(report)))
        found[arm] = _found(report)
        if found[arm] is None:
            raise UserError(
                f"search {search.id}: {report.unfinished} of {search.trials} trials are still to come; the same command goes on"
            )
    return found


def rates_so_far(plan: Plan, device: str, workspace: Workspace) -> dict[str, tuple[SearchReport, AdoptedRate | None]]:
    """Arm id -> its search as far as it is, and the rate found when it is finished; trains nothing."""
    reports = {
        arm: search_report(search, tried_rates(workspace, search))
        for arm, (search, _) in arm_searches(plan, device, workspace).items()
    }
    return {arm: (report, _found(report)) for arm, report in reports.items()}


def _found(report: SearchReport) -> AdoptedRate | None:
    return None if report.unfinished or report.rate is None else AdoptedRate(report.rate, report.search.id)
