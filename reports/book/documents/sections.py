"""A section for each document other than GoNN's: its tables, with our own measurements."""

from collections.abc import Callable, Mapping, Sequence

from ablations.published_results import Published, PublishedGain, PublishedGames, PublishedRow
from ablations.registry import Registry
from gonn_core.play.rules import RuleSet
from reports.book.documents.curves import curves_table
from reports.book.documents.nets import METRICS_OF, RANKS, nets_table
from reports.book.documents.ours import comparable, counterparts, coverage, level_alone, with_ours
from reports.book.documents.printing import NOT_HERE, legend, mark, number, share
from reports.page import Section
from reports.play.all_games import NOTHING_PLAYED, Played, against_engine
from reports.results.compare import used_trials
from reports.results.costs import mean_cost
from reports.results.group import MAIN
from reports.results.nets import MeasuredNet
from reports.results.page import OnPage, PageRow, judge_page
from reports.study.report import Report
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.formats import in_short

_GAME_COLUMNS = (
    Column("net", "net", "left"),
    Column("source", "told by", "left", under="net"),
    Column("opponent", "against", "left"),
    Column("settings", "rules, settings", "left", under="opponent"),
    Column("result", "result", "left"),
    Column("words", "as the text tells it", "left", under="result"),
    Column("here", "here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_ENGINES = ("GNU Go", "Pachi", "Fuego")
_RULES: Mapping[str, RuleSet] = {"Chinese": "chinese", "Japanese": "japanese"}
NOT_PLAYED = "not played here"


def games_table(published: Published, nets: Sequence[MeasuredNet], played: Played, title: str) -> Table:
    """A row per net and opponent."""
    rows = []
    for place, each in enumerate(published.games):
        settings = "; ".join(part for part in (each.rules and f"{each.rules} rules", each.settings) if part)
        cells = {
            "net": text_cell(each.net),
            "source": text_cell(each.source + mark(each.evidence)),
            "opponent": text_cell(each.opponent),
            "settings": text_cell(settings or formats.NONE),
            "result": text_cell(each.result or formats.NONE),
            "words": text_cell(each.words or formats.NONE),
            "here": _ours(each, nets, played),
            "note": text_cell(each.note or ""),
        }
        rows.append(Row(f"{place}: {each.net}, {each.opponent}", cells))
    note = (
        "Here: points of games won, a draw counting half, of the base as it is scaled here, whatever games it was "
        "trained on, by the rules that the row names; where it names none, by Chinese ones unless told."
    )
    played_here = note if any(each.base for each in published.games) else ""
    notes = tuple(filter(None, (legend(each.evidence for each in published.games), played_here)))
    return Table(f"games-{published.id}", title, _GAME_COLUMNS, tuple(rows), notes)


def _ours(games: PublishedGames, nets: Sequence[MeasuredNet], played: Played) -> Cell:
    """Games of the base's final nets with that engine under the same rules; plainly none else."""
    if games.base is None or games.opponent not in _ENGINES:
        return text_cell(NOT_HERE if games.opponent not in _ENGINES else NOT_PLAYED)
    trials = {
        trial.id: trial.result["samples"]
        for net in nets
        if net.base and net.study.base == games.base
        for trial in net.trials
        if trial.result is not None
    }
    cell = against_engine(played, trials, games.opponent, _RULES.get(games.rules or ""))
    return cell if cell.trials else text_cell(NOT_PLAYED)


_GAIN_COLUMNS = (
    Column("change", "change", "left"),
    Column("net", "for", "left", under="change"),
    Column("gain", "gain as told", "left"),
    Column("cost", "cost as told", "left", under="gain"),
    Column("delta", "Δ test top-1 here", parts=("delta", *interval95())),
    Column("q", "q", under="delta"),
    Column("flops", "FLOPs", under="delta"),
    Column("time", "time per sample", under="delta"),
    Column("ours", "measured here", "left"),
    Column("note", "remarks", "left", brief=False),
)
_NOTE = (
    "Δ top-1: with the change minus without it, in points, with its 95 % interval, on the first test evaluation of the "
    "study, by all runs of its base; q is over all effects on top-1 here, of all bases. "
    "Ratios are with : without. Time is that of training steps, where arms were measured alone."
)


def gains_table(published: Published, reports: Sequence[Report], title: str) -> Table:
    """A row per change and group of runs that measured it, under any base and budget."""
    rows = []
    page = judge_page(reports, [(MAIN, "top1")])
    for place, gain in enumerate(published.gains):
        told = {
            "change": text_cell(gain.change + mark(gain.evidence)),
            "net": text_cell(gain.net or formats.NONE),
            "gain": text_cell(gain.gain),
            "cost": text_cell(gain.cost or formats.NONE),
            "note": text_cell(gain.note or ""),
        }
        ours = [
            (f"{card}, {row.report.study.id}", _effect(row, row.effects[MAIN, "top1"]))
            for card in gain.cards
            for row in page
            if row.card == card and (MAIN, "top1") in row.effects
        ]
        rows += with_ours(f"{place}: {gain.change}", told, ours or [("", _no_gains(gain))])
    notes = tuple(filter(None, (legend(gain.evidence for gain in published.gains), _NOTE)))
    return Table(f"gains-{published.id}", title, _GAIN_COLUMNS, tuple(rows), notes)


def _effect(row: PageRow[Report], page: OnPage) -> dict[str, Cell]:
    results, effect = row.report.results, page.effect
    study, ends = results.study, effect.interval95
    on, off = (mean_cost(results, side) for side in (row.contrast.with_it, row.contrast.without))
    trials, time = used_trials(results, row.contrast, MAIN), on.time_to(off)
    value = [effect.delta, *([] if ends is None else [ends.low, ends.high])]
    where = f"{row.card} on {study.base} ({study.budget_label}, {study.data})"
    return {
        "q": Cell(formats.q_value(effect.q), effect.q, trials, MAIN),
        "delta": Cell(formats.with_interval(effect.delta, ends, "share"), value, trials, MAIN),
        "flops": Cell(formats.ratio(on.flops / off.flops), on.flops / off.flops),
        "time": Cell(formats.ratio(time), time),
        "ours": text_cell(f"{where}, {effect.runs[0]} and {effect.runs[1]} runs"),
    }


def _no_gains(gain: PublishedGain) -> dict[str, Cell]:
    cards = " or ".join(f"NAME={card}" for card in gain.cards)
    way = f"{NOT_HERE}: make ablation {cards}" if cards else f"{NOT_HERE}: no enhancement is this change"
    return {**{key: Cell(formats.NONE) for key in ("delta", "q", "flops", "time")}, "ours": text_cell(way)}


def _here(column: str) -> Column:
    name = f"{column}_ours"
    return Column(name, "here", parts=(name, *interval95(name)), under=column)


_COLUMNS = (
    Column("excluded", "excluded technique", "left"),
    Column("ours", "net measured here", "left", under="excluded"),
    Column("accuracy", "accuracy"),
    Column("accuracy_ours", "here", parts=("accuracy_ours", *interval95("accuracy_ours")), under="accuracy"),
    Column("rank", "rank"),
    Column("rank_ours", "here", parts=("rank_ours", *interval95("rank_ours")), under="rank"),
    Column("probability", "probability"),
    Column(
        "probability_ours", "here", parts=("probability_ours", *interval95("probability_ours")), under="probability"
    ),
)


def ablation_table(registry: Registry, published: Published, nets: Sequence[MeasuredNet], title: str) -> Table:
    """A row per excluded technique and net of ours without it, in the order of the document."""
    rows = [row for row in published.rows if row.excluded is not None]
    shown, used = [], []
    for row in rows:
        told = {
            "excluded": text_cell(f"{row.excluded}{mark(row.evidence)}"),
            "accuracy": share(row.top1, digits=2),
            "rank": number(row.rank, 2),
            "probability": number(row.probability, 4),
        }
        found = counterparts(nets, registry, row.ours)
        used += found
        ours = [(net.trials[0].id, _own(registry, net)) for net in found] or [("", _nothing(row))]
        shown += with_ours(str(row.excluded), told, ours)
    notes = [
        f"{'; '.join(dict.fromkeys(row.structure for row in rows))}; on test games. {RANKS}",
        legend(row.evidence for row in rows),
        *coverage(
            registry,
            used,
            lambda net: f"{net.study.budget_label} budget, {in_short(net.study.coverage)}",
            "; 95 % intervals are in the CSV file",
        ),
    ]
    return Table(f"ablation-{published.id}", title, _COLUMNS, tuple(shown), tuple(filter(None, notes)))


def _own(registry: Registry, net: MeasuredNet) -> dict[str, Cell]:
    chosen = comparable(registry, net)
    cells = {f"{column}_ours": level_alone(net, chosen, *about) for column, about in METRICS_OF.items()}
    return {**cells, "ours": text_cell(net.title)}


def _nothing(row: PublishedRow) -> dict[str, Cell]:
    card = None if row.ours is None else row.ours.card
    cells = {f"{column}_ours": Cell(formats.NONE) for column in METRICS_OF}
    return {**cells, "ours": text_cell(f"{NOT_HERE}: make ablation NAME={card}" if card else NOT_HERE)}


_ABOUT: Mapping[str, tuple[str, str, str]] = {
    "clark_storkey": (
        "Tables of Clark and Storkey",
        "Clark and Storkey",
        "The paper's text is stored without its numbers but those of its abstract; what is marked as from memory is "
        "compared with, never judged by.",
    ),
    "cazenave": (
        "Figures of Cazenave",
        "Cazenave",
        "The paper's accuracies and errors are in figures, whose numbers its text does not tell: here is what it says "
        "of each curve.",
    ),
    "go_nn": (
        "Results of go-NN",
        "go-NN",
        "The document has no table of results and leaves its final accuracy to be added; some numbers are in its code.",
    ),
    "lczero": (
        "Gains told by the lczero fork",
        "lczero fork",
        "Of chess nets with soft targets from a search, in points of policy accuracy; here the same changes for Go.",
    ),
}
"""Published results -> title, whose they are, what to know of them; those of GoNN stand in its three tables."""


def document_sections(
    registry: Registry, nets: Sequence[MeasuredNet], reports: Sequence[Report], played: Played = NOTHING_PLAYED
) -> list[Section]:
    """In the order of the systems; a document without published results has none."""
    sections = []
    for name, (title, whose, text) in _ABOUT.items():
        if name in registry.published:
            tables = _tables(registry, registry.published[name], whose, nets, reports, played)
            sections.append(Section(title, (text,), tables=tables))
    return sections


def _tables(
    registry: Registry,
    published: Published,
    whose: str,
    nets: Sequence[MeasuredNet],
    reports: Sequence[Report],
    played: Played,
) -> tuple[Table, ...]:
    """Of the kinds of results that it holds: nets, ablation, curves, gains, games."""
    plain = [row for row in published.rows if row.excluded is None]
    excluded = [row for row in published.rows if row.excluded is not None]
    kinds: list[tuple[Sequence, Callable[[str], Table]]] = [
        (plain, lambda title: nets_table(registry, published, plain, nets, f"Nets{title}")),
        (excluded, lambda title: ablation_table(registry, published, nets, f"Ablation study{title}")),
        (published.curves, lambda title: curves_table(registry, published, nets, f"Curves{title}")),
        (published.gains, lambda title: gains_table(published, reports, f"Gains{title}")),
        (published.games, lambda title: games_table(published, nets, played, f"Games and ranks{title}")),
    ]
    return tuple(make(f": {whose}") for held, make in kinds if held)
