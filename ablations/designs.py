"""Designs: from a base, a budget and cards to the arms that are trained and the contrasts that are taken.

A design first says which cards every arm has (`cells`), whether such an arm can be or not; `design_arms` makes the
study's arms of them. An effect is always that of having the enhancement: Δ = arms with it minus arms without it,
whichever of the two the base is.
"""

import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ablations.data.schema import PREFIX
from ablations.declarations import Declarations, find
from ablations.schema import Base, Budget, Enhancement, toggle_values
from ablations.study import Arm, Contrast
from gonn_core.config import TrialConfig, can_have, get_path, has_values, with_values
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


def card_state(config: TrialConfig, toggles: Mapping[str, Any]) -> Literal["on", "off", "neither"]:
    """Whether a configuration stands at a card's on values, at its off values, or at neither; neither, too, where it
    cannot have the others, being of another family of nets or set of planes."""
    if has_values(config, toggle_values(toggles, "on")):
        return "on" if can_have(config, toggle_values(toggles, "off")) else "neither"
    if has_values(config, toggle_values(toggles, "off")):
        return "off" if can_have(config, toggle_values(toggles, "on")) else "neither"
    return "neither"


def unmet_condition(card, config: TrialConfig, has_card: Callable[[str], bool | None]) -> str | None:
    """The first condition of `card` (an object with id, and perhaps requires and excludes) that a configuration fails,
    in words; None when it meets all.

    has_card: whether a card that a condition names is on; None where that is not for this question.
    """
    for verb, conditions, wanted in (
        ("needs", getattr(card, "requires", ()), True),
        ("excludes", getattr(card, "excludes", ()), False),
    ):
        for condition in conditions:
            if condition.card is not None:
                if has_card(condition.card) not in (wanted, None):
                    return f"{card.id} {verb} {condition.card}"
            elif has_values(config, {condition.path: condition.value}) != wanted:
                return f"{card.id} {verb} {condition.path} = {condition.value}"
    return None


def unmet(declared: Declarations, card: Enhancement, base: Base) -> str | None:
    """The first condition of `card` that `base` fails, in words; None when it meets all."""

    def has_card(name: str) -> bool:
        other = find(declared.cards, f"{card.id}.requires or excludes", name, "no such enhancement")
        return card_state(base.config, other.on_base(base.id).toggles) == "on"

    return unmet_condition(card, base.config, has_card)


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
            problem = f"cannot compress the schedule of {base.id} ({kind})"
            raise SettingError("BUDGET", budget.id, problem, f"a base with the schedule {' or '.join(COMPRESSIBLE)}")
        values["training.schedule.compression"] = max(1.0, base.schedule_end / samples)
    return with_values(base.config, values, f"{base.id} under budget {budget.id}")


def cells(design: str, base_name: str, base: TrialConfig, cards: Sequence) -> list[DesignCell]:
    """Every arm of a design over `cards` (objects with id and toggles, and perhaps requires and excludes), the control
    first.

    add-one: the control is the base; every card flips once, added where the base lacks it, taken out where the base has
    it. leave-one-out: the control is the base with all cards on; each is taken out once. cumulative: from the base with
    all cards off, one more is added at a time. factorial: all combinations, main effects. Raises SettingError for an
    unknown design, for more than 4 cards of a factorial, for add-one on a base that has neither value of a card, and
    for two cards that change one setting where a design combines them.
    """
    if design not in DESIGNS:
        raise SettingError("DESIGN", design, "not a known design", (*DESIGNS, SCREEN))
    if design == "add-one":
        planned = list(_add_one(base_name, base, cards))
        return [cell_of(arm, label, base, cards, states) for arm, label, states in planned]
    for one, other in itertools.combinations(cards, 2):
        if shared := sorted(set(one.toggles) & set(other.toggles)):
            problem = f"both change {', '.join(shared)} and cannot be combined"
            raise SettingError("NAME", f"{one.id}+{other.id}", problem, "one of them, or DESIGN=add-one")
    ids = [card.id for card in cards]
    on, off = dict.fromkeys(ids, "on"), dict.fromkeys(ids, "off")
    if design == "leave-one-out":
        planned = [(CONTROL, f"{base_name} with all", on)]
        planned += [(f"without-{card}", f"without {card}", {**on, card: "off"}) for card in ids]
    elif design == "cumulative":
        planned = [(CONTROL, f"{base_name} with none", off)]
        for number, card in enumerate(ids, 1):
            planned.append((f"plus-{card}", f"+ {card}", {**off, **dict.fromkeys(ids[:number], "on")}))
    elif len(cards) > 4:
        problem = f"{len(cards)} enhancements make {2 ** len(cards)} arms"
        raise SettingError("DESIGN", design, problem, "at most 4 enhancements")
    elif sum(any(path.startswith(PREFIX) for path in card.toggles) for card in cards) > 1:
        # Each pair of filters makes a view of its own, so that no effect of one of them is known.
        raise SettingError("DESIGN", design, "several enhancements filter the games", "add-one, or one of them")
    else:
        planned = []
        for chosen in itertools.product(("off", "on"), repeat=len(cards)):
            states = dict(zip(ids, chosen, strict=True))
            names = "+".join(card for card in ids if states[card] == "on")
            none = (CONTROL, f"{base_name} with none", states)
            planned.append((f"with-{names}", f"with {names}", states) if names else none)
    return [cell_of(arm, label, base, cards, states) for arm, label, states in planned]


