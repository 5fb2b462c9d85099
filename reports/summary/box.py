"""The box at the top of a page over several studies: how many effects were found, which, and the verdicts on claims."""

from collections.abc import Sequence

from ablations.registry import Registry
from gonn_core.errors import printable
from reports.page import Summary
from reports.stats.verdicts import EffectVerdict, counted
from reports.study.footnotes import warnings
from reports.study.page import trained_sentence
from reports.study.report import Report
from reports.summary.best_claims import best_findings, count_claims
from reports.summary.lines import SYSTEMS, SummaryLine
from reports.tables import formats

NAMED_AT_MOST = 12


def page_summary(reports: Sequence[Report], lines: Sequence[SummaryLine], registry: Registry) -> Summary:
    """Plain text. lines: those of the page, with its verdicts."""
    coverage = "; ".join(sorted({report.study.coverage for report in reports}))
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
    effects, counts = count_claims(registry, best_findings(reports), tuple(SYSTEMS))
    sentences = []
    if effects.tested:
        judged = sum(finding.verdict.is_judged for finding in effects.tested)
        sentences.append(
            f"{len(effects.tested)} of {effects.claims} claims on effects have a number from us, {judged or 'none'} of "
            f"them under the claim's own conditions: {counted(finding.verdict for finding in effects.tested)}."
        )
    if counts.tested:
        known = counted(finding.verdict for finding in counts.tested)
        sentences.append(f"{len(counts.tested)} of {counts.claims} counts of parameters are checked: {known}.")
    return sentences
