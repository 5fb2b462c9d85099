"""What NAME=… names for a screen, which of it is screened on a base, and why the rest is held or left out.

A group is all enhancements (`all`), those of one system, or those whose toggles lie in one part of the configuration:
`features`, `net.head`, `training.auxiliary` and so on. Enhancements that are named one by one must fit; those of a
group that do not fit are left out.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ablations.arms import bases_of, misfit
from ablations.claimed import within
from ablations.declarations import Declarations
from ablations.designs import card_state
from ablations.registry import Registry, find_card
from ablations.schema import Base, Budget, Enhancement
from ablations.screens.arms import Flips, with_cards
from ablations.screens.fractions import FRACTIONS, LARGEST, LEAST, exclusive_groups, group_width, make_screen
from ablations.wording import claim_text
from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError

ALL = "all"
LARGE = 0.1
"""Nats: an effect claimed to be this large is not screened with a group, because its interactions would be in the
others' effects."""


@dataclass(frozen=True)
class Named:
    """Enhancements in the order in which they are named; a group's in alphabetical order."""

    cards: tuple[Enhancement, ...]
    singly: frozenset[str]
    """Ids of those named by themselves; all others came with a group, and may be left out."""


def members(declared: Declarations, group: str) -> list[Enhancement]:
    """The enhancements of a group; empty for a name that is none."""
    cards = declared.cards.values()
    return [card for card in cards if group in (ALL, card.system) or all(within(path, group) for path in card.toggles)]


def groups(declared: Declarations) -> list[str]:
    """Names of all groups of at least two."""
    paths = {path for card in declared.cards.values() for path in card.toggles}
    parts = {path.rsplit(".", count)[0] for path in paths for count in range(1, path.count(".") + 1)}
    systems = sorted({card.system for card in declared.cards.values()})
    return [ALL, *systems, *sorted(part for part in parts if len(members(declared, part)) > 1)]


def parse_names(registry: Registry, text: str, groups_allowed: bool = True) -> Named:
    """What a comma-separated list names. Raises SettingError (NAME)."""
    cards: dict[str, Enhancement] = {}
    singly = []
    for part in (part.strip() for part in text.split(",")):
        if text and not part:
            raise SettingError("NAME", text, "an empty name", "names with one comma between them")
        if part in registry.cards:
            singly.append(part)
            cards[part] = registry.card(part)
        elif group := members(registry, part):
            if not groups_allowed:
                raise SettingError("NAME", part, "a group of enhancements", "single ones, or DESIGN=screen")
            cards |= {card.id: card for card in group if card.id not in cards}
        else:
            or_group = f", nor a group ({', '.join(groups(registry))})" if groups_allowed else ""
            find_card(registry, part, f"no such enhancement{or_group}")
    if len(set(singly)) < len(singly):
        raise SettingError("NAME", text, "an enhancement is named twice", "each of them once")
    return Named(tuple(cards.values()), frozenset(singly))


def base_of_most(named: Named) -> str:
    """The base on which most of the cards are compared when none is named; of those that can be screened, if any."""
    paired = [card for card in named.cards if _own_reason(card) is None]
    return Counter(card.base for card in paired or named.cards).most_common(1)[0][0]


@dataclass(frozen=True)
class ScreenPlace:
    """Where a screen takes place: a base, its configuration under a budget, and the cards of HOLD in its form."""

    registry: Registry
    base: Base
    budget: Budget
    config: TrialConfig
    """Without what is held."""
    hold: tuple[Enhancement, ...] = ()

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


