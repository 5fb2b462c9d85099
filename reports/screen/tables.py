"""Tables of interactions, of pairs of enhancements, and of what a screen holds or leaves out."""

from collections.abc import Mapping

from reports.results.group import MAIN
from reports.screen.findings import RunsFindings
from reports.stats.interactions import AliasString
from reports.stats.runs import Estimate
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

_SHOWN, _NOT_SHOWN, _OVERLAPS = "shown", "not shown", "holds a part of one that is shown"
_STRING_COLUMNS = (
    Column("pairs", "interactions of two", "left"),
    Column("value", "Δ test nats"),
    Column("interval", "95 % interval", under="value", parts=interval95()),
    Column("p", "p"),
    Column("p_adjusted", "adjusted", under="p"),
    Column("verdict", "", "left"),
)
_PAIR_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("beside", "and", "left"),
    Column("without", "Δ test nats without it", parts=("without", *interval95("without"))),
    Column("beside_it", "Δ test nats with it", parts=("with", *interval95("with"))),
    Column("interaction", "half the difference", parts=("interaction", *interval95("interaction"))),
    Column("p", "p of it", under="interaction"),
)
_MEAN_COLUMNS = (
    Column("one", "one", "left"),
    Column("other", "other", "left"),
    Column("neither", "neither"),
    Column("only_one", "one alone"),
    Column("only_other", "other alone"),
    Column("both", "both"),
)
_ALONE_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("off", "Δ test nats, all others off", parts=("off", *interval95("off"))),
    Column("mean", "mean over the others", parts=("mean", *interval95("mean"))),
    Column("on", "all others on", parts=("on", *interval95("on"))),
)
_CARD_COLUMNS = (Column("card", "enhancement", "left"), Column("place", "", "left"), Column("why", "because", "left"))


def printed_tables(found: RunsFindings) -> tuple[Table, ...]:
    """On the page: of a factorial all, of a screen the pairs behind strings that stand out."""
    factorial = found.study.design == "factorial"
    tables = [strings_table(found)] if factorial else []
    if found.pairs:
        tables += [pairs_table(found), means_table(found)]
    return (*tables, *([alone_table(found)] if found.alone else []))


def folded_tables(found: RunsFindings) -> tuple[Table, ...]:
    """Out of sight at first: all alias strings of a screen, and what it does not vary."""
    if found.study.design == "factorial":
        return ()
    cards = cards_table(found)
    return (strings_table(found), *([cards] if cards.rows else []))


def pairs_text(string: AliasString) -> str:
    """`a×b + c×d − e×f`."""
    parts = [(" + " if sign > 0 else " − ") + f"{one}×{other}" for (one, other), sign in string.pairs.items()]
    return "".join(parts).removeprefix(" + ")


def strings_table(found: RunsFindings) -> Table:
    """A row per string, the largest first."""
    shown, trials = found.shown, _trials(found)
    rows = []
    for string in found.interactions.strings:
        text = pairs_text(string)
        cells = {"pairs": text_cell(text), "verdict": text_cell(string.reason or _NOT_SHOWN)}
        if string in shown:
            cells["verdict"] = Cell(_SHOWN, _SHOWN)
        elif any(larger.first in string.overlaps for larger in shown):
            cells["verdict"] = Cell(_OVERLAPS, _OVERLAPS)
        if string.estimate is None:
            cells |= {key: Cell(formats.NONE) for key in ("value", "interval", "p", "p_adjusted")}
        else:
            each = string.estimate
            cells |= {
                "value": Cell(formats.signed(each.value), each.value, trials, MAIN),
                "interval": Cell(formats.interval(each.interval95), _ends(each), trials, MAIN),
                "p": Cell(formats.p_value(each.p), each.p, trials, MAIN),
                "p_adjusted": Cell(formats.p_value(string.p_adjusted), string.p_adjusted, trials, MAIN),
            }
        rows.append(Row(text, cells))
    return Table("interactions", "Interactions of two enhancements", _STRING_COLUMNS, tuple(rows), _STRING_NOTES)


