"""Which enhancements are screened on a base, which stand still in all arms, and which are left out, each with why.

Of enhancements that are named one by one each must fit, as in other designs. Of a group those that do not fit are left
out.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ablations.arms import base_for_most, misfit
from ablations.conditions import card_state
from ablations.registry import Registry
from ablations.schema import Base, Budget, Enhancement
from ablations.screens.flips import Flips, with_cards
from ablations.screens.fractions import FRACTIONS, LARGEST, LEAST, exclusive_groups, group_width, make_screen
from ablations.screens.names import Named
from ablations.wording import claim_text
from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError

Reason = Callable[[Enhancement], str | None]
LARGE = 0.1
"""Nats: an effect known to be this large is not screened with a group, for its interactions would stand among the
others' effects."""


@dataclass(frozen=True)
class Place:
    """Where a screen takes place: a base, its configuration under a budget, and the cards of HOLD in its form."""

    registry: Registry
    base: Base
    budget: Budget
    config: TrialConfig
    """Without what is held."""
    hold: tuple[Enhancement, ...] = ()

    def formed(self, card: Enhancement) -> Enhancement:
        """A card with the toggles that it has here."""
        return card.on_base(self.base.id, self.budget.id)

    @cached_property
    def whole_base(self) -> Base:
        """The base as published, with what is held put in: what conditions of cards are looked up in."""
        held = [self.registry.cards[card.id].on_base(self.base.id) for card in self.hold]
        return self.base.model_copy(update={"config": with_cards(self.base.config, held)})


@dataclass(frozen=True)
class Choice:
    """What is screened, in the form of the base; held and left_out: card -> why."""

    flips: Flips
    cards: tuple[Enhancement, ...]
    held: Mapping[str, str]
    left_out: Mapping[str, str] = field(default_factory=dict)


def base_of_most(registry: Registry, named: Named) -> str:
    """The base on which most of the cards are compared when none is named; of those that can be screened, if any."""
    cards = [registry.cards[name] for name in named.ids]
    paired = [card for card in cards if _own_reason(card) is None]
    return Counter(card.base for card in paired or cards).most_common(1)[0][0]


def choose(place: Place, named: Named, refused: Reason, large: Reason) -> Choice:
    """The screen of what was named; those named singly first, then those of the base's own system.

    refused: why a card cannot be here for reasons of its learning rate and the like; large: that a card's effect is
    known to be large. Raises SettingError (NAME, HOLD).
    """
    declared = place.registry.cards
    for card in place.hold:
        if problem := misfit(place.registry, declared[card.id], place.whole_base):
            raise SettingError("HOLD", card.id, problem, f"enhancements that {place.base.id} can have")
    held = {card.id: _held_as(place, card) for card in place.hold}
    system = place.base.system
    names = sorted(named.ids, key=lambda name: name not in named.singly and 1 + (declared[name].system != system))
    cards = tuple(place.formed(declared[name]) for name in names)
    flips = Flips(place.base.id, place.config, cards, place.hold)
    sieve = _Sieve(named.singly)
    fitting: list[Enhancement] = []
    for card in cards:
        if card.id in held:
            sieve.refuse(card.id, "HOLD has it already", told=False)
        elif problem := _misfit(place, card):
            if card.id in named.singly:
                raise _wrong_base(place, named, card.id, problem)
            sieve.refuse(card.id, problem)
        elif problem := _own_reason(card) or refused(card) or flips.unfit(card):
            sieve.refuse(card.id, problem)
        elif twin := next((other for other in fitting if flips.equal(card, other)), None):
            sieve.refuse(card.id, f"computes the same as {twin.id} here")
        elif card.id not in named.singly and (known := large(card)):
            held[card.id] = f"as in {flips.base_name}: {known}"
        else:
            fitting.append(card)
    fitting = _fewer_exclusive(fitting, flips, sieve)
    fitting = _fewer_columns(fitting, flips, sieve)
    fitting = _fewer_repeats(fitting, flips, sieve)
    if len(fitting) < LEAST:
        left = "; ".join(f"{card}: {reason}" for card, reason in sieve.left_out.items())
        problem = f"{len(fitting)} enhancements can be screened on {place.base.id}" + (f" ({left})" if left else "")
        raise SettingError("NAME", ",".join(named.ids), problem, f"at least {LEAST}, or another design")
    for card in fitting:
        place.registry.card(card.id)  # is its declaration sound?
    return Choice(flips, tuple(fitting), held, sieve.left_out)


class _Sieve:
    """Who does not fit: an error for a card that was named by itself, a note for one that came with a group."""

    def __init__(self, singly: frozenset[str]):
        self._singly = singly
        self.left_out: dict[str, str] = {}

    def refuse(self, card: str, reason: str, told: bool = True) -> None:
        """Raises SettingError (NAME) for a card named by itself. told: whether it is listed otherwise."""
        if card in self._singly:
            raise SettingError("NAME", card, f"cannot be screened here: {reason}", "others, or DESIGN=add-one")
        if told:
            self.left_out[card] = reason

    def those_of_groups(self, cards: Sequence[str]) -> list[str]:
        """The cards that came with a group."""
        return [card for card in cards if card not in self._singly]


