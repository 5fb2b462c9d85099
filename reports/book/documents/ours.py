"""Which nets measured here stand beside a published number, and how they are read."""

from collections.abc import Callable, Sequence

from ablations.published_results import Counterpart
from ablations.registry import Registry
from gonn_core.config import has_values
from gonn_core.metrics import METRICS
from reports.results.nets import MeasuredNet, level, subset_text
from reports.tables import formats
from reports.tables.cells import Cell, Row
from reports.tables.formats import HISTORY


def system(registry: Registry, net: MeasuredNet) -> str | None:
    """The system of a net's base; None for a base that is no longer declared."""
    return registry.bases[net.study.base].system if net.study.base in registry.bases else None


def key(net: MeasuredNet) -> str:
    """Of a row of ours: the net and its first trial."""
    return f"here: {net.name}, {net.study.budget_label}, {net.study.data}, {net.trials[0].id}"


def comparable(registry: Registry, net: MeasuredNet) -> int | None:
    """Number of the test evaluation that is made as the net's document made its own: GoNN dropped history in its test
    rows too, the others did not. Where that one was not made, full history."""
    wanted = net.evaluation("as_published") if system(registry, net) == "gonn" else None
    return wanted if net.evaluated(wanted) else net.evaluation("full")


def coverage(
    registry: Registry, nets: Sequence[MeasuredNet], games: Callable[[MeasuredNet], str], further: str = ""
) -> list[str]:
    """On which games, and with what history, ours were tested, a sentence for each that differs: `games` of a net in
    words, `further` at the end of each sentence."""
    about: dict[str, list[str]] = {}
    for net in nets:
        number = comparable(registry, net)
        if number is not None:
            reference = net.study.evaluations[number]
            text = f"{games(net)}, tested on {subset_text(reference)} ({HISTORY[reference.history]})"
            about.setdefault(text, []).append(net.study.base)
    return [f"Ours: {', '.join(dict.fromkeys(bases))}: {text}{further}." for text, bases in about.items()]


def counterparts(nets: Sequence[MeasuredNet], registry: Registry, ours: Counterpart | None) -> list[MeasuredNet]:
    """Nets that a published number is of, as they are scaled here: the base as it stands, or whichever net of a
    comparison of its settings, of that card or another, has it in that state, on any base of the same system."""
    if ours is None:
        return []
    if ours.card is None or ours.state is None:
        return [net for net in nets if net.base and net.study.base == ours.base]
    paths = registry.card(ours.card).toggles.keys()
    alike = [card.id for card in registry.cards.values() if card.toggles.keys() == paths]
    names = {f"{state} {card}" for card in alike for state in ("with", "without")}
    compared = {_group(net) for net in nets if not net.base and net.label in names}
    wanted, found = registry.bases[ours.base].system, []
    for net in nets:
        if _group(net) in compared and (net.base or net.label in names) and system(registry, net) == wanted:
            card = registry.card(ours.card).on_base(net.study.base, net.study.budget)
            if has_values(net.config, card.values(ours.state)):
                found.append(net)
    return found


def _group(net: MeasuredNet) -> tuple:
    return net.study.base, net.study.budget_label, net.study.evaluations


def level_alone(net: MeasuredNet, number: int | None, metric: str, digits: int | None = None) -> Cell:
    """A metric of one net as text, without its interval, which the value holds; a dash where it was not measured."""
    measured = None if number is None else level(net, number, metric)
    if measured is None:
        return Cell(formats.NONE)
    ends = [] if measured.interval95 is None else [measured.interval95.low, measured.interval95.high]
    text = formats.level(measured.delta, METRICS[metric].unit) if digits is None else f"{measured.delta:.{digits}f}"
    return Cell(text, [measured.delta, *ends], tuple(trial.id for trial in net.evaluated(number)), number)


def with_ours(name: str, published: dict[str, Cell], ours: Sequence[tuple[str, dict[str, Cell]]]) -> list[Row]:
    """A row for each of ours beside the published cells; `ours`: (key, cells), never empty."""
    return [Row(f"{name} / {mine}" if mine else name, {**published, **cells}) for mine, cells in ours]