_STRING_NOTES = (
    "An interaction is half of what the effect of one enhancement differs by with and without the other: with it the "
    "effect is the main effect plus the interaction, without it the main effect minus the interaction. Interactions in "
    "one row cannot be told apart here: their sum is estimated, with the signs given; those of enhancements with large "
    "main effects come first. p is adjusted over the rows. Where enhancements exclude each other, rows overlap: one of "
    "a part of the arms holds a part of one of all of them.",
)


def pairs_table(found: RunsFindings) -> Table:
    """Two rows per pair: each card without and with the other."""
    rows, trials = [], _trials(found)
    for pair in found.pairs:
        for card, beside, (without, with_it) in (
            (pair.one, pair.other, pair.of_one),
            (pair.other, pair.one, pair.of_other),
        ):
            cells = {
                "card": text_cell(card),
                "beside": text_cell(beside),
                "without": _estimate_cell(without, trials),
                "beside_it": _estimate_cell(with_it, trials),
                "interaction": _estimate_cell(pair.interaction, trials),
                "p": Cell(formats.p_value(pair.interaction.p), pair.interaction.p, trials, MAIN),
            }
            rows.append(Row(f"{card} beside {beside}", cells))
    notes = (
        "Means over all other enhancements on and off; of a screen as if this were the only interaction of its string.",
        "p of single pairs; those of all interactions, adjusted, stand in the table of interactions.",
    )
    return Table("pairs", "An enhancement without and with another", _PAIR_COLUMNS, tuple(rows), notes)


def means_table(found: RunsFindings) -> Table:
    """The four means of each pair."""
    rows, trials = [], _trials(found)
    places: Mapping[str, tuple[bool, bool]] = {
        "neither": (False, False),
        "only_one": (True, False),
        "only_other": (False, True),
        "both": (True, True),
    }
    for pair in found.pairs:
        cells = {key: Cell(formats.level(pair.cells[at]), pair.cells[at], trials, MAIN) for key, at in places.items()}
        cells |= {"one": text_cell(pair.one), "other": text_cell(pair.other)}
        rows.append(Row(f"{pair.one} and {pair.other}", cells))
    return Table("pair-means", "Loss of pairs of enhancements (test nats)", _MEAN_COLUMNS, tuple(rows))


def alone_table(found: RunsFindings) -> Table:
    """Of a factorial: each card with all others off, on the whole, and with all others on."""
    rows, trials = [], _trials(found)
    for card, (off, on) in found.alone.items():
        effect = found.nats.effect(card)
        mean = Cell(formats.NONE)
        if effect is not None:
            ends = [effect.interval95.low, effect.interval95.high] if effect.interval95 else []
            text = formats.with_interval(effect.delta, effect.interval95)
            mean = Cell(text, [effect.delta, *ends], trials, MAIN)
        cells = {"card": text_cell(card), "off": _estimate_cell(off, trials), "mean": mean}
        rows.append(Row(card, {**cells, "on": _estimate_cell(on, trials)}))
    return Table("alone", "Each enhancement alone and beside all others", _ALONE_COLUMNS, tuple(rows))


def cards_table(found: RunsFindings) -> Table:
    """What stands in all arms as it does, what was left out, and what is varied in a part of the arms only."""
    study, rows = found.study, []
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


def _trials(found: RunsFindings) -> tuple[str, ...]:
    """All trials that have the main evaluation: every run counts for every number here."""
    arms = found.results.study.arms
    return tuple(trial.id for arm in arms for trial in found.results.evaluated(arm.id, MAIN).values())


def _ends(estimate: Estimate) -> list[float] | None:
    return [estimate.interval95.low, estimate.interval95.high] if estimate.interval95 else None


def _estimate_cell(estimate: Estimate | None, trials: tuple[str, ...]) -> Cell:
    if estimate is None:
        return Cell(formats.NONE)
    text = formats.with_interval(estimate.value, estimate.interval95)
    return Cell(text, [estimate.value, *(_ends(estimate) or ())], trials, MAIN)
