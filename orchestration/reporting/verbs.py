"""`gonn report`, `gonn ui`, `gonn sync`: what is there, shown and recorded again."""

from collections.abc import Sequence

from rich.text import Text

from ablations.study import Study
from gonn_core.errors import printable
from orchestration.console import notes, output
from orchestration.reporting.study_report import Reporter
from orchestration.reporting.unchanged import ReportNote, sentences
from orchestration.study.folder import all_studies, find_study, latest_of
from orchestration.tracking.records import study_info
from orchestration.workspace import Workspace


def write_reports(studies: tuple[str, ...]) -> None:
    """Reports of the studies named, or of all, anew from the trial directories; of several also a summary, in
    out/summary.

    Of all also the report over everything, in out/report; of all, a study's report is not made again where nothing has
    changed since.
    """
    workspace = Workspace.here()
    chosen = [find_study(workspace, study) for study in studies] if studies else all_studies(workspace)
    if not chosen:
        output().print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
    note = None if studies else ReportNote(workspace)
    if chosen and note is not None and note.holds():
        return _tell_again(workspace, chosen)
    reporter = Reporter(workspace)
    written = []
    for each in chosen:
        reported = reporter.report(each, "report", anew=bool(studies))
        reported.show(output())
        reported.files.report.forget()
        written.append(reported)
    if not written:
        return
    from reports.book.book import write_book
    from reports.play.all_games import load_played
    from reports.summary.page import write_summary

    registry = reporter.registry
    if not studies:
        played = load_played(workspace.matches, workspace.elo)
        book = write_book(
            [each.files for each in written],
            registry,
            workspace.out / "report",
            _searches(workspace),
            played,
            workspace.sums,
        )
        output().print(f"over all studies: {book}")
    if len(written) > 1:
        path = write_summary(
            [each.files.report for each in written], registry, workspace.out / "summary", workspace.sums
        )
        output().print(f"summary: {path}")
    if note is not None:
        note.keep()


def _tell_again(workspace: Workspace, studies: Sequence[Study]) -> None:
    """What each study found in a sentence per effect, where nothing has changed since all reports were made."""
    console = output()
    for study in studies:
        for sentence in sentences(workspace, study.id):
            console.print(Text(printable(sentence, 400)))
        console.print(f"report: {workspace.out / study.id / 'report.md'}")
    console.print(
        f"nothing has changed since these reports were made; over all studies: {workspace.out / 'report' / 'index.md'}"
    )


def _searches(workspace: Workspace) -> list:
    """Reports of all searches of the workspace, as they stand."""
    from orchestration.search.folder import all_searches, tried_rates
    from reports.search.report import search_report

    return [search_report(search, tried_rates(workspace, search)) for search in all_searches(workspace)]


def open_ui(port: int, study: str | None) -> int:
    """Serve the MLflow UI until interrupted, opened at a study or search (the latest unless named)."""
    from orchestration.search.folder import all_searches
    from orchestration.tracking.ui import serve

    workspace = Workspace.here()
    known = sorted([*all_studies(workspace), *all_searches(workspace)], key=lambda each: each.created)
    chosen = (
        latest_of(known, study, "STUDY", "no such study or search", "none yet: make ablation NAME=… makes one")
        if study
        else (known[-1] if known else None)
    )
    return serve(workspace.root, workspace.runs, port, chosen and chosen.id, output().print)


def sync() -> int:
    """Make MLflow's records of all studies and searches whole again."""
    from orchestration.search.command import search_records
    from orchestration.tracking.tracker import Tracker, redacted

    workspace = Workspace.here()
    studies = all_studies(workspace)
    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    reporter = Reporter(workspace)
    reports = [(study_info(study), reporter.report(study, "sync", look=False).tracked) for study in studies]
    searches = search_records(workspace)
    if not tracker.sync([*reports, *searches]):
        return 1
    told = f" and {len(searches)} searches" if searches else ""
    output().print(f"{len(studies)} studies{told} written to {redacted(tracker.uri)}")
    return 0
