"""`gonn sync`: MLflow's records made again from the trial directories."""

from ablations.study import Study, TrialRef
from orchestration.console import notes, output
from orchestration.study.folder import all_studies, study_folder
from orchestration.study.report import Reporter
from orchestration.tracking.records import study_info
from reports.results.decisions import due_trials, read_decisions
from reports.workspace import Workspace


def _due(workspace: Workspace, study: Study) -> tuple[TrialRef, ...]:
    """What is left of it by the looks that it took."""
    return due_trials(study, read_decisions(study, study_folder(workspace, study.id)))


def sync() -> int:
    """Make MLflow's records of all studies and searches whole again."""
    from orchestration.search.command import search_records
    from orchestration.tracking.tracker import Tracker, redacted

    workspace = Workspace.here()
    studies = all_studies(workspace)
    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    reporter = Reporter(workspace)
    reports = [
        (study_info(study, _due(workspace, study)), reporter.report(study, "sync", look=False).tracked)
        for study in studies
    ]
    searches = search_records(workspace)
    if not tracker.sync([*reports, *searches]):
        return 1
    and_searches = f" and {len(searches)} searches" if searches else ""
    output().print(f"{len(studies)} studies{and_searches} written to {redacted(tracker.uri)}")
    return 0
