"""From a request to a design: which cards are compared on which base, in which arms, with which seeds.

`resolve_study` reads declarations alone. Learning rates that a search found, data views and jobs come later, in
`orchestration.study.plan`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from ablations.arms import check_fit, place
from ablations.data.datasets import Dataset, load_dataset
from ablations.data.schema import filled, filters_of, own_games
from ablations.designs import SCREEN, card_state, design_arms
from ablations.registry import Registry, load_registry
from ablations.request import (
    Request,
    at_each_number,
    parse_control_seeds,
    parse_futility,
    parse_looks,
    parse_samples,
    parse_seeds,
    parse_values,
    seeds_text,
)
from ablations.schema import PRECISION, RATE, Base, Budget, Enhancement
from ablations.screens.arms import ScreenArms, screen_arms
from ablations.screens.choice import Choice, Named, ScreenPlace, base_of_most, choose, parse_names
from ablations.study import OF_STUDIES, Arm, Contrast
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import SettingError, printable

SEARCH = "search"
"""LR=search: the rate of each arm is searched first."""
_LABEL = 12
"""Characters of a value in the label of an arm."""


class Screened(NamedTuple):
    """What a screen varies, and how."""

    choice: Choice
    layout: ScreenArms


@dataclass(frozen=True)
class Design:
    """A study before its learning rates, data views and jobs are known. Every setting of the request is valid."""

    request: Request
    registry: Registry
    dataset: Dataset
    base: Base
    budget: Budget
    cards: tuple[Enhancement, ...]
    """In the form of the base."""
    config: TrialConfig
    """The base under the budget; filters that cards toggle as the data set has them."""
    arms: tuple[Arm, ...]
    """The control first."""
    contrasts: tuple[Contrast, ...]
    seeds: tuple[int, ...]
    seeds_of: Mapping[str, tuple[int, ...]]
    """Arm id -> its seeds: `seeds`, but in a screen; the control may have more."""
    looks: tuple[int, ...] = ()
    """Seeds per arm at each interim analysis; empty: one analysis, at all seeds."""
    futility: float | None = None
    """Nats; None: no arm stops because its effect is small."""
    screen: Screened | None = None

    @property
    def all_seeds(self) -> tuple[int, ...]:
        """Those of any arm, those of every arm first."""
        return tuple(dict.fromkeys((*self.seeds, *self.seeds_of[self.arms[0].id])))

    @property
    def samples(self) -> int:
        """Of a trial of the control."""
        return self.config.training.samples

    @property
    def has_budgets_samples(self) -> bool:
        """Whether trials have as many samples as the budget declares."""
        return self.budget.model_copy(update={"precision": None}) == self.registry.budget(self.budget.id)

    @property
    def settings(self) -> dict[str, str]:
        """Name -> value as it may be typed, of everything that decides the study; its rate apart."""
        request, control = self.request, self.seeds_of[self.arms[0].id]
        runs = sum(map(len, self.seeds_of.values()))
        stated = {
            "NAME": ",".join(card.id for card in self.cards),
            "BASE": self.base.id,
            "DATA": printable(request.data),
            "BUDGET": self.budget.id,
            "PRECISION": request.precision,
            "SAMPLES": str(self.samples) if request.samples else None,
            "DESIGN": request.design,
            "RUNS": str(runs) if self.screen else None,
            "HOLD": request.hold and printable(request.hold),
            "FOLD": request.fold and printable(request.fold),
            "SEEDS": seeds_text(self.seeds, self.looks),
            "CONTROL_SEEDS": seeds_text(control) if not self.screen and control != self.seeds else None,
            "FUTILITY": f"{self.futility:g}" if self.futility else None,
            "DEVICE": request.device,
            "COMPILE": request.compile if request.compile != "none" else None,
        }
        return {name: value for name, value in stated.items() if value}


def resolve_studies(request: Request) -> tuple[Design, ...]:
    """The design of a request, or one at each of the numbers of samples that it names. Raises UserError."""
    return tuple(map(resolve_study, at_each_number(request)))


def resolve_study(request: Request) -> Design:
    """The design that a request describes. The first card decides the base. Raises UserError for the first setting that
    is not valid."""
    registry, is_screen = load_registry(), request.design == SCREEN
    for setting in ("futility", "control_seeds") if is_screen else ("runs", "hold", "fold"):
        if (value := getattr(request, setting)) is not None:
            valid = "DESIGN=add-one" if is_screen else "DESIGN=screen"
            raise SettingError(setting.upper(), value, f"DESIGN={request.design} has no such setting", valid)
    budget, samples = registry.budget(request.budget), None
    if request.samples is not None:
        (samples,) = parse_samples(request.samples)
        if request.is_first_look and budget.first_look is not None:
            smaller = ("evaluation_positions", "progress_positions")
            budget = budget.model_copy(update={name: getattr(budget.first_look, name) for name in smaller})
    has_names = is_screen or request.name is not None
    named = parse_names(registry, request.name or "", is_screen) if has_names else Named((), frozenset())
    cards, chosen = named.cards, request.base
    if is_screen:
        cards = named.cards[:1]
        if len(named.singly) < len(named.cards):  # a group is screened on the base of most of its cards, as published
            if request.claim is not None:
                raise SettingError("CLAIM", request.claim, "a group has no claim of its own", "no CLAIM")
            cards, chosen = (), request.base or base_of_most(named)
    base, budget, config, _ = place(registry, cards, budget, chosen, request.claim, request.precision, samples)
    if is_screen:
        return _screen(request, registry, base, budget, config, named)
    if cards:
        check_fit(registry, cards, base, request.design, request.base is not None)
    cards = tuple(card.on_base(base.id, budget.id) for card in cards)
    looks = parse_looks(request.seeds, request.design, cards)
    seeds = tuple(range(1, looks[-1] + 1)) if looks else parse_seeds(request.seeds, budget.seeds)
    futility = parse_futility(request.futility, looks)
    control = parse_control_seeds(request.control_seeds, seeds, looks, request.design, cards)
    dataset = load_dataset(request.data, request.data_dir)
    config = filled(config, cards, own_games(dataset.declaration.filter))
    for card in cards if request.design == "add-one" else ():
        if filters_of([card]) and card_state(config, card.toggles) == "neither":
            filters = ", ".join(f"{name} {getattr(config.data.games, name)}" for name in sorted(filters_of([card])))
            problem = f"its own filter ({filters}) is neither the off nor the on value of {card.id}"
            raise SettingError("DATA", request.data, problem, "another data set, or DESIGN=leave-one-out")
    arms, contrasts = design_arms(request.design, base.id, config, cards)
    seeds_of = {arm.id: control if arm is arms[0] else seeds for arm in arms}
    design = Design(
        request, registry, dataset, base, budget, cards, config, arms, contrasts, seeds, seeds_of, looks, futility
    )
    return _with_values(design) if request.values else design


def _with_values(design: Design) -> Design:
    """The design of a base alone with the request's values put in. Raises SettingError (--set)."""
    request, chosen, (arm,) = design.request, parse_values(design.request.values), design.arms
    if request.precision is not None and PRECISION in chosen:
        raise SettingError(f"--set {PRECISION}", chosen[PRECISION], "conflicts with --precision", "only one of them")
    if path := next((path for path in OF_STUDIES if path in chosen), None):
        raise SettingError(f"--set {path}", chosen[path], "every study sets it", "--seed, or the games of --data")
    config = with_values(arm.config, chosen, "--set")
    if config == arm.config:
        return design
    values = {path: json.dumps(value) for path, value in chosen.items()}
    label = ", ".join(path + "=" + value.strip('"')[:_LABEL] for path, value in values.items())
    budget, samples = design.budget, config.training.samples
    if samples != arm.config.training.samples:
        budget = budget.model_copy(update={"samples": samples})
    arm = arm.model_copy(update={"config": config, "label": f"with {label}", "values": values})
    return replace(design, arms=(arm,), config=config, budget=budget)


