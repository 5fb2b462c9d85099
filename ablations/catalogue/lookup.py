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
