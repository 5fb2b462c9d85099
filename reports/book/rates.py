"""Learning rates that searches found: a line a search, and the figure of each that is complete."""

from collections.abc import Sequence

from reports.cache import Picture
from reports.page import Section
from reports.search.figure import draw_search
from reports.search.report import SearchReport
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, interval95, text_cell

TITLE = "Learning rates"
NONE_YET = (
    "No search yet: `make lr-search NAME=gonn-b5 DATA=kgs` looks for the best learning rate of a base, or of an arm "
    "such as `NAME=elu`."
)
_COLUMNS = (
    Column("net", "net", "left"),
    Column("data", "budget, data", "left", under="net"),
    Column("trials", "trials: done, given up, diverged", parts=("done", "given_up", "diverged")),
    Column("range", "rates tried", exact=True, parts=("lowest_rate", "highest_rate")),
    Column("rate", "best rate"),
    Column("interval", "95 % interval", under="rate", parts=interval95()),
    Column("own", "rate without a search", under="rate", exact=True),
    Column("nats", "validation nats there", parts=("validation_nats",)),
    Column("gain", "against that without", under="nats"),
    Column("search", "search", "left", under="net"),
)


def rates_section(searches: Sequence[SearchReport]) -> Section:
    """The table and figures of all searches, or the command that would make one."""
    if not searches:
        return Section(TITLE, (NONE_YET,))
    text = (
        "Found by Optuna on validation games with seeds that no comparison uses. `gonn ablate NAME --lr "
        "found:SEARCH` adopts a rate; the page of each search,"
        " with all its trials, is made by `gonn search show SEARCH`."
    )
    pictures = [_picture(each) for each in searches if any(tried.points for tried in each.tried)]
    note = (
        "Best rate: the lowest point of a parabola in the logarithm of the rate through the better half of the "
        "trials; its interval is a bootstrap over trials."
        " Nats are the parabola's; the trial without a search, whose nats are compared, scatters around it as every "
        "single trial does."
    )
    table = Table("rates", TITLE, _COLUMNS, tuple(_row(each) for each in searches), (note,))
    return Section(TITLE, (text,), tuple(pictures), (table,))


def _picture(report: SearchReport) -> Picture:
    search, name = report.search, f"search-{report.search.id}"

    def draw() -> dict[str, bytes]:
        return {file.replace("figure", name, 1): data for file, data in draw_search(report).items()}

    return Picture(
        name, f"Validation nats over learning rate: {search.title}, {search.budget_label} budget, {search.data}", draw
    )


def _row(report: SearchReport) -> Row:
    search, optimum = report.search, report.optimum
    states = [sum(tried.state == state for tried in report.tried) for state in ("done", "pruned", "diverged")]
    own = next((tried.nats for tried in report.tried if tried.state == "done" and tried.rate == search.own_rate), None)
    gain = None if own is None or optimum is None else optimum.nats - own
    ends = None if optimum is None or optimum.interval is None else [optimum.interval.low, optimum.interval.high]
    behind = tuple(dict.fromkeys(tried.trial for tried in report.tried))
    cells = {
        "net": text_cell(search.title),
        "data": text_cell(f"{search.budget_label}, {search.data}"),
        "trials": Cell(f"{', '.join(map(str, states))} of {search.trials}", states, behind),
        "range": Cell(f"{search.rates[0]:.3g} to {search.rates[1]:.3g}", list(search.rates)),
        "rate": Cell(formats.NONE if report.rate is None else f"{report.rate:g}", report.rate, behind),
        "interval": Cell(formats.NONE if ends is None else f"[{ends[0]:.3g}, {ends[1]:.3g}]", ends, behind),
        "own": Cell(f"{search.own_rate:g}", search.own_rate),
        "nats": Cell(
            formats.NONE if optimum is None else formats.level(optimum.nats), optimum and optimum.nats, behind
        ),
        "gain": Cell(formats.NONE if gain is None else formats.signed(gain), gain, behind),
        "search": Cell(search.id, search.id, escape=True),
    }
    return Row(search.id, cells)