def _screen(
    request: Request, registry: Registry, base: Base, budget: Budget, config: TrialConfig, named: Named
) -> Design:
    """The design of DESIGN=screen. Raises SettingError."""
    names = [name.strip() for name in request.hold.split(",")] if request.hold else []
    hold = tuple(registry.card(name).on_base(base.id, budget.id) for name in names)
    if request.lr == SEARCH:
        raise SettingError("LR", SEARCH, "a screen combines enhancements in every arm", "a number, or found:SEARCH")
    dataset = load_dataset(request.data, request.data_dir)
    config = filled(config, hold, own_games(dataset.declaration.filter))
    has_rate = request.lr is not None or budget.id in base.lr

    def refused(card: Enhancement) -> str | None:
        if has_rate and RATE in card.toggles:
            return "it changes the learning rate itself"
        if card.rate_place(base.id, budget.id):
            return "it has a learning rate for its own arm, and a screen combines arms"
        return None

    choice = choose(ScreenPlace(registry, base, budget, config, hold), named, refused)
    layout = screen_arms(choice.flips, choice.cards, request.fold)
    runs = layout.runs_of(request.runs)
    seeds = parse_seeds(request.seeds, layout.usual_seeds(runs))
    return Design(
        request, registry, dataset, base, budget, choice.cards, choice.flips.base, layout.arms, layout.contrasts,
        seeds, layout.seeds_of(runs, seeds), screen=Screened(choice, layout),
    )  # fmt: skip
