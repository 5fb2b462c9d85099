"""`gonn status`, `gonn report`, `gonn ui`, `gonn sync`: what is there, and its pictures made again."""

from rich import box
from rich.table import Table

from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.reporting import Reporter
from orchestration.study_folder import all_studies, find_study, latest_of
from orchestration.tracked import study_info
from orchestration.workspace import Workspace

STATES = ("done", "running", "paused", "failed", "new")


def print_status() -> None:
    """Studies with their trials by state; the trials that run or failed."""
    workspace, console = Workspace.here(), output()
    studies = all_studies(workspace)
    if not studies:
        console.print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
        return
    table = Table("study", "data", "seeds", *STATES, box=box.SIMPLE_HEAD, pad_edge=False)
    details = []
    for study in studies:
        states = {trial: TrialDirectory(workspace.runs / trial.trial).state() for trial in study.trials}
        counts = [sum(state == wanted for state in states.values()) for wanted in STATES]
        table.add_row(study.id, study.coverage, str(len(study.seeds)), *(str(count) if count else "" for count in counts))
        for trial, state in states.items():
            if state in ("running", "failed"):
                details.append(_line(workspace, study, trial, state))
    console.print(table)
    for line in details:
        console.print(line)


def _searches(workspace: Workspace) -> list:
    """Reports of all searches of the workspace, as they stand."""
    from orchestration.search_folder import all_searches, tried_rates
    from reports.search_report import search_report

    return [search_report(search, tried_rates(workspace, search)) for search in all_searches(workspace)]


def _line(workspace: Workspace, study, trial, state: str) -> str:
    directory = TrialDirectory(workspace.runs / trial.trial)
    start = f"{trial.trial} {study.arm(trial.arm).label} s{trial.seed}: {state}"
    from orchestration.search_folder import all_searches
    if state == "failed":
        failure = directory.failure() or {}
        return f"{start}: {failure.get('error', 'no word why')} ({directory.path / 'failure.json'})"
    lines = directory.metrics()
    total = study.arm(trial.arm).config.training.samples
    if not lines:
        return f"{start}, 0 of {total:,} samples"
    last = lines[-1]
    left = (total - last["samples"]) / last["samples_per_s"] if last["samples_per_s"] else 0
    return f"{start}, {last['samples']:,} of {total:,} samples, {last['samples_per_s']:,.0f}/s, {left:,.0f} s left, {last['nats']:.4f} nats"


def write_reports(studies: tuple[str, ...]) -> None:
    """Reports of the studies named, or of all, anew from the trial directories; of several also a summary, in out/summary.

    Of all also the report over everything, in out/report.
    """
    workspace = Workspace.here()
    chosen = [find_study(workspace, study) for study in studies] if studies else all_studies(workspace)
    if not chosen:
        output().print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
    written = [report_study(workspace, each, "report") for each in chosen]
    for each in written:
        each.show(output())
    if not written:
        return
    from ablations.registry import load_registry
    from reports.book import write_book
    from reports.summary import write_summary

    registry = load_registry()
    if not studies:
        book = write_book([each.files for each in written], registry, workspace.out / "report")
        output().print(f"over all studies: {book}")
    if len(written) > 1:
        path = write_summary([each.files.report for each in written], registry, workspace.out / "summary")
        output().print(f"summary: {path}")


def open_ui(port: int, study: str | None) -> int:
    """Serve the MLflow UI until interrupted, opened at a study or search (the latest unless named)."""
    from orchestration.mlflow_ui import serve
    from orchestration.search_folder import all_searches

    workspace = Workspace.here()
    known = sorted([*all_studies(workspace), *all_searches(workspace)], key=lambda each: each.created)
    chosen = latest_of(known, study, "STUDY", "no such study or search", "none yet: make ablation NAME=… makes one") if study else (known[-1] if known else None)
    return serve(workspace.root, workspace.runs, port, chosen and chosen.id, output().print)


def sync() -> int:
    """Make MLflow's records of all studies and searches whole again."""
    from orchestration.search import search_records
    from orchestration.tracking import Tracker, redacted

    workspace = Workspace.here()
    studies = all_studies(workspace)
    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    reports = [(study_info(study), report_study(workspace, study, "sync", look=False).tracked) for study in studies]
    searches = search_records(workspace)
    if not tracker.sync([*reports, *searches]):
        return 1
    told = f" and {len(searches)} searches" if searches else ""
    output().print(f"{len(studies)} studies{told} written to {redacted(tracker.uri)}")
    return 0
