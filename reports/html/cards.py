"""Every enhancement with every claim on it: what was measured, or the command that would."""

from collections.abc import Sequence

from ablations.catalogue.topics import topic_of
from ablations.registry import Registry
from reports.book.section import Section
from reports.claims.context import NOT_MEASURED
from reports.html.effects import Details
from reports.summary.lines import SYSTEMS, SummaryLine
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("claimed", "what is claimed", "left"),
    Column("verdict", "verdict on the claim", "left"),
    Column("ours", "ours", "left"),
    Column("effect", "effect on the loss here"),
    Column("how", "what would measure it", "left"),
    Column("topic", "topic", "left"),
    Column("system", "system", "left"),
)
NO_CLAIM = "no claim"


def cards_table(registry: Registry, claims: Section, lines: Sequence[SummaryLine]) -> tuple[Table, Details]:
    """A row a claim, those of one enhancement that one command would measure together; what stands in the tables of
    the section on claims. Details: conditions, document and reasons."""
    by_card: dict[str, list[tuple[dict[str, Cell], list[tuple[str, str]]]]] = {card: [] for card in registry.cards}
    for table in claims.all_tables:
        if table.name.startswith("claims-open-"):
            for row in table.rows:
                open_claim = {"claimed": row.cells["claimed"], "how": row.cells["how"]}
                by_card[row.cells["card"].text].append((open_claim, []))
        elif table.name.startswith("claims-"):
            for row in table.rows:
                measured = {key: row.cells[key] for key in ("claimed", "ours", "verdict")}
                by_card[row.key.partition(": ")[0]].append((measured, _told(row)))
    effects = _effects(lines)
    rows, details = [], {}
    for name in sorted(by_card):
        card = registry.cards[name]
        always = {"card": text_cell(name), "system": text_cell(SYSTEMS.get(card.system, card.system))}
        always["topic"] = text_cell(topic_of(card))
        always["effect"] = effects.get(name, Cell(formats.NONE))
        way = formats.NONE if name in effects else f"make ablation NAME={name}"
        missing = {"claimed": text_cell(NO_CLAIM), "verdict": text_cell(NO_CLAIM), "how": text_cell(way)}
        for number, (cells, told) in enumerate(by_card[name] or [(missing, [])], 1):
            verdict = {"ours": Cell(formats.NONE), "verdict": text_cell(NOT_MEASURED), "how": Cell(formats.NONE)}
            key = f"{name} {number}"
            rows.append(Row(key, {**always, **verdict, **cells}))
            details[key] = [("enhancement", f"{card.title}. {card.summary}"), *told]
    return Table("cards", "All enhancements and the claims on them", _COLUMNS, tuple(rows)), details


def _told(row: Row) -> list[tuple[str, str]]:
    labels = {"conditions": "claimed", "source": "document", "seeds": "seeds", "study": "study", "note": "why"}
    told = [(label, row.cells[key].text) for key, label in labels.items()]
    trials = row.cells["ours"].trials
    return [*told, (f"{len(trials)} trials", " ".join(trials))] if trials else told


def _effects(lines: Sequence[SummaryLine]) -> dict[str, Cell]:
    """Card -> its effect on the loss, of several that with most seeds."""
    best: dict[str, SummaryLine] = {}
    for line in lines:
        if line.effect is not None and line.page is not None:
            known = best.get(line.card)
            if known is None or known.effect is None or line.effect.n > known.effect.n:
                best[line.card] = line
    return {card: _effect(line) for card, line in best.items()}


def _effect(line: SummaryLine) -> Cell:
    assert line.effect is not None and line.page is not None  # others have no cell
    text = f"{formats.signed(line.effect.delta)}, {line.page.verdict} ({line.report.study.base})"
    return Cell(text, line.effect.delta, escape=True)
