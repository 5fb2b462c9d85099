"""Tables of interactions of two enhancements, and of what a screen holds or leaves out."""

from collections.abc import Sequence

from ablations.study import Study
from reports.results.group import MAIN, Pair
from reports.results.study_results import OF_RUNS, StudyResults
from reports.screen.sentences import clear_pairs, pairs_of
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

PRINTED = 10
"""So many interactions are on the page, the others out of sight at first."""
_CELLS = {
    "neither": ((False, False), "neither"),
    "only_one": ((True, False), "one alone"),
    "only_other": ((False, True), "other alone"),
    "both": ((True, True), "both"),
}
_PAIR_COLUMNS = (
    Column("one", "one", "left"),
    Column("other", "other", "left"),
    *(Column(key, title) for key, (_, title) in _CELLS.items()),
    Column("predicted", "predicted test nats", parts=("predicted", "predicted_se")),
    Column("fixed", "as a fixed effect", parts=("fixed", *interval95("fixed"))),
    Column("p", "p"),
    Column("q", "q", under="p"),
    Column("verdict", "", "left"),
)
_CARD_COLUMNS = (Column("card", "enhancement", "left"), Column("place", "", "left"), Column("why", "because", "left"))
_NOTES = (
    "An interaction is what two enhancements do together beyond the sum of what each does by itself, over all others "
    "on and off. Those that the runs do not tell apart have equal numbers. The four means are with the predicted "
    "interaction.",
)


def printed_tables(report: Report) -> tuple[Table, ...]:
    """Of a factorial or a screen: the largest interactions, and all that are shown."""
    pairs = _shown_pairs(report)
    clear = clear_pairs(pairs[PRINTED:], report.study.thresholds.alpha)
    return (_pairs_table(report, [*pairs[:PRINTED], *clear], "interactions"),) if pairs else ()


def folded_tables(report: Report) -> tuple[Table, ...]:
    """All interactions where they are many, and what a screen does not vary in all arms."""
    pairs, cards = _shown_pairs(report), cards_table(report.study)
    tables = [_pairs_table(report, pairs, "all-interactions")] if len(pairs) > PRINTED else []
    return (*tables, cards) if report.study.design == "screen" and cards.rows else tuple(tables)


def _shown_pairs(report: Report) -> list[Pair]:
    return pairs_of(report.study, report.pairs) if report.study.design in OF_RUNS else []


def _pairs_table(report: Report, pairs: Sequence[Pair], name: str) -> Table:
    """A row per pair, the largest prediction first."""
    trials, clear = _trials(report.results), clear_pairs(pairs, report.study.thresholds.alpha)
    rows = []
    for pair in pairs:
        fixed, verdict = pair.effect, "shown" if pair in clear else "not shown"
        ends = [fixed.interval95.low, fixed.interval95.high] if fixed.interval95 else []
        predicted = f"{formats.signed(pair.predicted)} ± {pair.predicted_se:.4f}"
        text = formats.with_interval(fixed.delta, fixed.interval95)
        cells = {
            "one": text_cell(pair.one),
            "other": text_cell(pair.other),
            "predicted": Cell(predicted, [pair.predicted, pair.predicted_se], trials, MAIN),
            "fixed": Cell(text, [fixed.delta, *ends], trials, MAIN),
            "p": Cell(formats.p_value(fixed.p), fixed.p, trials, MAIN),
            "q": Cell(formats.q_value(fixed.q), fixed.q, trials, MAIN),
            "verdict": Cell(verdict, verdict),
        }
        means = {key: pair.cells[at] for key, (at, _) in _CELLS.items()}
        cells |= {key: Cell(formats.level(mean), mean, trials, MAIN) for key, mean in means.items()}
        rows.append(Row(fixed.name, cells))
    title = "Interactions of two enhancements" if name == "interactions" else "All interactions of two enhancements"
    return Table(name, title, _PAIR_COLUMNS, tuple(rows), _NOTES)


def cards_table(study: Study) -> Table:
    """What is in all arms as it is, what was left out, and what is varied in a part of the arms only."""
    rows = []
    for contrast in study.contrasts:
        varied = len(contrast.with_it) + len(contrast.without)
        if varied < len(study.arms):
            place = f"varied in {varied} of {len(study.arms)} arms"
            why = "cannot be changed together with another one"
            rows.append(Row(contrast.card, {"card": text_cell(contrast.card), "place": Cell(place), "why": Cell(why)}))
    for place, cards in (("held", study.held), ("left out", study.left_out)):
        for card, why in cards.items():
            rows.append(Row(card, {"card": text_cell(card), "place": Cell(place, place), "why": text_cell(why)}))
    return Table("screened", "Not varied, or not in all arms", _CARD_COLUMNS, tuple(rows))


def _trials(results: StudyResults) -> tuple[str, ...]:
    """The study's own trials that have the main evaluation: every run counts for every number here."""
    return tuple(trial.id for arm in results.study.arms for trial in results.evaluated(arm.id, MAIN).values())
