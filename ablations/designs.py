"""Designs: from a base, a budget and cards to the arms that are trained and the contrasts that are taken.

A design first says which cards every arm has (`cells`), whether such an arm can be or not; `design_arms` makes the
study's arms of them. An effect is always that of having the enhancement: Δ = arms with it minus arms without it,
whichever of the two the base is.
"""

import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ablations.conditions import card_state, unmet_condition
from ablations.schema import Base, Budget, toggle_values
from ablations.study import Arm, Contrast
from gonn_core.config import TrialConfig, get_path, with_values
from gonn_core.effective.whole import effective, idle_differences
from gonn_core.errors import SettingError

DESIGNS = ("add-one", "leave-one-out", "cumulative", "factorial")
"""Those over cards that are named one by one; `ablations.screens` has the one over many."""
SCREEN = "screen"
CONTROL = "control"
REASONS_SHOWN = 3
COMPRESSIBLE = ("gonn", "knots")
"""Kinds of schedule that count published samples, which a budget can run through in fewer."""


@dataclass(frozen=True)
class DesignCell:
    """An arm that a design wants: with these cards on or off, all else as in the base."""

    arm: str
    label: str
    states: dict[str, str]
    """Card id -> on or off; a card that is left as the base has it is not named."""
    config: TrialConfig | None
    reason: str | None
    """Why such an arm cannot be; None when it can."""


class ImpossibleDesign(SettingError):
    """A design some of whose cells cannot be."""

    def __init__(self, cards: Sequence, cells: Sequence[DesignCell]):
        self.cells = tuple(cells)
        refused = [cell for cell in cells if cell.reason]
        reasons = [f"{cell.label} ({cell.reason})" for cell in refused[:REASONS_SHOWN]]
        more = ["…"] if len(refused) > REASONS_SHOWN else []
        problem = f"{len(refused)} of {len(cells)} arms cannot be: {'; '.join(reasons + more)}"
        super().__init__(
            "NAME",
            "+".join(card.id for card in cards),
            problem,
            "enhancements that can be combined so, or DESIGN=add-one",
        )


def budget_config(base: Base, budget: Budget, samples: int | None = None) -> TrialConfig:
    """`base` under `budget`: the control. `samples` is needed where the budget takes them from a claim. Raises
    SettingError.

    A claim's samples are cut to whole batches of this base, which need not be the one that the claim was made on. A
    compressed schedule ends where the published one ended; a budget longer than the published run is not stretched.
    """
    overrides = base.overrides(budget)
    if budget.samples != "claim":
        samples = budget.samples
    else:
        samples -= samples % overrides.get("training.batch_size", base.config.training.batch_size)
    values = {**overrides, "training.samples": samples}
    if budget.compress:
        kind = base.config.training.schedule.kind
        if kind not in COMPRESSIBLE:
            raise SettingError(
                "BUDGET",
                budget.id,
                f"cannot compress the schedule of {base.id} ({kind})",
                f"a base with the schedule {' or '.join(COMPRESSIBLE)}",
            )
        values["training.schedule.compression"] = max(1.0, base.schedule_end / samples)
    return with_values(base.config, values, f"{base.id} under budget {budget.id}")


def cells(design: str, base_name: str, base: TrialConfig, cards: Sequence) -> list[DesignCell]:
    """Every arm of a design over `cards` (objects with id and toggles, and perhaps requires and excludes), the control
    first.

    Raises SettingError for an unknown design, for more than 4 cards of a factorial, and for add-one on a base that is
    neither at the off nor at the on values of a card, and for two cards that change one setting where a design combines
    them.
    """
    if design not in DESIGNS:
        raise SettingError("DESIGN", design, "not a known design", (*DESIGNS, SCREEN))
    if design != "add-one":
        _refuse_shared_settings(cards)
    if design == "factorial" and len(cards) > 4:
        raise SettingError(
            "DESIGN", design, f"{len(cards)} enhancements make {2 ** len(cards)} arms", "at most 4 enhancements"
        )
    wanted = {"add-one": _add_one, "leave-one-out": _leave_one_out, "cumulative": _cumulative, "factorial": _factorial}[
        design
    ](base_name, base, cards)
    return [cell_of(arm, label, base, cards, states) for arm, label, states in wanted]


