"""Every claim of every card, by system: what was measured of it, or the command that would."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ablations.registry import Registry
from ablations.schema import ANY_GAMES, Claim, Enhancement
from ablations.wording import conditions_text
from reports.book.section import Section
from reports.claims.findings import ClaimFinding, claimed_text, source_text, why_cell
from reports.figures.picture import Picture
from reports.study.report import Report
from reports.summary.best_claims import StudyFinding, best_findings, count_claims
from reports.summary.figure import forest
from reports.summary.lines import SYSTEMS, SummaryLine, summary_lines
from reports.summary.page import summary_table
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

FOREST_AT_MOST = 40
"""Effects in one picture."""
_MEASURED = (
    Column("claim", "claim", "left"),
    Column("claimed", "claimed", "left", parts=("claimed_direction", "claimed_low", "claimed_high")),
    Column("conditions", "claimed for", "left", under="claimed"),
    Column("document", "document", "left", under="claimed"),
    Column("ours", "ours", "left", parts=("ours", "ours_low", "ours_high")),
    Column("seeds", "seeds", under="verdict"),
    Column("verdict", "verdict", "left"),
    Column("source", "document, section", "left", brief=False),
    Column("study", "study", "left", brief=False),
    Column("note", "why", "left", brief=False),
)
_OPEN = (
    Column("card", "enhancement", "left"),
    Column("claimed", "claims", "left"),
    Column("how", "what would measure them", "left", under="claimed"),
)
_COUNTS = (
    Column("system", "system", "left"),
    Column("cards", "enhancements"),
    Column("claims", "claims on effects"),
    Column("measured", "measured here"),
    Column("verdicts", "verdicts", "left"),
    Column("counts", "counts"),
    Column("counted", "counted here", "left"),
)


def claims_section(registry: Registry, reports: Sequence[Report]) -> Section:
    """Counts, the forest of all effects with the claims marked, a table a system of what was measured, folded tables of
    what was not."""
    best = best_findings(reports)
    measured, waiting = [], []
    for system, title in SYSTEMS.items():
        cards = [card for card in registry.cards.values() if card.system == system]
        pairs = [(card, claim) for card in cards for claim in card.claims]
        done = [_measured_row(best[card.id, claim.id]) for card, claim in pairs if _tested(best, card, claim)]
        if done:
            measured.append(Table(f"claims-{system}", f"Claims: {title}", _MEASURED, tuple(done)))
        rows = [
            row
            for card in cards
            for row in _open_rows(
                card, [claim for claim in card.claims if not _tested(best, card, claim)], best, reports
            )
        ]
        if rows:
            waiting.append(
                Table(f"claims-open-{system}", f"Claims without a number of ours: {title}", _OPEN, tuple(rows))
            )
    sentences = (
        "Where several studies measured a claim, the one nearest to its conditions counts: verdict first, then "
        "samples, then seeds. “Not tested here”: planes, net, loss, schedule, games or samples are not those of the "
        "claim; the CSV files name what differs, beside the section of the document and the reason of every verdict.",
        "A claim is put to the test as it was made by BUDGET=paper after the same command, one of the first 5M samples "
        "by BUDGET=gpu, on the games that it was made on. Counts of parameters are checked by counting: they agree or "
        "differ, and are no effects that anybody replicated.",
    )
    lines = summary_lines(reports, registry)
    return Section(
        "Claims",
        sentences,
        _forests(lines),
        (summary_table(lines), _counts(registry, best), *measured) if lines else (_counts(registry, best),),
        tuple(waiting),
    )


def _forests(lines: Sequence[SummaryLine]) -> tuple[Picture, ...]:
    """One picture of all effects, or one a system where they are too many for one."""
    title = "Effects on the loss, with what the documents claim"
    parts = {"forest": (lines, title)}
    if len(lines) > FOREST_AT_MOST:
        parts = {
            f"forest-{system}": ([line for line in lines if line.system == system], f"{title}: {name}")
            for system, name in SYSTEMS.items()
        }
    drawn = [forest(chosen, name, title) for name, (chosen, title) in parts.items()]
    return tuple(picture for picture in drawn if picture is not None)


def _tested(best: Mapping[tuple[str, str], StudyFinding], card: Enhancement, claim: Claim) -> bool:
    result = best.get((card.id, claim.id))
    return result is not None and result.finding.tested


def _measured_row(result: StudyFinding) -> Row:
    finding, claim, measured, n = result.finding, result.finding.claim, result.finding.measured, result.seeds
    cells = {
        "claim": text_cell(finding.name),
        "claimed": Cell(claimed_text(claim), list(claim.bounds) if claim.bounds else claim.direction, escape=True),
        "ours": Cell(measured.text, measured.value, measured.trials, measured.evaluation, escape=True),
        "seeds": Cell(f"{n} seed{'s' * (n != 1)}" if n else formats.NONE, n or None, measured.trials),
        "verdict": text_cell(measured.verdict, measured.trials),
        "conditions": text_cell(f"for {conditions_text(claim)}"),
        "document": text_cell(claim.document),
        "source": text_cell(source_text(claim)),
        "study": text_cell(result.report.study.id),
        "note": why_cell(finding),
    }
    return Row(finding.name, cells)


def _open_rows(
    card: Enhancement, claims: Sequence[Claim], best: Mapping[tuple[str, str], StudyFinding], reports: Sequence[Report]
) -> list[Row]:
    """Claims of a card without a number, those that the same thing would measure in one row."""
    by_way: dict[str, list[str]] = {}
    for claim in claims:
        by_way.setdefault(_way(card, claim, best.get((card.id, claim.id)), reports), []).append(claimed_text(claim))
    rows = []
    for number, (way, texts) in enumerate(by_way.items(), 1):
        rows.append(
            Row(
                f"{card.id} {number}",
                {
                    "card": text_cell(card.id),
                    "claimed": text_cell("; ".join(dict.fromkeys(texts))),
                    "how": text_cell(way),
                },
            )
        )
    return rows


def _way(card: Enhancement, claim: Claim, result: StudyFinding | None, reports: Sequence[Report]) -> str:
    """What has to be done for a number: the command, unless a finished study says what it lacks."""
    study = next((report for report in reports if card.id in report.study.cards), None)
    if study is None:
        then = {"probe": f", then gonn probe {card.id}", "win_rate": f", then gonn play {card.id}"}.get(
            claim.metric, ""
        )
        return f"make ablation NAME={card.id} DATA={_games(card, claim)}{then}"
    if result is None or study.results.unfinished and "no finished trial" in result.finding.measured.note:
        return (
            f"its study goes on: make ablation NAME={','.join(study.study.cards)} DATA={study.study.data} "
            f"BUDGET={study.study.budget}" + (f" PRECISION={precision}" if (precision := study.study.precision) else "")
        )
    return result.finding.measured.note.replace(" STUDY", f" {result.report.study.id}")


def _games(card: Enhancement, claim: Claim) -> str:
    """The first data set that a claim is about; of one that holds for any games that of the card's other claims."""
    about = [claim, *card.claims] if claim.games == ANY_GAMES else [claim]
    return next((each.games[0] for each in about if each.games[0] not in ("any", "other")), "kgs")


def _counts(registry: Registry, best: Mapping[tuple[str, str], StudyFinding]) -> Table:
    """What became of the claims of each system: those on effects, and apart from them what is merely counted."""
    rows = []
    for system, title in SYSTEMS.items():
        effects, counts = count_claims(registry, best, (system,))
        cards = sum(card.system == system for card in registry.cards.values())
        numbers = {"cards": cards, "claims": effects.claims, "measured": len(effects.tested), "counts": counts.claims}
        cells = {key: Cell(str(value), value) for key, value in numbers.items()}
        cells |= {
            "system": text_cell(title),
            "verdicts": _verdicts(effects.tested),
            "counted": _verdicts(counts.tested),
        }
        rows.append(Row(system, cells))
    return Table("claims", "Claims by system", _COUNTS, tuple(rows))


def _verdicts(findings: Sequence[ClaimFinding]) -> Cell:
    verdicts = Counter(finding.verdict for finding in findings)
    ordered = sorted(verdicts.items(), key=lambda each: (-each[1], each[0]))
    return text_cell(", ".join(f"{count} {verdict}" for verdict, count in ordered) or formats.NONE)
