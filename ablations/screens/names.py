"""What NAME=… names for a screen: enhancements one by one, and groups of them.

A group is all of them, those of one system, or those whose toggles lie in one part of the configuration: `features`,
`net.head`, `training.auxiliary` and so on, as the cards' own toggles say.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ablations.catalogue.lookup import find_card
from ablations.claimed import within
from ablations.declarations import Declarations
from ablations.schema import Enhancement
from gonn_core.errors import SettingError

ALL = "all"


@dataclass(frozen=True)
class Named:
    """Ids of enhancements, in the order in which they are named; a group's in alphabetical order.

    singly: those named by themselves; all others came with a group, and may be left out.
    """

    ids: tuple[str, ...]
    singly: frozenset[str]


def groups(declared: Declarations) -> list[str]:
    """Names of all groups of at least two."""
    cards = declared.cards.values()
    systems = sorted({card.system for card in cards})
    parts = {part for card in cards for part in _parts(card)}
    return [ALL, *systems, *sorted(part for part in parts if len(members(declared, part)) > 1)]


def members(declared: Declarations, group: str) -> list[str]:
    """Ids of a group's enhancements; empty for a name that is none."""
    cards = declared.cards.values()
    return [
        card.id for card in cards if group in (ALL, card.system) or all(within(path, group) for path in card.toggles)
    ]


def is_group(declared: Declarations, name: str) -> bool:
    """Whether a name is that of a group, and of no enhancement."""
    return name not in declared.cards and bool(members(declared, name))


def parse(declared: Declarations, text: str) -> Named:
    """What a comma-separated list names. Raises SettingError (NAME)."""
    ids: dict[str, None] = {}
    singly = []
    for part in (part.strip() for part in text.split(",")):
        if part in declared.cards:
            singly.append(part)
            ids[part] = None
        elif found := members(declared, part):
            ids.update(dict.fromkeys(found))
        else:
            find_card(declared, part, f"no such enhancement, nor a group ({', '.join(groups(declared))})")
    if len(set(singly)) < len(singly):
        raise SettingError("NAME", text, "an enhancement is named twice", "each of them once")
    return Named(tuple(ids), frozenset(singly))


def _parts(card: Enhancement) -> Iterator[str]:
    """Every part of the configuration that holds a toggle of a card: `net`, `net.head`, `net.head.pooling`."""
    for path in card.toggles:
        steps = path.split(".")
        yield from (".".join(steps[:count]) for count in range(1, len(steps)))