def _add_one(base_name: str, base: TrialConfig, cards: Sequence) -> Iterator[tuple[str, str, dict[str, str]]]:
    yield CONTROL, base_name, {}
    for card in cards:
        state = card_state(base, card.toggles)
        if state == "neither":
            values = ", ".join(f"{path} = {get_path(base, path)}" for path in card.toggles)
            problem = f"has neither the off nor the on values of {card.id} ({values})"
            raise SettingError("BASE", base_name, problem, "another base, or another design")
        side, other = ("without", "off") if state == "on" else ("with", "on")
        yield f"{side}-{card.id}", f"{side} {card.id}", {card.id: other}


def design_arms(
    design: str, base_name: str, base: TrialConfig, cards: Sequence
) -> tuple[tuple[Arm, ...], tuple[Contrast, ...]]:
    """Arms (the shared control first) and contrasts of a design over `cards`, see `cells`. Raises SettingError for a
    design that cannot be, or two of whose arms would compute the same."""
    designed = cells(design, base_name, base, cards)
    arms = arms_of(designed, base, cards)
    return arms, tuple(_contrast(design, card.id, designed) for card in cards)


def arms_of(cells: Sequence[DesignCell], base: TrialConfig, cards: Sequence) -> tuple[Arm, ...]:
    """The arms of cells, with the settings of `cards` in which they differ from `base`. Raises SettingError (NAME) for
    cells that cannot be, and for two arms that would compute the same."""
    names = "+".join(card.id for card in cards)
    if refused := [f"{cell.label} ({cell.reason})" for cell in cells if cell.reason]:
        shown = "; ".join(refused[:REASONS_SHOWN] + ["…"] * (len(refused) > REASONS_SHOWN))
        problem = f"{len(refused)} of {len(cells)} arms cannot be: {shown}"
        raise SettingError("NAME", names, problem, "enhancements that can be combined so, or DESIGN=add-one")
    paths, arms, seen = sorted({path for card in cards for path in card.toggles}), [], dict[TrialConfig, Arm]()
    for cell in cells:
        assert cell.config is not None, "a cell without a reason against it has a configuration"
        changed = {path: get_path(cell.config, path) for path in paths}
        values = {path: json.dumps(value) for path, value in changed.items() if value != get_path(base, path)}
        arm = Arm(id=cell.arm, label=cell.label, config=cell.config, values=values)
        same = seen.setdefault(effective(arm.config), arm)
        if same is not arm:  # whatever came of them would be no effect of the enhancement
            valid = "a base and a budget under which the arms differ"
            if same.config == arm.config:
                valid = "enhancements that change different settings"
            problem = f"arms {same.id} and {arm.id} {why_equal(same.config, arm.config)}"
            raise SettingError("NAME", names, problem, valid)
        arms.append(arm)
    return tuple(arms)


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


def why_equal(one: TrialConfig, other: TrialConfig) -> str:
    """In words, of two configurations that compute the same."""
    idle = idle_differences(one, other)
    if not idle:
        return "are the same configuration"
    reasons = [f"{', '.join(paths)} makes no difference here: {reason}" for reason, paths in idle.items()]
    return f"compute the same; {'; '.join(reasons)}"
