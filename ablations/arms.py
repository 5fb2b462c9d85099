"""From a base and a budget, or a card with them, to configurations.

They leave the data view and the seeds open: a study fills them in. The control equals the base under the budget, so
that one control serves all cards of a base.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from ablations.data.schema import filled
from ablations.designs import budget_config, card_state, unmet
from ablations.registry import Registry
from ablations.request import budget_at
from ablations.schema import Base, Budget, Claim, Enhancement, toggle_values
from ablations.wording import is_on_an_effect, leading_claim, setting_text, value_text
from gonn_core.config import TrialConfig, get_path, has_values, with_values
from gonn_core.errors import SettingError
from gonn_core.settings.training import Precision

FEW = 3
"""Bases of a card that an error names."""


class Place(NamedTuple):
    """A base under a budget."""

    base: Base
    """As the claim had it, if the budget takes it from one."""
    budget: Budget
    """In the precision and with the samples asked for."""
    config: TrialConfig
    """The control, filters of the games apart."""
    claim: Claim | None
    """The claim from which base or samples were taken; None when the budget takes nothing from one."""


def place(
    registry: Registry,
    cards: Sequence[Enhancement],
    budget: Budget,
    base: str | None = None,
    claim: str | None = None,
    precision: Precision | None = None,
    samples: int | None = None,
) -> Place:
    """Where cards are compared: the first of them decides. Without cards, a base alone.

    `claim` is an id within the first card; the default is its leading claim on an effect that names a base. A given
    `base` wins over the claim's; one that is the claim's own comes with the claim's conditions. A claim without samples
    trains to the end of the base's published run, an early one to the end of its early part. Raises SettingError (BASE,
    CLAIM, SAMPLES).
    """
    source, first = None, cards[0] if cards else None
    if first and "claim" in (budget.base_from, budget.samples):
        based = [one for one in first.claims if one.base is not None and is_on_an_effect(one)]
        source = leading_claim(based) if claim is None else _claim(first, claim)
    elif claim is not None:
        valid = "a budget such as gpu or paper, or no CLAIM"
        raise SettingError("CLAIM", claim, f"budget {budget.id} takes nothing from a claim", valid)
    if base is None and first:
        claimed = source.base if budget.base_from == "claim" and source is not None else None
        base = claimed or first.base
    chosen = registry.base(base or "")
    if budget.base_from == "claim" and source is not None and source.base == chosen.id and source.conditions:
        config = with_values(chosen.config, source.conditions, f"conditions of {source.id}")
        chosen = chosen.model_copy(update={"config": config})
    declared = budget.samples
    if declared == "claim":
        most = source.span(chosen.schedule_end)[1] if source is not None else math.inf
        declared = chosen.schedule_end if most == math.inf else int(most)
    budget = chosen.in_precision(budget, precision)
    if samples is not None:
        formed = [card.on_base(chosen.id, budget.id) for card in cards]
        budget = budget_at(budget, chosen, formed, declared, samples)
    return Place(chosen, budget, budget_config(chosen, budget, declared), source)


class Arms(NamedTuple):
    """The two configurations of one card on one base under one budget."""

    card: Enhancement
    """With the toggles in the form of this base."""
    base: Base
    budget: Budget
    claim: Claim | None
    off: TrialConfig
    on: TrialConfig
    design: Literal["add-one", "leave-one-out"]
    """add-one: the base has it off and is the control; leave-one-out: the base has it on."""

    @property
    def control(self) -> TrialConfig:
        """The base under this budget."""
        return self.off if self.design == "add-one" else self.on


def resolve(
    registry: Registry,
    card: str,
    budget: str,
    base: str | None = None,
    claim: str | None = None,
    precision: Precision | None = None,
) -> Arms:
    """The arms of a card under a budget, on a data set without filters; the other arguments as for `place`. Raises
    SettingError (NAME, BASE, BUDGET, CLAIM)."""
    declared = registry.card(card)
    chosen, under, config, source = place(registry, [declared], registry.budget(budget), base, claim, precision)
    if problem := misfit(registry, declared, chosen, under, config):
        raise SettingError("BASE", chosen.id, problem, bases_of(registry, declared))
    formed = declared.on_base(chosen.id, under.id)
    control = filled(config, [formed])
    off, on = (with_values(control, formed.values(state), formed.id) for state in ("off", "on"))
    is_off = card_state(control, formed.toggles) == "off"
    return Arms(formed, chosen, under, source, off, on, "add-one" if is_off else "leave-one-out")


def misfit(
    registry: Registry,
    card: Enhancement,
    base: Base,
    budget: Budget | None = None,
    config: TrialConfig | None = None,
) -> str | None:
    """Why a card cannot be compared on a base, or on its configuration under a budget: the first of its conditions that
    the base fails, or that the card is neither off nor on. None when it can."""
    formed = card.on_base(base.id, budget.id if budget else "")
    if problem := unmet(registry, formed, base):
        return problem
    config = filled(config or base.config, [formed])
    return _neither(config, formed) if card_state(config, formed.toggles) == "neither" else None


def bases_of(registry: Registry, card: Enhancement) -> list[str]:
    """Ids of the bases on which a card can be compared: they have it off or on and meet its conditions."""
    return [base.id for base in registry.bases.values() if misfit(registry, card, base) is None]


def check_fit(registry: Registry, cards: Sequence[Enhancement], base: Base, design: str, is_given: bool) -> None:
    """Check that all cards can be compared on a base. is_given: whether the user named the base.

    In add-one the base has what a card needs of another card; other designs put it in, or refuse the arm. Raises
    SettingError (BASE) with the bases of a card that does not fit, or those of all cards; (NAME) when there is none.
    """
    among = set() if design == "add-one" else {card.id for card in cards}
    alone = [
        card.model_copy(
            update={
                kind: tuple(condition for condition in getattr(card, kind) if condition.card not in among)
                for kind in ("requires", "excludes")
            }
        )
        for card in cards
    ]
    problem = next(filter(None, (misfit(registry, card, base) for card in alone)), None)
    if problem is None:
        return
    fitting = {card.id: bases_of(registry, card) for card in (cards if len(cards) == 1 else alone)}
    common = [name for name in next(iter(fitting.values())) if all(name in bases for bases in fitting.values())]
    names = ",".join(fitting)
    if len(cards) == 1 or (common and is_given):
        raise SettingError("BASE", base.id, problem, common)
    if common:
        problem = f"{base.id}, the base of {cards[0].id}, does not fit all of them ({problem})"
        raise SettingError("NAME", names, problem, " or ".join(f"BASE={name}" for name in common[:FEW]))
    for one, other in itertools.combinations(fitting, 2):
        if not set(fitting[one]) & set(fitting[other]):
            problem = f"{one} and {other} can never be compared in one study, for no base fits both"
            fitting = {one: fitting[one], other: fitting[other]}
            break
    else:
        problem = "no base fits all of them"
    where = "; ".join(
        f"{card}: {', '.join(bases[:FEW])}{', …' * (len(bases) > FEW)}" for card, bases in fitting.items()
    )
    raise SettingError("NAME", names, f"{problem} ({where})", "a study for each")


def _neither(config: TrialConfig, card: Enhancement) -> str:
    """Why a configuration has a card neither off nor on, in words."""

    def values(paths: Iterable[str]) -> str:
        return ", ".join(f"{path} = {setting_text(get_path(config, path))}" for path in paths)

    for state, what in (("off", "put in"), ("on", "taken out")):
        if has_values(config, toggle_values(card.toggles, state)):
            family = f"with its other settings (net.family = {config.net.family})"
            return f"{card.id} cannot be {what}: {family} this base can only have {values(card.toggles)}"
    others = {
        path: f"{path} from {value_text(toggle.off)} to {value_text(toggle.on)}"
        for path, toggle in card.toggles.items()
        if not any(has_values(config, {path: value}) for value in (toggle.off, toggle.on))
    }
    if not others:
        return f"has some of the settings of {card.id} off and others on"
    return f"has {values(others)}, while {card.id} is about {', '.join(others.values())}"


def _claim(card: Enhancement, name: str) -> Claim:
    for claim in card.claims:
        if claim.id == name:
            return claim
    raise SettingError("CLAIM", name, f"no such claim of {card.id}", [claim.id for claim in card.claims])
