"""Published games against engines and ranks on servers, with what nets measured here made of the same opponent."""

from collections.abc import Mapping, Sequence

from ablations.published_results import Published, PublishedGames
from gonn_core.play.rules import RuleSet
from reports.book.documents.printing import NOT_HERE, legend, mark
from reports.play.all_games import Played, against_engine
from reports.results.nets import MeasuredNet
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, text_cell

_COLUMNS = (
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
    for number, each in enumerate(published.games):
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
        rows.append(Row(f"{number}: {each.net}, {each.opponent}", cells))
    note = (
        "Here: points of games won, a draw counting half, of the base as it is scaled here, whatever games it was "
        "trained on, by the rules that the row names; where it names none, by Chinese ones unless told."
    )
    played_here = note if any(each.base for each in published.games) else ""
    notes = tuple(filter(None, (legend(each.evidence for each in published.games), played_here)))
    return Table(f"games-{published.id}", title, _COLUMNS, tuple(rows), notes)


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
