"""`gonn search`: find the learning rate of a net, show what was found. Finished work is not repeated."""

from orchestration.console import output
from orchestration.data.prepare import prepare_shown
from orchestration.experiment.pipeline import carry_out, execution
from orchestration.search.experiment import report_search
from orchestration.search.folder import all_searches, find_search, tried_rates
from orchestration.search.planning import SearchRequest, check_search, lay_out_search
from orchestration.tracking.records import StudyInfo, StudyReport, search_info
from reports.search.report import search_report
from reports.workspace import Workspace


def run_search(
    request: SearchRequest,
    runner: str,
    slots: int | None,
    track: bool,
    address: str | None = None,
    per_gpu: int | None = None,
) -> int:
    """Run a search and show what it found; 0 when it is complete, 1 otherwise. Raises UserError before any work."""
    target, dataset = check_search(request)
    how = execution(runner, slots, track, address, per_gpu=per_gpu)
    search = lay_out_search(request, target, prepare_shown(dataset, how.workspace), how.workspace)
    result = carry_out(search, how)
    return 1 if result.report.files.report.unfinished else 0


def show_search(beginning: str | None) -> None:
    """Print the report of a search; without an id list the searches and print the latest."""
    workspace = Workspace.here()
    searches = all_searches(workspace)
    if beginning is None:
        if not searches:
            output().print(f"no searches in {workspace.root / 'searches'}; make lr-search NAME=… runs one")
            return
        for search in searches[:-1]:
            report = search_report(search, tried_rates(workspace, search))
            rate = "no rate yet" if report.rate is None else f"{report.rate:g}"
            to_come = f", {report.unfinished} trials to come" if report.unfinished else ""
            output().print(f"{search.id}: {rate}{to_come}")
    search = find_search(workspace, beginning) if beginning else searches[-1]
    report_search(workspace, search).show(output())


def search_records(workspace: Workspace) -> list[tuple[StudyInfo, StudyReport]]:
    """Every search and its report, for MLflow's records made anew."""
    written = [report_search(workspace, search) for search in all_searches(workspace)]
    reports = [each.files.report for each in written]
    return [
        (search_info(report.search, report.tried), each.tracked) for report, each in zip(reports, written, strict=True)
    ]
