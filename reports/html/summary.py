"""The box at the head of a page: what was found, what was claimed, what was trained, what is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from ablations.registry import Registry
from gonn_core.errors import printable
from reports.book.section import Section
from reports.claims.context import NOT_MEASURED
from reports.html.verdicts import claims_counted, counted
from reports.results.compare import MAIN
from reports.screen.commands import study_command
from reports.study.footnotes import unfinished_notes
from reports.study.report import Report
from reports.study.tables import describe
from reports.summary.lines import SummaryLine
from reports.tables.formats import about


@dataclass(frozen=True)
class Summary:
    """headline: counts of verdicts; sentences: one an effect; claims, trained: sentences; unfinished: what is missing,
    empty where all is there; command: what makes it, or makes it again."""

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
    found = [str(verdicts.get(contrast.card, "no result yet")) for contrast in report.study.contrasts]
    return _headline(found, len(found)) if found else f"{printable(report.study.base, 80)} alone, nothing is compared"


def book_summary(
    reports: Sequence[Report], lines: Sequence[SummaryLine], claims: Section, registry: Registry
) -> Summary:
    """Of several studies; verdicts are those of the page, those on claims the ones that the section on claims shows."""
    measured = [(f"{card.id}: {claim.id}", claim) for card in registry.cards.values() for claim in card.claims]
    shown = {
        row.key: row.cells["verdict"].text
        for table in claims.tables
        if table.name.startswith("claims-")
        for row in table.rows
    }
    found = [str(line.page.verdict) if line.page is not None else "no result yet" for line in lines]
    cards = {line.card for line in lines}
    coverage = "; ".join(sorted({report.study.coverage for report in reports}))
    unfinished = [note for report in reports for note in _unfinished(report)]
    return Summary(
        headline=_headline(found, len(cards)) if found else "Nothing is compared yet",
        sentences=(),
        claims=tuple(claims_counted((claim, shown.get(name, NOT_MEASURED)) for name, claim in measured)),
        trained=(_trained(reports), f"Games: {coverage}.") if reports else (),
        unfinished=tuple(unfinished),
        command="",
    )


def _headline(verdicts: Sequence[str], cards: int) -> str:
    """`9 enhancements: 2 help, 7 not shown`; of several effects of one enhancement their number too."""
    if len(verdicts) == 1:
        return f"1 enhancement: {verdicts[0]}"
    many = f"{cards} enhancement{'s' * (cards != 1)}"
    if len(verdicts) != cards:
        many = f"{len(verdicts)} effects of {many}"
    return f"{many}: {counted(verdicts)}"


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


def _unfinished(report: Report) -> list[str]:
    if not report.results.unfinished:
        return []
    total, missing = len(report.results.trials), len(report.results.unfinished)
    return [f"Unfinished: {report.study.id}, {total - missing} of {total} trials are done and evaluated"]
