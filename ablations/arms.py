"""From a card, a base and a budget to the two configurations that are compared.

Both arms leave the data view and the seeds open: a study fills them in. Whichever arm equals the base under the budget
is the control, so that one control serves all cards of a base.
"""

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ablations.conditions import card_state, unmet
from ablations.data.game_filters import filled
from ablations.designs import budget_config
from ablations.registry import Registry
from ablations.schema import Base, Budget, Claim, Enhancement, toggle_values
from ablations.wording import is_on_an_effect, leading_claim, setting_text, value_text
from gonn_core.config import TrialConfig, get_path, has_values, with_values
from gonn_core.errors import SettingError
from gonn_core.settings.training import Precision

FEW = 3
"""So many bases are named where there are more."""


@dataclass(frozen=True)
class Arms:
    """The two configurations of one card on one base under one budget."""

    card: Enhancement
    """With the toggles in the form of this base."""
    base: Base
    budget: Budget
    claim: Claim | None
    """The claim whose base or samples were taken; None when the budget takes none."""
    off: TrialConfig
    on: TrialConfig
    design: Literal["add-one", "leave-one-out"]
    """add-one: the base has it off and is the control; leave-one-out: the base has it on."""

    @property
    def control(self) -> TrialConfig:
        """The base under this budget."""
        return self.off if self.design == "add-one" else self.on

    @property
    def treatment(self) -> TrialConfig:
        """The other arm."""
        return self.on if self.design == "add-one" else self.off


def base_and_samples(
    registry: Registry, card: Enhancement, budget: Budget, base: str | None = None, claim: str | None = None
) -> tuple[Base, int, Claim | None]:
    """What a budget is applied to: base, samples, and the claim that they were taken from (None: the budget takes
    nothing from one).

    `claim` is an id within the card; without it the leading claim on an effect that names a base counts. A given `base`
    wins over the claim's; one that is the claim's own comes with the claim's conditions. Of a claim without samples,
    training goes to the end of the base's published run, of an early one to the end of its early part. Raises
    SettingError (BASE, CLAIM).
    """
    source = None
    if budget.base_from == "claim" or budget.samples == "claim":
        based = [each for each in card.claims if each.base is not None and is_on_an_effect(each)]
        source = leading_claim(based) if claim is None else _claim(card, claim)
    elif claim is not None:
        raise SettingError(
            "CLAIM",
            claim,
            f"budget {budget.id} takes nothing from a claim",
            "a budget such as gpu or paper, or no CLAIM",
        )
    if base is None:
        claimed = source.base if budget.base_from == "claim" and source is not None else None
        base = claimed or card.base
    chosen = _as_claimed(registry.base(base), budget, source)
    samples = budget.samples
    if samples == "claim":
        most = source.span(chosen.schedule_end)[1] if source is not None else math.inf
        samples = chosen.schedule_end if most == math.inf else int(most)
    return chosen, samples, source


def _as_claimed(base: Base, budget: Budget, claim: Claim | None) -> Base:
    """The base as the claim had it, where a budget takes it from a claim."""
    if budget.base_from != "claim" or claim is None or claim.base != base.id or not claim.conditions:
        return base
    config = with_values(base.config, claim.conditions, f"conditions of {claim.id}")
    return base.model_copy(update={"config": config})


def resolve(
    registry: Registry,
    card: str,
    budget: str,
    base: str | None = None,
    claim: str | None = None,
    precision: Precision | None = None,
) -> Arms:
    """The arms of a card under a budget; `base` and `claim` as in `base_and_samples`, `precision` in place of the
    budget's own. Raises SettingError (NAME, BASE, BUDGET, CLAIM).

    Filters of the games stand as on a data set without any of its own.
    """
    declared, chosen_budget = registry.card(card), registry.budget(budget)
    chosen_base, samples, source = base_and_samples(registry, declared, chosen_budget, base, claim)
    chosen_budget = chosen_base.in_precision(chosen_budget, precision)
    formed = declared.on_base(chosen_base.id, chosen_budget.id)
    control = filled(budget_config(chosen_base, chosen_budget, samples), [formed])
    problem = unmet(registry, formed, chosen_base)
    if problem is not None:
        raise SettingError("BASE", chosen_base.id, problem, bases_of(registry, declared))
    state = card_state(control, formed.toggles)
    if state == "neither":
        raise SettingError("BASE", chosen_base.id, _neither(control, formed), bases_of(registry, declared))
    off, on = (with_values(control, formed.values(state), formed.id) for state in ("off", "on"))
    return Arms(formed, chosen_base, chosen_budget, source, off, on, "add-one" if state == "off" else "leave-one-out")


def misfit(registry: Registry, card: Enhancement, base: Base) -> str | None:
    """Why a card cannot be compared on a base, in words: the first of its conditions that the base fails, or that the
    base stands neither at its off nor at its on values. None when it can."""
    formed = card.on_base(base.id)
    problem = unmet(registry, formed, base)
    config = filled(base.config, [formed])
    if problem is None and card_state(config, formed.toggles) == "neither":
        return _neither(config, formed)
    return problem


