"""The page of chosen studies: its summary, every enhancement with its effect, what could have been shown, and its
claim."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ablations.registry import Registry
from gonn_core.errors import printable
from gonn_core.metrics import METRICS
from reports.claims.findings import ClaimFinding
from reports.page import Page, Section, Summary, markdown
from reports.stats.verdicts import EffectVerdict, counted
from reports.study.page import trained_sentence
from reports.study.report import Report, warnings
from reports.summary.lines import SummaryLine, forest, summary_forest, summary_lines, summary_table
from reports.tables import formats
from reports.tables.writers import csv_text
from reports.workspace import write_files

NAMED_AT_MOST = 12


def page_summary(reports: Sequence[Report], lines: Sequence[SummaryLine], registry: Registry) -> Summary:
    """Plain text. lines: those of the page, with its verdicts."""
    coverage = "; ".join(sorted({report.study.games for report in reports}))
    return Summary(
        headline=headline(lines) if lines else "Nothing is compared yet.",
        sentences=tuple(_named(lines)),
        claims=tuple(claim_sentences(reports, registry)) if lines else (),
        trained=(trained_sentence(list(reports)), f"Games: {coverage}.") if reports else (),
        unfinished=tuple(f"{report.study.id}: {text}" for report in reports for text in warnings(report.results)),
    )


def headline(lines: Sequence[SummaryLine]) -> str:
    """`9 enhancements: 2 help, 3 lean to helping, 4 not shown.`; also the number of effects where an enhancement was
    measured under several conditions."""
    cards = len({line.card for line in lines})
    many = f"{cards} enhancement{'s' * (cards != 1)}"
    if len(lines) != cards:
        many = f"{len(lines)} effects of {many}"
    return f"{many}: {counted(line.verdict for line in lines)}."


def _named(lines: Sequence[SummaryLine]) -> list[str]:
    """Which help or hurt, and which lean to it, by size."""
    sentences = []
    for verdict in (verdict for verdict in EffectVerdict if verdict.is_shown or verdict.leans):
        chosen = [(line, line.effect) for line in lines if line.effect is not None and line.verdict is verdict]
        chosen.sort(key=lambda pair: -abs(pair[1].delta))
        names = [
            f"{printable(line.card, 80)} {formats.signed(effect.delta)} on {printable(line.report.study.base, 80)}"
            for line, effect in chosen[:NAMED_AT_MOST]
        ]
        if names:
            more = f", and {len(chosen) - len(names)} more" if len(chosen) > len(names) else ""
            sentences.append(f"{verdict.capitalize()} (Δ test nats): {', '.join(names)}{more}.")
    return sentences


def claim_sentences(reports: Sequence[Report], registry: Registry) -> list[str]:
    """`35 of 276 claims on effects have a number from us, 3 of them …`, and separately the counts of parameters."""
    best = best_findings(reports)
    sides: tuple[list, list] = ([], [])
    for card in registry.cards.values():
        for claim in card.claims:
            sides[METRICS[claim.metric].source == "net"].append(best.get((card.id, claim.id)))
    effects, counts = ([one.finding for one in side if one is not None and one.finding.tested] for side in sides)
    sentences = []
    if effects:
        judged = sum(finding.verdict.is_judged for finding in effects)
        sentences.append(
            f"{len(effects)} of {len(sides[0])} claims on effects have a number from us, {judged or 'none'} of them "
            f"under the claim's own conditions: {counted(finding.verdict for finding in effects)}."
        )
    if counts:
        known = counted(finding.verdict for finding in counts)
        sentences.append(f"{len(counts)} of {len(sides[1])} counts of parameters are checked: {known}.")
    return sentences


@dataclass(frozen=True)
class StudyFinding:
    """A finding and the study it comes from."""

    finding: ClaimFinding
    report: Report

    @property
    def seeds(self) -> int:
        """Number of seeds behind it."""
        seeds = {trial.id: trial.seed for trial in self.report.results.trials}
        return len({seeds[trial] for trial in self.finding.trials})


def best_findings(reports: Sequence[Report]) -> dict[tuple[str, str], StudyFinding]:
    """(card, claim) -> the finding to show: with a verdict first, then the nearest in samples, then of most seeds."""
    best: dict[tuple[str, str], StudyFinding] = {}
    for report in reports:
        for finding in report.findings:
            key, result = (finding.card, finding.claim.id), StudyFinding(finding, report)
            if key not in best or _rank(result) < _rank(best[key]):
                best[key] = result
    return best


def _rank(result: StudyFinding) -> tuple:
    """Smaller is nearer to what the claim is about."""
    finding, claim = result.finding, result.finding.claim
    samples = max(arm.config.training.samples for arm in result.report.study.arms)
    distance = abs(math.log(samples / claim.samples)) if claim.samples else -math.log(samples)
    return not finding.tested, not finding.verdict.is_judged, distance, -result.seeds, result.report.study.id


def write_summary(reports: Sequence[Report], registry: Registry, folder: Path, cache: Path | None = None) -> Path:
    """`summary.md`, `.csv`, the forest as `.png` and `.svg`, in `folder`. Returns the markdown's path.

    `cache`: as of `reports.book.book.write_book`. Raises InputError.
    """
    lines = summary_lines(reports, registry)
    table, picture = summary_table(lines), forest(summary_forest(lines), "summary", "Effects with their intervals")
    studies = tuple(f"`{report.study.id}`" for report in reports)
    sections = (
        Section(table.title, pictures=(picture,) if picture else (), tables=(table,)),
        Section("Studies", studies, points=True),
    )
    page = Page("Enhancements compared", f"{len(studies)} studies", page_summary(reports, lines, registry), sections)
    contents = {"summary.md": markdown(page).encode(), "summary.csv": csv_text(table).encode()}
    write_files(folder, {**contents, **(picture.files(cache) if picture else {})})
    return folder / "summary.md"
