"""What the arms of a study made of their games with each other."""

from reports.play.rating import wilson
from reports.play.win_rates import WinRate, win_rates
from reports.results.study_results import StudyResults
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell
from reports.tables.verdicts import verdict_text

_COLUMNS = (
    Column("card", "enhancement", "left"),
    Column("rate", "win rate"),
    Column("interval", "95 % interval", under="rate", parts=interval95()),
    Column("wilson", "of these nets alone", brief=False, under="rate", parts=("wilson95_low", "wilson95_high")),
    Column("games", "games"),
    Column("choice", "moves", "left"),
    Column("q", "q", printed=False),
    Column("verdict", "verdict", "left"),
    Column("bound", "smaller than", printed=False),
    Column("seeds", "seeds", under="games"),
)
USUAL = "drawn, full history"
"""How nets choose where a game does not say otherwise; GoNN's own games showed its nets the last moves alone."""


def play_table(results: StudyResults) -> Table | None:
    """A row per card and choice of moves; None while no games are played."""
    rows = tuple(_row(rate) for rate in win_rates(results))
    if not rows:
        return None
    notes = (
        "Points of the arm that has the enhancement, in games with the arm that has not, nets of the same seed "
        "against each other. The interval is over seeds: it is for nets trained anew; the one of these nets alone "
        "(Wilson's) is for further games of theirs. q is over the enhancements with one choice of moves. Drawn: from "
        "GoNN's distribution over the likeliest moves.",
    )
    return Table("play", "Play: with against without", _COLUMNS, rows, notes)


def _row(rate: WinRate) -> Row:
    share, ends = 0.5 + rate.effect.delta, rate.effect.interval95
    low, high = wilson(rate.points, rate.games)
    seeds = [each.seed for each in rate.seeds]
    cells = {
        "card": text_cell(rate.card),
        "rate": Cell(_per_cent(share), share, rate.trials),
        "interval": Cell(
            formats.NONE
            if ends is None
            else f"[{_per_cent(max(0.0, 0.5 + ends.low))}, {_per_cent(min(1.0, 0.5 + ends.high))}]",
            None if ends is None else [0.5 + ends.low, 0.5 + ends.high],
            rate.trials,
        ),
        "games": Cell(formats.count(rate.games), rate.games, rate.trials),
        "wilson": Cell(f"[{_per_cent(low)}, {_per_cent(high)}]", [low, high], rate.trials),
        "choice": text_cell(rate.choice or USUAL),
        "q": Cell(formats.q_value(rate.effect.q), rate.effect.q, rate.trials),
        "bound": Cell("", rate.effect.bound, rate.trials),
        "verdict": Cell(verdict_text(rate.verdict, rate.effect, "win_rate"), rate.verdict, rate.trials),
        "seeds": Cell(formats.seeds(seeds), seeds, rate.trials),
    }
    return Row(f"{rate.card} {rate.choice}".strip(), cells)


def _per_cent(share: float) -> str:
    return f"{100 * share:.1f} %"