def design_arms(
    design: str, base_name: str, base: TrialConfig, cards: Sequence
) -> tuple[tuple[Arm, ...], tuple[Contrast, ...]]:
    """Arms (the shared control first) and contrasts of a design over `cards`.

    add-one: the control is the base; every card flips once, added where the base lacks it, taken out where the base has
    it. leave-one-out: the control is the base with all cards on; each is taken out once. cumulative: from the base with
    all cards off, one more is added at a time. factorial: all combinations, main effects. Raises SettingError for a
    design that cannot be, or two of whose arms would compute the same; an ImpossibleDesign where some of its cells
    cannot be.
    """
    designed = cells(design, base_name, base, cards)
    if any(cell.reason for cell in designed):
        raise ImpossibleDesign(cards, designed)
    arms = tuple(arm_of(cell, base, cards) for cell in designed)
    refuse_equal(arms, "NAME", "+".join(card.id for card in cards))
    return arms, tuple(_contrast(design, card.id, designed) for card in cards)


def arm_of(cell: DesignCell, base: TrialConfig, cards: Sequence) -> Arm:
    """The arm of a cell that can be, with the settings of `cards` in which it differs from `base`."""
    assert cell.config is not None, "a cell without a reason against it has a configuration"
    return Arm(id=cell.arm, label=cell.label, config=cell.config, values=_differences(cell.config, base, cards))


def _refuse_shared_settings(cards: Sequence) -> None:
    for first, second in itertools.combinations(cards, 2):
        if shared := sorted(set(first.toggles) & set(second.toggles)):
            raise SettingError(
                "NAME",
                f"{first.id}+{second.id}",
                f"both change {', '.join(shared)} and cannot be combined",
                "one of them, or DESIGN=add-one",
            )


def _add_one(base_name: str, base: TrialConfig, cards: Sequence):
    yield CONTROL, base_name, {}
    for card in cards:
        state = card_state(base, card.toggles)
        if state == "neither":
            at = ", ".join(f"{path} = {get_path(base, path)}" for path in card.toggles)
            raise SettingError(
                "BASE",
                base_name,
                f"has neither the off nor the on values of {card.id} ({at})",
                "another base, or another design",
            )
        arm = f"without-{card.id}" if state == "on" else f"with-{card.id}"
        yield arm, arm.replace("-", " ", 1), {card.id: "off" if state == "on" else "on"}


def _leave_one_out(base_name: str, base: TrialConfig, cards: Sequence):
    everything = {card.id: "on" for card in cards}
    yield CONTROL, f"{base_name} with all", everything
    for card in cards:
        yield f"without-{card.id}", f"without {card.id}", {**everything, card.id: "off"}


def _cumulative(base_name: str, base: TrialConfig, cards: Sequence):
    states = {card.id: "off" for card in cards}
    yield CONTROL, f"{base_name} with none", dict(states)
    for card in cards:
        states[card.id] = "on"
        yield f"plus-{card.id}", f"+ {card.id}", dict(states)


def _factorial(base_name: str, base: TrialConfig, cards: Sequence):
    for states in itertools.product(("off", "on"), repeat=len(cards)):
        on = "+".join(card.id for card, state in zip(cards, states, strict=True) if state == "on")
        yield (
            f"with-{on}" if on else CONTROL,
            f"with {on}" if on else f"{base_name} with none",
            {card.id: state for card, state in zip(cards, states, strict=True)},
        )


