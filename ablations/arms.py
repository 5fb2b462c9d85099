"""From a card, a base and a budget to the two configurations that are compared, and what sets them apart from a claim's conditions.

Both arms leave the data view and the seeds open: a study fills them in. Whichever arm equals the base under the budget is the
control, so that one control serves all cards of a base.
"""

from dataclasses import dataclass
from typing import Literal

from ablations.registry import Registry
from ablations.schema import Base, Budget, Claim, Condition, Enhancement
from ablations.study import card_state
from gonn_core.config import TrialConfig, config_paths, get_path, with_values
from gonn_core.errors import SettingError


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


def leading_claim(card: Enhancement) -> Claim | None:
    """The first claim that names a base and samples; else the first that names a base; else None."""
    based = [claim for claim in card.claims if claim.base is not None]
    return next((claim for claim in based if claim.samples is not None), based[0] if based else None)


def budget_config(base: Base, budget: Budget, samples: int | None = None) -> TrialConfig:
    """`base` under `budget`: the control. `samples` is needed where the budget takes them from a claim. Raises SettingError."""
    samples = samples if budget.samples == "claim" else budget.samples
    values = {**budget.overrides, "training.samples": samples}
    if budget.compress and base.config.training.schedule.kind == "gonn":
        values["training.schedule.compression"] = max(1.0, base.schedule_end / samples)
    return with_values(base.config, values, f"{base.id} under budget {budget.id}")


def resolve(registry: Registry, card: str, budget: str, base: str | None = None, claim: str | None = None) -> Arms:
    """The arms of a card. `claim` is an id within the card; without it the leading claim counts where the budget asks for one.

    A budget with `base_from: claim` takes the claim's base unless `base` is given; one with `samples: claim` takes its samples, or,
    where the document tells none, trains to the end of the base's published run. Raises SettingError (NAME, BASE, BUDGET, CLAIM).
    """
    chosen, plan = registry.card(card), registry.budget(budget)
    asked = None
    if plan.base_from == "claim" or plan.samples == "claim":
        asked = leading_claim(chosen) if claim is None else _claim(chosen, claim)
    elif claim is not None:
        raise SettingError("CLAIM", claim, f"budget {plan.id} takes nothing from a claim", "a budget such as gpu or paper, or no CLAIM")
    if base is None:
        base = asked.base if plan.base_from == "claim" and asked is not None and asked.base is not None else chosen.base
    stand = registry.base(base)
    samples = asked.samples if asked is not None and asked.samples is not None else stand.schedule_end
    control = budget_config(stand, plan, samples)
    formed = chosen.on_base(stand.id)
    _check_conditions(registry, formed, stand)
    state = card_state(control, formed.toggles)
    if state == "neither":
        found = ", ".join(f"{path} = {get_path(control, path)}" for path in formed.toggles)
        raise SettingError("BASE", stand.id, f"has {chosen.id} neither off nor on ({found})", bases_of(registry, chosen))
    off, on = (with_values(control, _values(formed, state), formed.id) for state in ("off", "on"))
    return Arms(formed, stand, plan, asked, off, on, "add-one" if state == "off" else "leave-one-out")


def bases_of(registry: Registry, card: Enhancement) -> list[str]:
    """Ids of the bases on which a card can be compared: they have it off or on and meet its conditions."""
    fitting = []
    for base in registry.bases.values():
        formed = card.on_base(base.id)
        unmet = _unmet(registry, formed, base)
        if unmet is None and card_state(base.config, formed.toggles) != "neither":
            fitting.append(base.id)
    return fitting


def differences(registry: Registry, arms: Arms, claim: Claim) -> tuple[str, ...]:
    """The conditions in which a comparison differs from a claim's: planes, net, samples. Empty: the claim is tested as it was made.

    The data set is not among them: it is stated beside the verdict. A claim without samples holds at any count.
    """
    if claim.base is None:
        return ("the document's net is not one of the bases",)
    base = registry.base(claim.base)
    formed = arms.card if claim.base == arms.base.id else registry.card(arms.card.id).on_base(claim.base)
    claimed = with_values(base.config, _values(formed, "off"), formed.id)
    apart = [f"{missing} is missing" for missing in base.missing]
    for path in config_paths():
        if path.split(".")[0] in ("features", "net") and path not in formed.toggles:
            here, there = get_path(arms.off, path), get_path(claimed, path)
            if here != there:
                apart.append(f"{path} {_told(here)} instead of {_told(there)}")
    if arms.card.toggles != formed.toggles:
        apart.append(f"the form that {arms.base.id} has")
    if claim.samples is not None and claim.samples != arms.on.training.samples:
        apart.append(f"{arms.on.training.samples:,} samples instead of {claim.samples:,}")
    return tuple(apart)


def check_together(registry: Registry, cards: list[Enhancement]) -> None:
    """That cards can stand in one design that combines them. Raises SettingError (NAME) naming the two that cannot."""
    for i, first in enumerate(cards):
        for second in cards[i + 1 :]:
            names = f"{first.id}+{second.id}"
            shared = sorted(set(first.toggles) & set(second.toggles))
            if shared:
                raise SettingError("NAME", names, f"both change {', '.join(shared)} and cannot be combined")
            for one, other in ((first, second), (second, first)):
                if any(condition.card == other.id for condition in one.excludes):
                    raise SettingError("NAME", names, f"{one.id} excludes {other.id}")


def _claim(card: Enhancement, name: str) -> Claim:
    for claim in card.claims:
        if claim.id == name:
            return claim
    raise SettingError("CLAIM", name, f"no such claim of {card.id}", [claim.id for claim in card.claims])


def _values(card: Enhancement, state: str) -> dict:
    return {path: getattr(toggle, state) for path, toggle in card.toggles.items()}


def _told(value) -> str:
    return "none" if value == () else "/".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _met(registry: Registry, condition: Condition, base: Base) -> bool:
    if condition.card is not None:
        return card_state(base.config, registry.card(condition.card).on_base(base.id).toggles) == "on"
    return with_values(base.config, {condition.path: condition.value}) == base.config


def _unmet(registry: Registry, card: Enhancement, base: Base) -> str | None:
    """The first condition that `base` fails, in words; None when it meets all."""
    for wanted, conditions in ((True, card.requires), (False, card.excludes)):
        for condition in conditions:
            if _met(registry, condition, base) != wanted:
                what = condition.card or f"{condition.path} = {condition.value}"
                return f"{card.id} {'needs' if wanted else 'excludes'} {what}"
    return None


def _check_conditions(registry: Registry, card: Enhancement, base: Base) -> None:
    unmet = _unmet(registry, card, base)
    if unmet is not None:
        raise SettingError("BASE", base.id, unmet, bases_of(registry, registry.card(card.id)))