def bases_of(registry: Registry, card: Enhancement) -> list[str]:
    """Ids of the bases on which a card can be compared: they have it off or on and meet its conditions."""
    return [base.id for base in registry.bases.values() if misfit(registry, card, base) is None]


def base_for_most(registry: Registry, cards: Sequence[Enhancement]) -> str:
    """`BASE=gonn-b5 without elu`: the base on which most of the cards can be compared, of equals the one that most of
    them are declared on, and the cards that it does not fit."""
    fitting = {card.id: bases_of(registry, card) for card in cards}
    counted, own = Counter(itertools.chain(*fitting.values())), Counter(card.base for card in cards)
    best = max(counted, key=lambda base: (counted[base], own[base]))
    without = ", ".join(card for card, bases in fitting.items() if best not in bases)
    return f"BASE={best}" + (f" without {without}" if without else "")


def on_one_base(
    registry: Registry,
    cards: Sequence[Enhancement],
    budget: Budget,
    design: str,
    base: str | None = None,
    claim: str | None = None,
) -> tuple[Base, TrialConfig, tuple[Enhancement, ...]]:
    """Where cards are compared with each other: a base, its configuration under the budget, and the cards in its form.

    The first card decides, with its claim if one is named; a given `base` wins. What a card needs of another of them is
    the base's in add-one alone: other designs put it in, or refuse the arm. Raises SettingError (BASE, BUDGET, CLAIM),
    listing the bases of a card that does not fit, or of several those that fit all; (NAME) where none does.
    """
    chosen, samples, _ = base_and_samples(registry, cards[0], budget, base, claim)
    conditioned = _without_conditions_among(cards, design)
    for card, alone in zip(cards, conditioned, strict=True):
        problem = misfit(registry, alone, chosen)
        if problem is None:
            continue
        if len(cards) == 1:
            raise SettingError("BASE", chosen.id, problem, bases_of(registry, card))
        raise _no_base_in_common(registry, conditioned, chosen, problem, given=base is not None)
    config = budget_config(chosen, budget, samples)
    return chosen, config, tuple(card.on_base(chosen.id, budget.id) for card in cards)


def _without_conditions_among(cards: Sequence[Enhancement], design: str) -> list[Enhancement]:
    """The cards without what they require or exclude of each other, where a design combines them."""
    among = set() if design == "add-one" else {card.id for card in cards}
    changed = []
    for card in cards:
        conditions = {
            kind: tuple(condition for condition in getattr(card, kind) if condition.card not in among)
            for kind in ("requires", "excludes")
        }
        changed.append(card.model_copy(update=conditions))
    return changed


def _no_base_in_common(
    registry: Registry, cards: Sequence[Enhancement], chosen: Base, problem: str, given: bool
) -> SettingError:
    """Why several cards cannot be compared on a base: another base has all of them, or none has; without a word against
    a base that nobody gave."""
    fitting = {card.id: bases_of(registry, card) for card in cards}
    common = [base for base in fitting[cards[0].id] if all(base in bases for bases in fitting.values())]
    names = ",".join(card.id for card in cards)
    if common and given:
        return SettingError("BASE", chosen.id, problem, common)
    if common:
        first = f"{chosen.id}, the base of {cards[0].id}, does not fit all of them"
        return SettingError("NAME", names, f"{first} ({problem})", _bases(common))
    separate = "a study for each" if len(cards) == 2 else base_for_most(registry, cards)
    for one, other in itertools.combinations(cards, 2):
        if not set(fitting[one.id]) & set(fitting[other.id]):
            where = "; ".join(f"{card.id}: {_few(fitting[card.id])}" for card in (one, other))
            why = "can never be compared in one study, for no base fits both"
            return SettingError("NAME", names, f"{one.id} and {other.id} {why} ({where})", separate)
    where = "; ".join(f"{card}: {_few(bases)}" for card, bases in fitting.items())
    return SettingError("NAME", names, f"no base fits all of them ({where})", separate)


def _bases(names: Sequence[str]) -> str:
    return " or ".join(f"BASE={name}" for name in names[:FEW])


def _few(names: Sequence[str]) -> str:
    """`gonn-b4, gonn-b5 and 7 more`."""
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return ", ".join(names[:FEW]) + more


def _neither(config: TrialConfig, card: Enhancement) -> str:
    """Why a configuration has a card neither off nor on, in words."""
    values = ", ".join(f"{path} = {setting_text(get_path(config, path))}" for path in card.toggles)
    for state, what in (("off", "put in"), ("on", "taken out")):
        if has_values(config, toggle_values(card.toggles, state)):
            beside = f"beside its other settings (net.family = {config.net.family})"
            return f"{card.id} cannot be {what}: {beside} this base can only have {values}"
    ends = ", ".join(
        f"{path} from {value_text(toggle.off)} to {value_text(toggle.on)}" for path, toggle in card.toggles.items()
    )
    return f"has {values}, while {card.id} is about {ends}"


def _claim(card: Enhancement, name: str) -> Claim:
    for claim in card.claims:
        if claim.id == name:
            return claim
    raise SettingError("CLAIM", name, f"no such claim of {card.id}", [claim.id for claim in card.claims])
