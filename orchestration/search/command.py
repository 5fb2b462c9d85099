"""`gonn search`: find the learning rate of a net, show what was found. Whatever is there already is not done again."""

from dataclasses import replace

from ablations.search import Search
from orchestration.console import notes, output
from orchestration.data.verbs import prepare_shown
from orchestration.experiment.accounting import AccountedRunner
from orchestration.experiment.stopping import StoppableRunner
from orchestration.runners.base import Runner
from orchestration.search.folder import (
    all_searches,
    alone,
    find_search,
    keep_search,
    open_journal,
    search_folder,
    tried_rates,
)
from orchestration.search.planning import SearchRequest, check_search, lay_out_search
from orchestration.search.progress import SearchLines
from orchestration.search.run import FAILURES, SearchRun
from orchestration.study.ablate import make_runner, warm_kernels
from orchestration.tracking.search_records import search_info, tracked_report
from orchestration.workspace import Workspace
from reports.files import write_files
from reports.search.page import SearchFiles, sentences, table_of, write_search_report
from reports.search.report import search_report
from reports.tables.terminal import rich_table


def run_search(request: SearchRequest, runner: str, slots: int | None, track: bool) -> int:
    """Run a search and show what it found; 0 when it is complete, 1 otherwise. Raises UserError before any work."""
    checked = check_search(request)
    engine = make_runner(runner)
    workspace = Workspace.here()
    prepared = prepare_shown(checked.dataset, workspace)
    search, settings = lay_out_search(checked, prepared, workspace)
    files = carry_out(workspace, search, settings, prepared, engine, slots, track)
    show_files(files)
    return 1 if files.report.unfinished else 0


def carry_out(
    workspace: Workspace, search: Search, settings, prepared, engine: Runner, slots: int | None, track: bool
) -> SearchFiles:
    """Bring a search to its end, or as far as its failures let it come, and write its report."""
    from orchestration.tracking.tracker import Tracker

    aside = notes()
    search = keep_search(workspace, search)
    tracker = Tracker(workspace.root, workspace.runs, aside.print) if track else None
    with alone(workspace, search):
        optimiser = open_journal(workspace, search)
        before = search_report(search, optimiser.tried())
        done = search.trials - before.unfinished
        aside.print(
            f"search {search.id}: {search.trials} trials, {done} of them done already; rates {search.rates[0]:g} to {search.rates[1]:g}; data {search.coverage}"
        )
        if before.unfinished:
            warm_kernels([search.config], prepared, settings.device, aside.print)
        lines = SearchLines(search, done, aside.print)

        def asked(tried):
            lines.asked(tried)
            if tracker is not None:
                tracker.study_grew(search_info(search, optimiser.tried()))

        accounted = AccountedRunner(StoppableRunner(engine, workspace, search.id), search_folder(workspace, search.id))
        part = SearchRun(search, settings, optimiser, lines, asked)
        if tracker is None:
            part.run(accounted, slots)
        else:
            tracker.study_started(search_info(search, optimiser.tried()))
            with tracker.following():
                part.run(accounted, slots)
        tried = optimiser.tried()
    files = write_files_of(workspace, search)
    if tracker is not None:
        tracker.study_finished(search_info(search, tried), tracked_report(files))
    if accounted.spent is not None and accounted.spent.slots:
        aside.print(accounted.spent.line)
    for failed, error in part.failures:
        aside.print(f"rate {failed.rate:.4g} (trial {failed.trial}) failed: {error}")
    if len(part.failures) >= FAILURES:
        aside.print(f"{FAILURES} trials failed, not for their rates: no more were begun; the same command goes on")
    return files


def show_search(beginning: str | None) -> None:
    """Print a search's report, made again; without an id the searches of the workspace and the latest of them."""
    workspace = Workspace.here()
    searches = all_searches(workspace)
    if beginning is None:
        if not searches:
            output().print(f"no searches in {workspace.root / 'searches'}; make lr-search NAME=… runs one")
            return
        for search in searches[:-1]:
            report = search_report(search, tried_rates(workspace, search))
            output().print(
                f"{search.id}: {'no rate yet' if report.rate is None else f'{report.rate:g}'}{f', {report.unfinished} trials to come' if report.unfinished else ''}"
            )
    search = find_search(workspace, beginning) if beginning else searches[-1]
    show_files(write_files_of(workspace, search))


def write_files_of(workspace: Workspace, search: Search) -> SearchFiles:
    """Write a search's report as it stands, with Optuna's plots beside it. Raises InputError when the disk does not
    take it."""
    tried = tried_rates(workspace, search)
    files = write_search_report(search_report(search, tried), workspace.out)
    plots = open_journal(workspace, search).plots() if tried else {}
    folder = files.markdown.parent
    write_files(folder, plots)
    return replace(files, figures=(*files.figures, *(folder / name for name in plots)))


def show_files(files: SearchFiles) -> None:
    """Print what a search found, and where the rest is."""
    console = output()
    console.print(f"{files.report.search.id}: learning rate of {files.report.search.title}", style="bold")
    console.print(rich_table(table_of(files.report)))
    for sentence in sentences(files.report):
        console.print(sentence)
    console.print(f"report: {files.markdown}")


def search_records(workspace: Workspace) -> list:
    """Every search and its report, for MLflow's records made anew."""
    written = [write_files_of(workspace, search) for search in all_searches(workspace)]
    return [(search_info(files.report.search, files.report.tried), tracked_report(files)) for files in written]
