"""The box at the head of a page: what was found, what was claimed, what was trained, what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.registry import Registry
from gonn_core.errors import printable
from reports.html.verdicts import claims_counted
from reports.results.group import MAIN
from reports.screen.commands import study_command
from reports.study.footnotes import unfinished_notes
from reports.study.report import Report
from reports.study.tables import describe
from reports.summary.box import NO_RESULT, claim_sentences, counted, page_warnings, summary_box
from reports.summary.lines import SummaryLine
from reports.tables.formats import about


@dataclass(frozen=True)
class Summary:
    """headline: counts of verdicts; sentences: one an effect; claims, trained: sentences; unfinished: what is missing,
    or that nothing here is a result, empty where all is there; command: what makes it, or makes it again."""

    headline: str
    sentences: tuple[str, ...]
    claims: tuple[str, ...]
    trained: tuple[str, ...]
    unfinished: tuple[str, ...]
    command: str


def study_summary(report: Report) -> Summary:
    """Of one study."""
    study = report.study
    return Summary(
        headline=study_headline(report),
        sentences=report.sentences,
        claims=tuple(claims_counted((each.claim, each.verdict) for each in report.findings)),
        trained=(_trained([report]), f"Tested on {describe(study.evaluations[MAIN])}.", f"Games: {study.coverage}."),
        unfinished=tuple(unfinished_notes(report.results)),
        command=study_command(study),
    )


def study_headline(report: Report) -> str:
    """`9 enhancements: 2 help, 7 not shown`."""
    verdicts = report.verdicts
    found = [str(verdicts.get(contrast.card, NO_RESULT)) for contrast in report.study.contrasts]
    if not found:
        return f"{printable(report.study.title, 120)}, nothing is compared"
    if len(found) == 1:
        return f"1 enhancement: {found[0]}"
    return f"{len(found)} enhancements: {counted(found)}"


def book_summary(reports: Sequence[Report], lines: Sequence[SummaryLine], registry: Registry) -> Summary:
    """Of several studies: the sentences that stand first in markdown too."""
    first, *sentences = summary_box(reports, lines, registry)
    claims = claim_sentences(reports, registry)
    coverage = "; ".join(sorted({report.study.coverage for report in reports}))
    return Summary(
        headline=first,
        sentences=tuple(sentence for sentence in sentences if sentence not in claims),
        claims=tuple(claims),
        trained=(_trained(reports), f"Games: {coverage}.") if reports else (),
        unfinished=tuple(page_warnings(reports)),
        command="",
    )


def _trained(reports: Sequence[Report]) -> str:
    """`104 trials in 15 studies, 9.8M samples, 33 CPU hours`; a trial that studies share counts once."""
    trials = {trial.id: trial.result for report in reports for trial in report.results.trials}
    done = [result for result in trials.values() if result is not None]
    samples = sum(result["samples"] for result in done)
    hours = sum(result.get("cpu_seconds", 0) for result in done) / 3600
    some = f"{len(done)}" if len(done) == len(trials) else f"{len(done)} of {len(trials)}"
    studies = f" in {len(reports)} studies" if len(reports) > 1 else ""
    time = f"{hours:.0f} CPU hours" if hours >= 10 else f"{hours:.1f} CPU hours"
    return f"Trained: {some} trial{'s' * (len(trials) != 1)}{studies}, {about(samples)} samples, {time}."
