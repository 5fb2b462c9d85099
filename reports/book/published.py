"""One join of published rows and measured nets: how published numbers are printed, and which nets measured here belong
to them. A number that the document as stored does not state has a mark."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from ablations.published_results import Counterpart, PublishedCurve, PublishedGain, PublishedGames, PublishedRow
from ablations.registry import Registry
from gonn_core.config import has_values
from reports.results.nets import MeasuredNet, net_cost, structure
from reports.tables import formats
from reports.tables.cells import Cell, Column, Row, Table, make_row
from reports.tables.formats import HISTORY, in_short

HERE = "here"
"""First word in the column of the system in our rows."""
NOT_HERE = "not measured here"
INTERVALS = "In brackets 95 % intervals for new seeds and new games."
_MARKS = {
    "stated": ("", ""),
    "derived": (" §", "worked out or concluded from what the document says"),
    "read_from_picture": (" ¶", "read off one of its pictures"),
    "read_from_code": (" †", "from its code or another version of it, not in the document as stored"),
    "unverified_memory": (" ‡", "from memory, not verified"),
}
CERTAINTY = tuple(_MARKS)
"""Kinds of evidence, the surest first."""


Entry = TypeVar("Entry", PublishedRow, PublishedCurve, PublishedGain, PublishedGames)
Ours = list[tuple[str, dict[str, Any]]]
"""Key and values of each of our rows next to a published one."""


def mark(evidence: str) -> str:
    """` ‡`; empty for what a document states."""
    return _MARKS[evidence][0]


def legend(entries: Iterable[Any]) -> list[str]:
    """A note that explains the marks of these entries; none without marks."""
    kinds = {entry.evidence for entry in entries}
    parts = [f"{sign.strip()} {meaning}" for kind, (sign, meaning) in _MARKS.items() if kind in kinds and sign]
    return [f"{'; '.join(parts)}."] if parts else []


def percent(share: float) -> str:
    """`52.5 %`, `41.06 %`: with the decimals that were printed."""
    return f"{100 * share:.{1 if round(share, 3) == share else 2}f} %"


def joined(
    name: str,
    title: str,
    columns: Sequence[Column],
    entries: Sequence[Entry],
    marked: str,
    ours: Callable[[Entry], Ours],
    notes: Sequence[str] = (),
) -> Table:
    """A table of published entries, each repeated for every row of `ours`, which is never empty; its values replace the
    entry's fields. marked: the column that has the mark of the evidence."""
    rows = []
    for number, entry in enumerate(entries):
        published = entry.model_dump()
        published[marked] += mark(entry.evidence)
        for key, values in ours(entry):
            about = f"{number}: {published[marked]}" + (f" / {key}" if key else "")
            rows.append(make_row(columns, about, {**published, **values}))
    return Table(name, title, tuple(columns), tuple(rows), (*legend(entries), *notes))


def system(registry: Registry, net: MeasuredNet) -> str | None:
    """The system of a net's base; None for a base that is no longer declared."""
    return registry.bases[net.study.base].system if net.study.base in registry.bases else None


def comparable(registry: Registry, net: MeasuredNet) -> int | None:
    """Number of the test evaluation that is made as the net's document made its own: GoNN dropped history in its test
    rows too, the others did not. Full history where that evaluation is missing."""
    as_published = net.evaluation("as_published") if system(registry, net) == "gonn" else None
    return as_published if net.evaluated(as_published) else net.evaluation("full")


def coverage(registry: Registry, nets: Sequence[MeasuredNet]) -> list[str]:
    """The games and history with which ours were trained and tested, a sentence for each combination."""
    bases: dict[str, list[str]] = {}
    for net in nets:
        if (number := comparable(registry, net)) is not None:
            reference = net.study.evaluations[number]
            text = f"{net.study.budget_label} budget, {in_short(net.study.coverage)}, tested on "
            text += f"{reference.size_text} ({HISTORY[reference.history]})"
            bases.setdefault(text, []).append(net.study.base)
    sentences = [f"Ours: {', '.join(dict.fromkeys(names))}: {text}." for text, names in bases.items()]
    return [*sentences, INTERVALS] if sentences else []


def counterparts(nets: Sequence[MeasuredNet], registry: Registry, ours: Counterpart | None) -> list[MeasuredNet]:
    """Our nets that a published number is about, scaled as they are here: the base itself, or every net of a comparison
    of the card's settings, by that card or another, that has it in that state, on any base of the same system."""
    if ours is None:
        return []
    if ours.card is None or ours.state is None:
        return [net for net in nets if net.base and net.study.base == ours.base]
    card, state = registry.card(ours.card), ours.state
    alike = [other.id for other in registry.cards.values() if other.toggles.keys() == card.toggles.keys()]
    labels = {f"{word} {name}" for name in alike for word in ("with", "without")}

    def group(net: MeasuredNet) -> tuple:
        return net.study.base, net.study.budget_label, net.study.evaluations

    compared = {group(net) for net in nets if not net.base and net.label in labels}
    return [
        net
        for net in nets
        if group(net) in compared
        and (net.base or net.label in labels)
        and system(registry, net) == registry.bases[ours.base].system
        and has_values(net.config, card.on_base(net.study.base, net.study.budget).values(state))
    ]


def own_row(columns: Sequence[Column], net: MeasuredNet, values: dict[str, Any]) -> Row:
    """A row of a net measured here: system, structure, parameters, training steps, games, and `values`."""
    parameters, samples, seeds = net_cost(net.config, net.cache)[0], net.config.training.samples, len(net.trials)
    trials = tuple(trial.id for trial in net.trials)
    values = {
        "source": f"{HERE}: {net.name}",
        "structure": structure(net.config.net),
        "parameters": Cell(formats.count(parameters), parameters),
        "steps": Cell(f"{formats.samples(samples)}, {seeds} seed{'s' * (seeds != 1)}", samples, trials),
        "data": net.study.data,
        **values,
    }
    return make_row(columns, f"here: {net.name}, {net.study.budget_label}, {net.study.data}, {trials[0]}", values)
