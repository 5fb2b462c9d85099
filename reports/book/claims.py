"""Every enhancement with every claim on it: what was measured, or the command that would measure it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ablations.registry import Registry, topic_of
from ablations.schema import ANY_GAMES, Claim, Enhancement
from ablations.wording import SYSTEMS, replication_text
from reports.claims.findings import claim_values, claimed_text
from reports.claims.verdicts import ClaimVerdict
from reports.page import Section
from reports.screen.interactions import study_command
from reports.study.report import Report
from reports.summary.lines import SummaryLine
from reports.summary.page import StudyFinding, best_findings
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, make_row
from reports.tables.entities import CLAIMS, pick

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("topic", "topic", "left", under="card", facet=True, brief=False),
    Column("system", "system", "left", under="card", facet=True, brief=False),
    *pick(CLAIMS, "claimed", "conditions", "document", "ours", "seeds", "verdict"),
    Column("study", "study", "left", printed=False),
    *pick(CLAIMS, "source", "note", printed=False),
    Column("effect", "effect on the loss here", "left", brief=False),
    Column("elsewhere", "tried elsewhere", "left", brief=False),
    Column("how", "how to measure it", "left", command=True),
)
_NOTES = (
    "Where several studies measured a claim, the one nearest to its conditions is shown: verdict first, then samples, "
    "then seeds. “Not tested here”: planes, net, loss, schedule, games or samples are not those of the claim; the "
    "CSV file says what differs.",
    "BUDGET=paper after the same command tests a claim under its own conditions, BUDGET=gpu one of the first 5M "
    "samples, on the games of the claim. Counts of parameters are checked by counting: they agree or differ, and are "
    "no replicated effects.",
)


def claims_section(registry: Registry, reports: Sequence[Report], lines: Sequence[SummaryLine]) -> Section:
    """Every enhancement with every claim."""
    best, effects = best_findings(reports), _effects(lines)
    rows: list[Row] = []
    for card in sorted(registry.cards.values(), key=lambda card: card.id):
        always = {
            "card": card.id,
            "topic": topic_of(card),
            "system": SYSTEMS[card.system],
            "effect": effects.get(card.id),
            "elsewhere": "; ".join(map(replication_text, card.replications)) or None,
        }
        title = (("enhancement", f"{card.title}. {card.summary}"),)
        results = {claim.id: best.get((card.id, claim.id)) for claim in card.claims}
        tested = [result for result in results.values() if result is not None and result.finding.tested]
        rows += [_measured_row(always, result, title) for result in tested]
        by_way: dict[str, list[str]] = {}  # claims that one command would measure are one row
        for claim in card.claims:
            result = results[claim.id]
            if result is None or not result.finding.tested:
                by_way.setdefault(_way(card, claim, result, reports), []).append(claimed_text(claim))
        for number, (way, texts) in enumerate(by_way.items(), 1):
            text = "; ".join(dict.fromkeys(texts))
            claimed = Cell(text, [text, None, None], escape=True)
            verdict = Cell(ClaimVerdict.NOT_MEASURED, ClaimVerdict.NOT_MEASURED)
            values = {**always, "claimed": claimed, "how": way, "verdict": verdict}
            rows.append(make_row(_COLUMNS, f"{card.id} {number}", values, details=title))
        if not card.claims:
            values = {**always, "verdict": Cell(ClaimVerdict.NO_CLAIM, ClaimVerdict.NO_CLAIM)}
            values["how"] = None if card.id in effects else f"make ablation NAME={card.id}"
            rows.append(make_row(_COLUMNS, card.id, values, details=title))
    table = Table(
        "claims", f"All {len(registry.cards)} enhancements and the claims on them", _COLUMNS, tuple(rows), _NOTES
    )
    return Section(table.title, folded=(table,))


def _effects(lines: Sequence[SummaryLine]) -> dict[str, Cell]:
    """Card -> its effect on the loss; of several the one with most seeds."""
    best: dict[str, tuple[int, Cell]] = {}
    for line in lines:
        if line.effect is not None and (line.card not in best or line.effect.n > best[line.card][0]):
            text = f"{formats.signed(line.effect.delta)}, {line.verdict} ({line.report.study.base})"
            best[line.card] = line.effect.n, Cell(text, line.effect.delta, escape=True)
    return {card: cell for card, (_, cell) in best.items()}


def _measured_row(always: Mapping[str, Any], result: StudyFinding, title: tuple[tuple[str, str], ...]) -> Row:
    finding, trials, n = result.finding, result.finding.measured.trials, result.seeds
    values = claim_values(finding)
    seeds = Cell(f"{n} seed{'s' * (n != 1)}", n, trials) if n else None
    values |= {**always, "seeds": seeds, "study": result.report.study.id}
    details = [*title, ("why", values["note"].text), ("study", result.report.study.id)]
    details += [(f"{len(trials)} trials", " ".join(trials))] if trials else []
    return make_row(_COLUMNS, finding.name, values, details=details)


def _way(card: Enhancement, claim: Claim, result: StudyFinding | None, reports: Sequence[Report]) -> str:
    """What has to be done for a number: the command, on the claim's games or those of the card's other claims, unless a
    finished study says what it lacks."""
    study = next((report for report in reports if card.id in report.study.cards), None)
    if study is None:
        claims = [claim, *card.claims] if claim.games == ANY_GAMES else [claim]
        games = next((each.games[0] for each in claims if each.games[0] not in ("any", "other")), "kgs")
        verb = {"probe": "probe", "win_rate": "play"}.get(claim.metric)
        return f"make ablation NAME={card.id} DATA={games}" + (f", then gonn {verb} {card.id}" if verb else "")
    study = result.report if result else study
    if result is None or study.results.unfinished and "no finished" in result.finding.measured.note:
        return study_command(study.study)
    return result.finding.measured.note.replace(" STUDY", f" {result.report.study.id}")