def choose(place: ScreenPlace, named: Named, refused: Callable[[Enhancement], str | None]) -> Choice:
    """The screen of what was named; those named singly first, then those of the base's own system.

    refused: why a card cannot be here for reasons of its learning rate and the like. Raises SettingError (NAME, HOLD).
    """
    registry, base = place.registry, place.base
    for card in place.hold:
        if problem := misfit(registry, registry.cards[card.id], place.whole_base):
            raise SettingError("HOLD", card.id, problem, f"enhancements that {base.id} can have")
    held, left_out = {card.id: _held_as(place, card) for card in place.hold}, dict[str, str]()
    of_group = {card.id for card in named.cards} - named.singly
    ordered = sorted(named.cards, key=lambda card: card.id in of_group and 1 + (card.system != base.system))
    cards = tuple(card.on_base(base.id, place.budget.id) for card in ordered)
    flips = Flips(base.id, place.config, cards, place.hold)

    def refuse(card: str, reason: str) -> None:
        if card not in of_group:
            raise SettingError("NAME", card, f"cannot be screened here: {reason}", "others, or DESIGN=add-one")
        left_out[card] = reason

    fitting: list[Enhancement] = []
    for card in cards:
        if card.id in held and card.id in of_group:
            continue
        if card.id in held:
            refuse(card.id, "HOLD has it already")
        elif problem := _misfit(place, card):
            if card.id not in of_group:
                problem = f"cannot be screened on {base.id}: {problem}"
                raise SettingError("NAME", card.id, problem, bases_of(registry, registry.cards[card.id]))
            refuse(card.id, problem)
        elif problem := _own_reason(card) or refused(card) or flips.unfit(card):
            refuse(card.id, problem)
        elif equal := next((other for other in fitting if flips.equal(card, other)), None):
            refuse(card.id, f"computes the same as {equal.id} here")
        elif card.id in of_group and (claimed := large_claim(card)):
            held[card.id] = f"as in {flips.base_name}: {claimed}"
        else:
            fitting.append(card)
    fitting = _screenable(fitting, flips, of_group, refuse)
    if len(fitting) < LEAST:
        left = "; ".join(f"{card}: {reason}" for card, reason in left_out.items())
        problem = f"{len(fitting)} enhancements can be screened on {base.id}" + (f" ({left})" if left else "")
        names = ",".join(card.id for card in named.cards)
        raise SettingError("NAME", names, problem, f"at least {LEAST}, or another design")
    for card in fitting:
        registry.card(card.id)  # is its declaration sound?
    return Choice(flips, tuple(fitting), held, left_out)


def _held_as(place: ScreenPlace, card: Enhancement) -> str:
    state = card_state(place.config, card.toggles)
    return f"HOLD: on in all arms{', as in ' + place.base.id if state == 'on' else ''}"


def large_claim(card: Enhancement) -> str | None:
    """The first claim of a card on nats that is at least `LARGE` at both of its ends, in words; None without one."""
    for claim in card.claims:
        of_nats = claim.metric == "nats" and claim.quantity == "difference"
        if of_nats and claim.bounds is not None and min(map(abs, claim.bounds)) >= LARGE:
            return f"claimed {claim_text(claim)}"
    return None


def _misfit(place: ScreenPlace, card: Enhancement) -> str | None:
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


def _own_reason(card: Enhancement) -> str | None:
    if "training.policy_weight" in card.toggles:
        return "an arm of it does not train the policy, on whose loss the others are measured"
    return "its arms see different positions (pairing none)" if card.pairing == "none" else None


def _screenable(
    cards: Sequence[Enhancement], flips: Flips, of_group: set[str], refuse: Callable[[str, str], None]
) -> list[Enhancement]:
    """Cards that make one screen. While too many exclude each other, need more columns than the largest screen has, or
    have an arm come up twice, one that came with a group is refused: the one with the most conflicts, else the last."""
    left, conflicts = list(cards), _conflicts(cards, flips)
    while len(left) >= LEAST:
        names = [card.id for card in left]
        clusters = exclusive_groups(names, lambda one, other: other in conflicts[one])
        cluster = next((cluster for cluster in clusters if len(cluster) > FRACTIONS), None)
        if cluster is not None:
            within = {name: [other for other in conflicts[name] if other in cluster] for name in cluster}
            candidates = [name for name in cluster if name in of_group] or cluster
            last = max(candidates, key=lambda name: (len(within[name]), cluster.index(name)))
            others = ", ".join(within[last])
            reason = f"cannot be changed together with {others}: {conflicts[last][within[last][0]]}"
        elif sum(map(group_width, clusters)) > LARGEST:
            last, reason = (
                ([name for name in names if name in of_group] or names)[-1],
                f"a screen has {LARGEST} columns",
            )
        else:
            try:
                make_screen(names, lambda one, other: other in conflicts[one])
                return left
            except SettingError as error:
                exclusive = [name for name in names if name in of_group and conflicts[name].keys() & set(names)]
                if not exclusive:
                    raise
                last = exclusive[-1]
                others = ", ".join(other for other in conflicts[last] if other in names)
                reason = f"cannot be changed together with {others}, and {error.problem}"
        refuse(last, reason)
        left = [card for card in left if card.id != last]
    return left


def _conflicts(cards: Sequence[Enhancement], flips: Flips) -> dict[str, dict[str, str]]:
    """Card -> the others that cannot be changed with it -> why."""
    conflicts: dict[str, dict[str, str]] = {card.id: {} for card in cards}
    for number, one in enumerate(cards):
        for other in cards[:number]:
            if reason := flips.conflict(one, other):
                conflicts[one.id][other.id] = conflicts[other.id][one.id] = reason
    return conflicts
