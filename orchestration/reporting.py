"""Reports written, shown and recorded: `gonn report`, `gonn inspect`, `gonn sync`, `gonn ui`."""

from ablations.registry import load_registry
from ablations.search import Search
from ablations.study import Study
from gonn_core.errors import Damaged
from gonn_core.files.json_files import tell
from orchestration.console import moving, notes, output
from orchestration.experiment.folder import latest_of
from orchestration.search.optuna_rates import all_searches, tried_rates
from orchestration.study.folder import all_studies, find_study, find_trial
from orchestration.study.report import SAMPLES, ReportedStudy, Reporter
from orchestration.tracking import ui as mlflow_ui
from orchestration.tracking.records import search_info, study_info
from reports.workspace import Workspace


def write_reports(studies: tuple[str, ...]) -> None:
    """`gonn report`: write the reports of the named studies, or of all, from the trial directories; for several also a
    summary, in out/summary.

    For all also the report over everything, in out/report; then an unchanged report of a study is kept.
    """
    workspace = Workspace.here()
    chosen = [find_study(workspace, study) for study in studies] if studies else all_studies(workspace)
    if not chosen:
        output().print(f"no studies in {workspace.studies}; make ablation NAME=… runs one")
    reporter = Reporter(workspace)
    written = []
    for number, study in enumerate(chosen, 1):
        try:
            with moving(f"report {number} of {len(chosen)}: {study.id}"):
                reported = reporter.report(study, "report", anew=True if studies else None)
        except Damaged as damage:
            if studies:
                raise
            tell(damage, f"study {study.id} is left out")
            continue
        reported.show(output())
        written.append(reported)
    if not written:
        return
    write_tables(workspace, reporter, written, whole=not studies)


def write_tables(workspace: Workspace, reporter: Reporter, written: list[ReportedStudy], whole: bool) -> None:
    """The tables over several studies, from their reports: out/summary; `whole`: also the report over everything."""
    # First looks are excluded from tables of several studies, unless there is nothing else.
    written = [reported for reported in written if not reported.files.report.study.first_look] or written
    registry = reporter.registry
    if whole:
        from reports.book.book import worth_showing, write_book  # with pandas
        from reports.book.samples import write_samples
        from reports.play.matches import load_played
        from reports.search.report import search_report

        rates = []
        for search in all_searches(workspace):
            try:
                rates.append(search_report(search, tried_rates(workspace, search)))
            except Damaged as damage:
                tell(damage, f"search {search.id} is left out")
        with moving("report over all studies: games, then tables and figures of all sections"):
            played = load_played(workspace.matches, workspace.elo)
            reports = [reported.files.report for reported in written]
            shown, _ = worth_showing(reports)
            curves = [reporter.controls.of(report.study) for report in shown]
            book = write_book(
                reports,
                registry,
                workspace.out / "report",
                rates,
                played,
                workspace.report_cache,
                curves,
            )
        output().print(f"over all studies: {book}")
        with moving("losses and effects over samples"):
            samples = write_samples(shown, curves, workspace.out / SAMPLES, workspace.report_cache)
        if samples is not None:
            output().print(f"losses and effects over samples: {samples[0]}")
    if len(written) > 1:
        from reports.summary.page import write_summary

        reports = [reported.files.report for reported in written]
        with moving("summary of all studies"):
            path = write_summary(reports, registry, workspace.out / "summary", workspace.report_cache)
        output().print(f"summary: {path}")


def sync() -> int:
    """`gonn sync`: write MLflow's records of all studies and searches again, from the trial directories."""
    from orchestration.search.experiment import search_records
    from orchestration.tracking.tracker import Tracker, redacted

    workspace = Workspace.here()
    studies = all_studies(workspace)
    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    reporter = Reporter(workspace)
    reports = []
    for study in studies:
        try:
            reported = reporter.report(study, "sync", look=False)
        except Damaged as damage:
            tell(damage, f"study {study.id} is left out")
            continue
        due = [trial.ref for trial in reported.files.report.results.trials]
        reports.append((study_info(study, due), reported.tracked))
    searches = search_records(workspace)
    if not tracker.sync([*reports, *searches]):
        return 1
    and_searches = f" and {len(searches)} searches" if searches else ""
    output().print(f"{len(reports)} studies{and_searches} written to {redacted(tracker.uri)}")
    return 0


def open_ui(port: int, study: str | None) -> int:
    """`gonn ui`: serve the MLflow UI until interrupted, opened at a study or search (default: the latest). Missing
    records are written first."""
    workspace = Workspace.here()
    experiments: list[Study | Search] = [*all_studies(workspace), *all_searches(workspace)]
    experiments.sort(key=lambda experiment: experiment.created)
    chosen = experiments[-1] if experiments else None
    if study:
        none_yet = "none yet: make ablation NAME=… makes one"
        chosen = latest_of(experiments, study, "STUDY", "no such study or search", none_yet)
    return mlflow_ui.serve(workspace.root, port, lambda: _recorded(workspace, experiments, chosen), output().print)


def _recorded(workspace: Workspace, experiments: list[Study | Search], chosen: Study | Search | None) -> str | None:
    """MLflow's id of the chosen study or search, after writing missing records; None when there is none to open."""
    from orchestration.tracking.tracker import Tracker

    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    infos = [
        study_info(experiment) if isinstance(experiment, Study) else search_info(experiment, ())
        for experiment in experiments
    ]
    found = tracker.experiments(infos)
    if found is not None and None in found:
        missing = found.count(None)
        notes().print(f"MLflow's records of {missing} of {len(found)} studies and searches are made first")
        if sync() == 0:
            found = tracker.experiments(infos)
    return found[experiments.index(chosen)] if found and chosen is not None else None


def inspect_net(net: str, samples: int | None) -> None:
    """Write what is inside the net of the trial whose id begins so, after `samples` samples or at its end, to
    out/net-TRIAL/. Raises UserError for a trial without such a snapshot."""
    from reports.weights.inspection import write_inspection  # with torch and matplotlib

    workspace = Workspace.here()
    trial = find_trial(workspace, net, "NET")
    page = write_inspection(trial, samples, load_registry(), workspace.out / f"net-{trial.name}")
    output().print(f"report: {page}")
