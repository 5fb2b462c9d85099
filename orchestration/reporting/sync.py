"""`gonn sync`: MLflow's records made again from the trial directories."""

from orchestration.console import notes, output
from orchestration.study.folder import all_studies
from orchestration.study.report import Reporter
from orchestration.tracking.records import study_info
from reports.workspace import Workspace


def sync() -> int:
    """Make MLflow's records of all studies and searches whole again."""
    from orchestration.search.command import search_records
    from orchestration.tracking.tracker import Tracker, redacted

    workspace = Workspace.here()
    studies = all_studies(workspace)
    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    reporter = Reporter(workspace)
    reports = []
    for study in studies:
        reported = reporter.report(study, "sync", look=False)
        due = [trial.ref for trial in reported.files.report.results.trials]
        reports.append((study_info(study, due), reported.tracked))
    searches = search_records(workspace)
    if not tracker.sync([*reports, *searches]):
        return 1
    and_searches = f" and {len(searches)} searches" if searches else ""
    output().print(f"{len(studies)} studies{and_searches} written to {redacted(tracker.uri)}")
    return 0
