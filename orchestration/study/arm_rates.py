"""`gonn ablate --lr search`: the learning rate of every arm of a study, searched before the study, with equal trials
and seeds."""

from gonn_core.errors import UserError
from orchestration.console import notes
from orchestration.experiment.pipeline import Execution, carry_out
from orchestration.search.experiment import SearchExperiment
from orchestration.search.optuna_rates import tried_rates
from orchestration.search.planning import SearchRequest, Target, search_of
from orchestration.study.plan import Plan
from orchestration.study.rates import AdoptedRate
from reports.search.page import sentences
from reports.search.report import SearchReport, search_report
from reports.workspace import Workspace


def arm_searches(plan: Plan, workspace: Workspace) -> dict[str, SearchExperiment]:
    """Arm id -> the search for its rate. The control's serves every study of its base and data."""
    study, design = plan.study, plan.design
    base, budget = design.base, design.budget
    request = SearchRequest("", device=design.request.device, compile=design.request.compile)
    searches = {}
    for arm in study.arms:
        names = () if arm.id == study.arms[0].id else (f"{arm.id}-{base.id}", f"{arm.label} ({base.id})")
        target = Target.of(base, budget, arm.config, *names)
        searches[arm.id] = search_of(request, target, plan.prepared, workspace)
    return searches


def search_arms(plan: Plan, how: Execution) -> dict[str, AdoptedRate]:
    """Arm id -> rate found for it. Raises UserError when a search cannot be brought to its end."""
    rates = {}
    for arm, search in arm_searches(plan, how.workspace).items():
        report = carry_out(search, how, show=False).report.files.report
        notes().print(" ".join(sentences(report)))
        rate = _adopted(report)
        if rate is None:
            to_come = f"{report.unfinished} of {search.size} trials are still to come"
            raise UserError(f"search {search.id}: {to_come}; the same command resumes it")
        rates[arm] = rate
    return rates


def rates_so_far(plan: Plan, workspace: Workspace) -> dict[str, tuple[SearchReport, AdoptedRate | None]]:
    """Arm id -> its search as far as it is, and the rate found when it is finished; trains nothing."""
    reports = {
        arm: search_report(experiment.search, tried_rates(workspace, experiment.search))
        for arm, experiment in arm_searches(plan, workspace).items()
    }
    return {arm: (report, _adopted(report)) for arm, report in reports.items()}


def _adopted(report: SearchReport) -> AdoptedRate | None:
    return None if report.unfinished or report.rate is None else AdoptedRate(report.rate, report.search.id)
