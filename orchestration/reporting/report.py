"""`gonn report`: reports of studies, a summary of several, and the report over everything."""

from collections.abc import Sequence

from rich.text import Text

from ablations.search import Search
from ablations.study import Study
from gonn_core.errors import Damaged, printable
from gonn_core.files.told import tell
from orchestration.console import moving, output
from orchestration.search.folder import all_searches, tried_rates
from orchestration.study.folder import all_studies, find_study
from orchestration.study.report import SAMPLES, Reporter
from orchestration.study.unchanged import all_reports, sentences
from reports.study.render import HTML
from reports.workspace import Workspace

INDEX = "index.html"


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
    unchanged = None if studies else all_reports(workspace)
    searches = [] if studies else all_searches(workspace)  # what is damaged of them is told, also where nothing changed
    with moving("looking for what has changed"):
        nothing_changed = chosen and unchanged is not None and unchanged.holds()
    if nothing_changed:
        return _show_findings(workspace, chosen)
    reporter = Reporter(workspace)
    written = []
    for number, study in enumerate(chosen, 1):
        try:
            with moving(f"report {number} of {len(chosen)}: {study.id}"):
                reported = reporter.report(study, "report", anew=bool(studies))
        except Damaged as damage:
            if studies:
                raise
            tell(damage, f"study {study.id} is left out")
            continue
        reported.show(output())
        written.append(reported)
    if not written:
        return
    # A first look stands in no table beside others; alone it is all there is.
    written = [each for each in written if not each.files.report.study.first_look] or written
    registry = reporter.registry
    if not studies:
        from reports.book.book import worth_showing, write_book  # with pandas
        from reports.play.all_games import load_played
        from reports.scaling.page import write_samples

        rates = _search_reports(workspace, searches)
        with moving("report over all studies: games, then tables and figures of all sections"):
            played = load_played(workspace.matches, workspace.elo)
            shown, _ = worth_showing([reported.files.report for reported in written])
            curves = [reporter.controls.of(report.study) for report in shown]
            book = write_book(
                [reported.files for reported in written],
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
    if unchanged is not None:
        unchanged.keep()


def _show_findings(workspace: Workspace, studies: Sequence[Study]) -> None:
    """What each study found in a sentence per effect, where nothing has changed since all reports were made."""
    console = output()
    for study in studies:
        for sentence in sentences(workspace, study.id):
            console.print(Text(printable(sentence, 400)))
        console.print(f"report: {workspace.out / study.id / HTML}")
    index = workspace.out / "report" / INDEX
    console.print(f"nothing has changed since these reports were made; over all studies: {index}")


def _search_reports(workspace: Workspace, searches: Sequence[Search]) -> list:
    """Reports of searches as they stand."""
    from reports.search.report import search_report

    reports = []
    for search in searches:
        try:
            reports.append(search_report(search, tried_rates(workspace, search)))
        except Damaged as damage:
            tell(damage, f"search {search.id} is left out")
    return reports
