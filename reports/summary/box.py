"""What stands first on a page over several studies: how many effects were found, which, and what became of the claims.
The one place where these sentences are made; every page (markdown, HTML) shows them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ablations.registry import Registry
from gonn_core.errors import printable
from reports.stats.verdicts import LEANING, SHOWN, EffectVerdict
from reports.study.footnotes import warnings
from reports.study.report import Report
from reports.summary.best_claims import UNJUDGED, best_findings, count_claims
from reports.summary.lines import SYSTEMS, SummaryLine
from reports.tables import formats

NO_RESULT = "no result yet"
NAMED_AT_MOST = 12
_PLURAL = {
    "helps": "help",
    "hurts": "hurt",
    "leans to helping": "lean to helping",
    "leans to hurting": "lean to hurting",
    "count agrees": "counts agree",
    "count differs": "counts differ",
}
_ORDER = (*EffectVerdict, NO_RESULT)


def summary_box(reports: Sequence[Report], lines: Sequence[SummaryLine], registry: Registry) -> tuple[str, ...]:
    """Sentences of plain text, names from files in them. lines: those of the page, with its verdicts."""
    if not lines:
        return ("Nothing is compared yet.",)
    return (headline(lines), *_named(lines), *claim_sentences(reports, registry))


def page_warnings(reports: Sequence[Report]) -> list[str]:
    """Which studies are no results or unfinished."""
    return [f"{report.study.id}: {each}" for report in reports for each in warnings(report.results)]


def headline(lines: Sequence[SummaryLine]) -> str:
    """`9 enhancements: 2 help, 3 lean to helping, 4 not shown.`; where some were measured under several conditions the
    number of effects too."""
    cards = len({line.card for line in lines})
    many = f"{cards} enhancement{'s' * (cards != 1)}"
    if len(lines) != cards:
        many = f"{len(lines)} effects of {many}"
    return f"{many}: {counted(map(line_verdict, lines))}."


def line_verdict(line: SummaryLine) -> str:
    """The verdict of a line on its page."""
    return NO_RESULT if line.page is None else str(line.page.verdict)


def counted(verdicts: Iterable[str]) -> str:
    """`2 help, 7 not shown`: verdicts on effects in their order, others by how often they occur."""
    counts = Counter(verdicts)
    place = {name: index for index, name in enumerate(_ORDER)}
    ordered = sorted(counts, key=lambda name: (place.get(name, len(place)), -counts[name], name))
    return ", ".join(f"{counts[name]} {_PLURAL.get(name, name) if counts[name] != 1 else name}" for name in ordered)


def _named(lines: Sequence[SummaryLine]) -> list[str]:
    """Which help or hurt, and which lean to it, by size."""
    sentences = []
    for verdict in (*SHOWN, *LEANING):
        chosen = [
            (abs(line.effect.delta), line, line.effect)
            for line in lines
            if line.effect is not None and line.page is not None and line.page.verdict is verdict
        ]
        chosen.sort(key=lambda each: -each[0])
        names = [
            f"{printable(line.card, 80)} {formats.signed(effect.delta)} on {printable(line.report.study.base, 80)}"
            for _, line, effect in chosen[:NAMED_AT_MOST]
        ]
        if names:
            more = f", and {len(chosen) - len(names)} more" if len(chosen) > len(names) else ""
            sentences.append(f"{verdict.capitalize()} (Δ test nats): {', '.join(names)}{more}.")
    return sentences


def claim_sentences(reports: Sequence[Report], registry: Registry) -> list[str]:
    """`35 of 276 claims on effects have a number from us, 3 of them …`, and apart from them counts of parameters."""
    effects, counts = count_claims(registry, best_findings(reports), tuple(SYSTEMS))
    sentences = []
    if effects.tested:
        known = counted(finding.verdict for finding in effects.tested)
        judged = sum(finding.verdict not in UNJUDGED for finding in effects.tested)
        sentences.append(
            f"{len(effects.tested)} of {effects.claims} claims on effects have a number from us, {judged or 'none'} of "
            f"them under the claim's own conditions: {known}."
        )
    if counts.tested:
        known = counted(finding.verdict for finding in counts.tested)
        sentences.append(f"{len(counts.tested)} of {counts.claims} counts of parameters are checked: {known}.")
    return sentences
