"""Enhancements by words, and the names that somebody may have meant: ids, titles, settings with their values.

A word is looked for without regard to case; `_`, `-` and `.` part words as blanks do.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from ablations.declarations import Declarations
from ablations.schema import Enhancement
from ablations.wording import value_text
from gonn_core.errors import SettingError, UserError

SHOWN = 5
"""At most so many names are suggested."""
EXAMPLES = ("last_move_input", "parametric_relu", "global_pooling_head")
"""Named where none was given."""
ALIKE = 0.6
"""Ratio of matching characters (difflib) from which a name may be a slip of another."""


def matching(cards: Iterable[Enhancement], words: str) -> list[Enhancement]:
    """The cards in whose id, title, summary or settings each of the words begins some word, or where none has them all
    so, stands anywhere in one; the likeliest first."""
    wanted, read = _words(words), [(card, [_words(text) for text in _texts(card)]) for card in cards]
    for ways in (_BEGINS, _WITHIN):
        places = [(card, [_place(texts, word, ways) for word in wanted]) for card, texts in read]
        found = [(max(at for at in each if at), card) for card, each in places if each and None not in each]
        if found:
            return [card for _, card in sorted(found, key=lambda pair: (pair[0], pair[1].id))]
    return []


def suggestions(declared: Declarations, name: str) -> list[str]:
    """Ids of the cards that a name may have meant, the likeliest first; none where nothing is like it."""
    name = name[:100]
    slips = difflib.get_close_matches(name.lower(), declared.cards, SHOWN, 0.85)
    cards = [card for each in declared.cards if (card := _readable(declared, each)) is not None]
    about = [card.id for card in matching(cards, name)]
    similar = difflib.get_close_matches(name.lower(), declared.cards, SHOWN, ALIKE)
    parts = {part: each for each in declared.cards for part in _words(each)}
    by_part = [parts[near] for near in difflib.get_close_matches(name.lower(), parts, SHOWN, 0.75)]
    return list(dict.fromkeys([*slips, *about, *similar, *by_part]))[:SHOWN]


def find_card(declared: Declarations, name: str, problem: str = "no such enhancement") -> Enhancement:
    """The card of that id. Raises SettingError (NAME) with those that the name may have meant, or UserError where none
    is given."""
    if name in declared.cards:
        return declared.cards[name]
    count = len(declared.cards)
    if not name.strip():
        known = [each for each in EXAMPLES if each in declared.cards] or list(declared.cards)[:3]
        examples = ", ".join(f"NAME={each}" for each in known)
        raise UserError(f"NAME: not given; for example {examples}; `make list` shows all {count}")
    near = suggestions(declared, name)
    shown = (
        f"{', '.join(near)}; `make list` shows all {count}" if near else f"one of the {count} that `make list` shows"
    )
    raise SettingError("NAME", name, problem if near else f"{problem}, nor one like it", shown)


def _readable(declared: Declarations, name: str) -> Enhancement | None:
    """A card, None where its file is bad: `gonn check` says so, a suggestion does without."""
    try:
        return declared.cards[name]
    except UserError:
        return None


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _texts(card: Enhancement) -> Iterator[str]:
    """What is searched of a card, the telling first."""
    yield " ".join(value_text(toggle.on) for toggle in card.toggles.values())
    yield card.id
    yield card.title
    yield " ".join(card.toggles)
    yield " ".join(value_text(toggle.off) for toggle in card.toggles.values())
    yield f"{card.system} {card.summary}"


_BEGINS: tuple[Callable[[str, str], bool], ...] = (str.__eq__, str.startswith)
_WITHIN: tuple[Callable[[str, str], bool], ...] = (lambda text, word: len(word) > 2 and word in text,)


def _place(texts: list[list[str]], word: str, ways: Sequence[Callable[[str, str], bool]]) -> tuple[int, int] | None:
    """(number of the first way in which it is there, number of the first text where it is so); None where it is
    nowhere."""
    for kind, way in enumerate(ways):
        for number, words in enumerate(texts):
            if any(way(each, word) for each in words):
                return kind, number
    return None


TOPICS = {
    "input": "what the net is shown of a position",
    "block": "the body of the net: layers, blocks, activations, their first weights",
    "head": "from the body to the moves",
    "loss": "what is learned, beside the move too",
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


def topic_of_setting(path: str) -> str:
    """The topic of a setting such as `net.head.pooling`."""
    return BEGINNINGS[max((start for start in BEGINNINGS if path.startswith(start)), key=len)]


def topic_of(card: Enhancement) -> str:
    """The topic of a card: that of the setting which it names first."""
    return topic_of_setting(next(iter(card.toggles)))


def by_topic(cards: Iterable[Enhancement]) -> dict[str, list[Enhancement]]:
    """Topic -> its cards, in the order of TOPICS; topics without any are left out."""
    found: dict[str, list[Enhancement]] = {topic: [] for topic in TOPICS}
    for card in cards:
        found[topic_of(card)].append(card)
    return {topic: those for topic, those in found.items() if those}
