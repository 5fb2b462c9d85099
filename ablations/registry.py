"""The registry: declarations by name, checked against the configuration schema and each other when they are used.

    registry = load_registry()
    card = registry.card("parametric_relu")

A bad declaration is one line naming the file and the setting, as soon as somebody uses it; `check` (`gonn check`) goes
through all of them. Needs only pydantic and PyYAML.
"""

import difflib
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ablations.checks import check_base, check_budget, check_card, check_published
from ablations.declarations import FOLDER, Declarations, Declared, find, read_declarations
from ablations.schema import YAML, Base, Budget, Enhancement
from ablations.wording import value_text
from gonn_core.errors import SettingError, UserError


@dataclass(frozen=True)
class Registry(Declarations):
    """Declarations by name. Its methods check what they give; its mappings are as the files say."""

    _checked: dict[tuple[str, str], object] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Kind and id -> the declaration that was found to be good; another of that id is checked again."""

    def card(self, name: str) -> Enhancement:
        """The enhancement of that id. Raises SettingError (NAME) listing those that the name may have meant, or what is
        wrong with it; UserError where none is given."""
        return self._sound("card", find_card(self, name), check_card)

    def base(self, name: str) -> Base:
        """The base of that id or further name, or in a YAML file anywhere, whose name is then its id. Raises
        SettingError (BASE), InputError, UserError where none is given."""
        if not name.strip():
            count = len(self.bases)
            raise UserError(f"BASE: not given; for example BASE=gonn-b5; `gonn list --bases` shows all {count}")
        if name.endswith(YAML) and name not in self.bases:
            name = self.bases.take(Path(name))
        if name not in self.bases:
            name = next((base.id for base in self.bases.values() if name in base.also_called), name)
        return self._sound("base", find(self.bases, "BASE", name, "no such base"), check_base)

    def budget(self, name: str) -> Budget:
        """The budget of that id. Raises SettingError (BUDGET)."""
        return self._sound("budget", find(self.budgets, "BUDGET", name, "no such budget"), check_budget)

    def check(self) -> None:
        """Read and check everything. Raises InputError or SettingError at the first bad declaration."""
        for name in self.bases:
            self.base(name)
        for name in self.budgets:
            self.budget(name)
        for name in self.cards:
            self.card(name)
        for published in self.published.values():
            check_published(self, published)

    def _sound(self, kind: str, declared: Declared, check: Callable[[Declarations, Declared], None]) -> Declared:
        if self._checked.get((kind, declared.id)) is not declared:
            check(self, declared)
            self._checked[kind, declared.id] = declared
        return declared


_CHECKED: dict[tuple[str, str], object] = {}
"""Of all registries of this package's declarations."""


def load_registry(folder: Path | None = None) -> Registry:
    """The declarations of `folder` (those of this package unless given). Raises InputError or SettingError for files
    out of place. Those of this package are checked once a process: a command uses several registries."""
    registry = Registry(**read_declarations(FOLDER if folder is None else Path(folder)))
    if folder is None:
        object.__setattr__(registry, "_checked", _CHECKED)
    return registry


SHOWN = 5
"""At most so many names are suggested."""
EXAMPLES = ("last_move_input", "parametric_relu", "global_pooling_head")
"""Shown when no name is given."""


def matching(cards: Iterable[Enhancement], text: str) -> list[Enhancement]:
    """The cards that have all words of `text`, or words that begin so, in id, title, summary, settings or values. Those
    with a word in their id or a value come first, of these the ones that change least."""
    words, matches = _words(text), []
    for card in cards if words else ():
        values = [value_text(value) for toggle in card.toggles.values() for value in (toggle.on, toggle.off)]
        first = _words(f"{card.id} {' '.join(values)}")
        last = _words(f"{card.title} {' '.join(card.toggles)} {card.system} {card.summary}")
        if all(_begins(word, first + last) for word in words):
            matches.append((not all(_begins(word, first) for word in words), len(card.toggles), card.id, card))
    return [card for *_, card in sorted(matches, key=lambda match: match[:3])]


def suggestions(declared: Declarations, name: str) -> list[str]:
    """Ids of the cards that a name may mean, the likeliest first; empty when nothing is like it."""
    name = name[:100]
    close, similar = (difflib.get_close_matches(name.lower(), declared.cards, SHOWN, ratio) for ratio in (0.8, 0.6))
    cards = []
    for card in declared.cards:
        with suppress(UserError):  # a bad file: `gonn check` reports it
            cards.append(declared.cards[card])
    about = [card.id for card in matching(cards, name)]
    return list(dict.fromkeys([*close, *about, *similar]))[:SHOWN]


def find_card(declared: Declarations, name: str, problem: str = "no such enhancement") -> Enhancement:
    """The card of that id. Raises SettingError (NAME) with the nearest ids, or UserError when no name is given."""
    if name in declared.cards:
        return declared.cards[name]
    everything = f"`make list` shows all {len(declared.cards)}"
    if not name.strip():
        raise UserError(f"NAME: not given; for example {', '.join(f'NAME={card}' for card in EXAMPLES)}; {everything}")
    raise SettingError(
        "NAME", name, problem, "; ".join(filter(None, [", ".join(suggestions(declared, name)), everything]))
    )


def _begins(word: str, words: Iterable[str]) -> bool:
    return any(known.startswith(word) for known in words)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


TOPICS = {
    "input": "what the net is shown of a position",
    "block": "the body of the net: layers, blocks, activations, their first weights",
    "head": "from the body to the moves",
    "loss": "what is learned, auxiliary targets included",
    "optimiser": "how weights are changed: rule, momentum, batch, averages",
    "data": "which games and positions, and how they are turned",
    "schedule": "how the learning rate changes over a run",
}
"""Topic -> what it is, in the order of a list."""
BEGINNINGS = {
    "data": "data",
    "data.history": "input",
    "evaluation": "data",
    "features": "input",
    "net": "block",
    "net.conv.head": "head",
    "net.conv.position_bias": "head",
    "net.head": "head",
    "net.residual.output_planes": "head",
    "training": "optimiser",
    "training.auxiliary": "loss",
    "training.loss": "loss",
    "training.mask_illegal": "loss",
    "training.plane_weights": "loss",
    "training.policy_weight": "loss",
    "training.schedule": "schedule",
}
"""Beginning of a setting's path -> its topic; the longest counts."""


def topic_of(card: Enhancement) -> str:
    """The topic of a card: that of the setting which it names first."""
    path = next(iter(card.toggles))
    return BEGINNINGS[max((start for start in BEGINNINGS if path.startswith(start)), key=len)]


def by_topic(cards: Iterable[Enhancement]) -> dict[str, list[Enhancement]]:
    """Topic -> its cards, in the order of TOPICS; topics without any are left out."""
    topics: dict[str, list[Enhancement]] = {topic: [] for topic in TOPICS}
    for card in cards:
        topics[topic_of(card)].append(card)
    return {topic: of_topic for topic, of_topic in topics.items() if of_topic}