def _held_as(place: Place, card: Enhancement) -> str:
    state = card_state(place.config, card.toggles)
    return f"HOLD: on in all arms{', as in ' + place.base.id if state == 'on' else ''}"


def large_claim(card: Enhancement) -> str | None:
    """The first claim of a card on nats that is at least `LARGE` at both of its ends, in words; None without one."""
    for claim in card.claims:
        of_nats = claim.metric == "nats" and claim.quantity == "difference"
        if of_nats and claim.bounds is not None and min(map(abs, claim.bounds)) >= LARGE:
            return f"claimed {claim_text(claim)}"
    return None


def _misfit(place: Place, card: Enhancement) -> str | None:
    """Why a card cannot be compared on the base, with the card that would have to be held, if one is missing."""
    base = place.whole_base
    problem = misfit(place.registry, place.registry.cards[card.id], base)
    if problem is None:
        return None
    missing = [
        condition.card
        for condition in card.requires
        if condition.card is not None and problem == f"{card.id} needs {condition.card}"
    ]
    return f"{problem}, which {base.id} lacks: HOLD={missing[0]} puts it in" if missing else problem


def _wrong_base(place: Place, named: Named, card: str, problem: str) -> SettingError:
    """Of a card named by itself that does not fit the base: where the base is from, and which base fits most cards."""
    cards = [place.registry.cards[name] for name in named.ids]
    source = f" (the base of {cards[0].id}, the first name)" if cards[0].base == place.base.id else ""
    problem = f"cannot be screened on {place.base.id}{source}: {problem}"
    return SettingError("NAME", card, problem, base_for_most(place.registry, cards))


def _own_reason(card: Enhancement) -> str | None:
    return "its arms see different positions (pairing none)" if card.pairing == "none" else None


def _conflicts(cards: Iterable[Enhancement], flips: Flips) -> dict[str, dict[str, str]]:
    """Card -> the others that cannot be changed with it -> why."""
    cards = list(cards)
    found: dict[str, dict[str, str]] = {card.id: {} for card in cards}
    for number, one in enumerate(cards):
        for other in cards[:number]:
            if reason := flips.conflict(one, other):
                found[one.id][other.id] = found[other.id][one.id] = reason
    return found


def _fewer_exclusive(cards: Sequence[Enhancement], flips: Flips, sieve: _Sieve) -> list[Enhancement]:
    """Cards of which at most `FRACTIONS` hang together by conflicts: of more, the one with the most conflicts goes, the
    last of equals."""
    left, conflicts = list(cards), _conflicts(cards, flips)
    while True:
        clusters = exclusive_groups([card.id for card in left], lambda one, other: other in conflicts[one])
        cluster = next((cluster for cluster in clusters if len(cluster) > FRACTIONS), None)
        if cluster is None:
            return left
        within = {name: [other for other in conflicts[name] if other in cluster] for name in cluster}
        last = max(sieve.those_of_groups(cluster) or cluster, key=lambda name: (len(within[name]), cluster.index(name)))
        others = ", ".join(within[last])
        sieve.refuse(last, f"cannot be changed together with {others}: {conflicts[last][within[last][0]]}")
        left = [card for card in left if card.id != last]


def _fewer_columns(cards: Sequence[Enhancement], flips: Flips, sieve: _Sieve) -> list[Enhancement]:
    """Cards that fit in the largest screen: the last ones go."""
    left, conflicts = list(cards), _conflicts(cards, flips)
    while True:
        clusters = exclusive_groups([card.id for card in left], lambda one, other: other in conflicts[one])
        if sum(map(group_width, clusters)) <= LARGEST:
            return left
        last = (sieve.those_of_groups([card.id for card in left]) or [card.id for card in left])[-1]
        sieve.refuse(last, f"a screen has room for {LARGEST} columns")
        left = [card for card in left if card.id != last]


def _fewer_repeats(cards: Sequence[Enhancement], flips: Flips, sieve: _Sieve) -> list[Enhancement]:
    """Cards whose screen has no arm twice: of those that exclude others and came with a group the last goes. Cards that
    were all named singly are left to `make_screen`."""
    left, conflicts = list(cards), _conflicts(cards, flips)
    while len(left) >= LEAST:
        names = [card.id for card in left]
        try:
            make_screen(names, lambda one, other: other in conflicts[one])
            return left
        except SettingError as error:
            exclusive = [name for name in names if conflicts[name].keys() & set(names)]
            if not (of_groups := sieve.those_of_groups(exclusive)):
                raise
            last, problem = of_groups[-1], error.problem
            others = ", ".join(other for other in conflicts[last] if other in names)
            sieve.refuse(last, f"cannot be changed together with {others}, and {problem}")
            left = [card for card in left if card.id != last]
    return left