def cell_of(arm: str, label: str, base: TrialConfig, cards: Sequence, states: dict[str, str]) -> DesignCell:
    """The arm with cards in these states (card id -> on or off), all else as in the base; its reason tells why it
    cannot be. Conditions of one of `cards` on another are looked at, on others not."""
    named = [card for card in cards if card.id in states]
    try:
        config = _with_states(base, named, states)
    except SettingError as error:
        return DesignCell(arm, label, states, None, _blamed(base, named, states, error))
    on = {card.id for card in cards if (states.get(card.id) or card_state(config, card.toggles)) == "on"}
    # Add-one takes a card out of a whole base: what the base has that needed it stays, and goes idle.
    judged = named if len(states) <= 1 else [card for card in cards if card.id in on]
    studied = {card.id for card in cards}

    def has_card(name: str) -> bool | None:
        return name in on if name in studied else None  # of others the base decides

    reasons = (unmet_condition(card, config, has_card) for card in judged if card.id in on)
    return DesignCell(arm, label, states, config, next(filter(None, reasons), None))


def _with_states(base: TrialConfig, cards: Sequence, states: dict[str, str]) -> TrialConfig:
    values: dict[str, Any] = {}
    for card in cards:
        values |= toggle_values(card.toggles, states[card.id])
    return with_values(base, values, "+".join(card.id for card in cards))


def _blamed(base: TrialConfig, cards: Sequence, states: dict[str, str], error: SettingError) -> str:
    """The fewest cards whose states the schema refuses together, and its reason."""
    for count in range(1, len(cards) + 1):
        for some in itertools.combinations(cards, count):
            try:
                _with_states(base, some, states)
            except SettingError as refused:
                return f"{', '.join(f'{card.id} {states[card.id]}' for card in some)}: {refused.problem}"
    return error.problem


def _contrast(design: str, card: str, cells: Sequence[DesignCell]) -> Contrast:
    """The arms that differ by a card: all of them in a factorial, else the one where its state changes and the one
    before that."""
    if design == "factorial":
        sides = {state: tuple(cell.arm for cell in cells if cell.states[card] == state) for state in ("on", "off")}
    elif design == "cumulative":
        after = next(k for k, cell in enumerate(cells) if cell.states[card] == "on")
        sides = {"on": (cells[after].arm,), "off": (cells[after - 1].arm,)}
    else:
        changed = next(
            cell for cell in cells[1:] if cell.states.get(card, cells[0].states.get(card)) != cells[0].states.get(card)
        )
        state = changed.states[card]
        sides = {state: (changed.arm,), "off" if state == "on" else "on": (cells[0].arm,)}
    return Contrast(card=card, with_it=sides["on"], without=sides["off"])


def _differences(config: TrialConfig, base: TrialConfig, cards) -> dict[str, str]:
    paths = sorted({path for card in cards for path in card.toggles})
    return {
        path: json.dumps(get_path(config, path)) for path in paths if get_path(config, path) != get_path(base, path)
    }


def refuse_equal(arms: Sequence[Arm], setting: str, value: str) -> None:
    """Raises SettingError for two arms whose trials would compute the same, though their configurations may differ:
    whatever came of them would be no effect of the enhancement."""
    seen: dict[TrialConfig, Arm] = {}
    for arm in arms:
        twin = seen.setdefault(effective(arm.config), arm)
        if twin is not arm:
            valid = (
                "enhancements that change different settings"
                if twin.config == arm.config
                else "a base and a budget under which the arms differ"
            )
            problem = f"arms {twin.id} and {arm.id} {why_equal(twin.config, arm.config)}"
            raise SettingError(setting, value, problem, valid)


def why_equal(one: TrialConfig, other: TrialConfig) -> str:
    """In words, of two configurations that compute the same."""
    idle = idle_differences(one, other)
    if not idle:
        return "are the same configuration"
    reasons = [f"{', '.join(paths)} makes no difference here: {reason}" for reason, paths in idle.items()]
    return f"compute the same; {'; '.join(reasons)}"
