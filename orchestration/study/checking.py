"""A request on the command line, and whether each of its settings is valid; no data are touched."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ablations.arms import base_and_samples, on_one_base
from ablations.conditions import card_state
from ablations.data.datasets import Dataset, load_dataset
from ablations.data.game_filters import filled, filters_of, own_games
from ablations.designs import SCREEN, budget_config, design_arms
from ablations.registry import Registry, load_registry
from ablations.schema import Base, Budget, Enhancement
from ablations.screens.names import is_group
from ablations.search import RATE
from ablations.study import Arm, Contrast
from gonn_core.compiling.body import Compile
from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import SettingError, printable
from gonn_core.settings.training import Precision
from orchestration.data.archive_folder import data_folder
from orchestration.experiment.samples import budget_at, parse_samples
from orchestration.experiment.settings import Device, check_compiled, check_device
from orchestration.looks.asked import AskedSeeds, asked_seeds, parse_seeds
from orchestration.search.adopt import AdoptedRate, Adopter
from orchestration.study.screens.asked import Asked, Screened, screen
from reports.workspace import Workspace


@dataclass(frozen=True)
class Request:
    """What was asked for, as given on the command line."""

    name: str | None
    """Enhancements; None: none, the base is trained alone."""
    data: str = "starter"
    data_dir: Path | None = None
    budget: str = "cpu"
    seeds: str | None = None
    base: str | None = None
    design: str = "add-one"
    device: Device = "auto"
    compile: Compile = "none"
    lr: str | None = None
    """A learning rate in place of the base's: a number, found:SEARCH, or search."""
    claim: str | None = None
    """A claim of the first card, from which the budget takes base, conditions and samples; None: the leading one."""
    runs: int | None = None
    """Of a screen: trials in all; None: two of each arm."""
    hold: str | None = None
    """Of a screen: cards that are on in all arms, separated by commas."""
    fold: str | None = None
    """Of a screen: a card whose sign is reversed in a second half of arms."""
    futility: str | None = None
    """Nats within which an arm stops at a look."""
    control_seeds: str | None = None
    """More seeds for the control alone."""
    precision: Precision | None = None
    """Of all arms, in place of the budget's own."""
    samples: str | None = None
    """In place of the budget's. Of several, `at_each_number` makes a request for each."""
    first_look: str = "yes"
    """Whether a small study comes before one that takes long (no: none does)."""
    is_first_look: bool = False
    """Whether this is such a small study: see `orchestration.study.first_look`."""
    is_only_planned: bool = False
    """Whether nothing will be trained here, so that the device need not be here either."""


def at_each_number(request: Request) -> tuple[Request, ...]:
    """A request for each of the numbers of samples that one asks for. Raises SettingError (SAMPLES)."""
    if request.samples is None:
        return (request,)
    return tuple(replace(request, samples=str(number)) for number in parse_samples(request.samples))


def parse_names(text: str, registry: Registry) -> tuple[Enhancement, ...]:
    """Cards of a comma-separated list. Raises SettingError (NAME)."""
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if part not in registry.cards and is_group(registry, part):
            raise SettingError("NAME", part, "a group of enhancements", "single ones, or DESIGN=screen")
    cards = tuple(registry.card(part) for part in parts)
    if len({card.id for card in cards}) < len(cards):
        raise SettingError("NAME", text, "an enhancement is named twice", "each of them once")
    return cards


def _check_filters(request: Request, base: TrialConfig, cards: Sequence[Enhancement]) -> None:
    """That the data set's own filter is one of the two that a card compares, where it is the control. Raises
    SettingError (DATA)."""
    for card in cards if request.design == "add-one" else ():
        if filters_of([card]) and card_state(base, card.toggles) == "neither":
            own = ", ".join(f"{name} {getattr(base.data.games, name)}" for name in sorted(filters_of([card])))
            raise SettingError(
                "DATA",
                request.data,
                f"its own filter ({own}) is neither the off nor the on value of {card.id}",
                "another data set, or DESIGN=leave-one-out",
            )


@dataclass(frozen=True)
class Checked:
    """A request whose every setting was found valid, before any work, and the arms that it designs."""

    request: Request
    registry: Registry
    cards: tuple[Enhancement, ...]
    """In the form of the base."""
    budget: Budget
    base_id: str
    base: TrialConfig
    """Under the budget, without data view and seeds; filters that cards toggle as the data set has them."""
    arms: tuple[Arm, ...]
    """Without data view and seeds; the control first."""
    contrasts: tuple[Contrast, ...]
    asked: AskedSeeds
    dataset: Dataset
    rate: AdoptedRate | None = None
    """In place of the base's; None: the base's, or searched for each arm."""
    arm_rates: Mapping[str, AdoptedRate] = field(default_factory=dict)
    """Card id -> rate that the card declares for its arm."""
    screen: Screened | None = None
    """Of a screen."""

    @property
    def seeds(self) -> tuple[int, ...]:
        """Those of every arm."""
        return self.asked.each

    def seeds_of(self, arm: str) -> tuple[int, ...]:
        """Seeds with which an arm is trained: all of them, but in a screen; the control may have more."""
        if self.screen is not None:
            return self.screen.seeds_of[arm]
        return (*self.seeds, *self.asked.control) if arm == self.arms[0].id else self.seeds

    @property
    def own_samples(self) -> bool:
        """Whether trials have as many samples as the budget says."""
        return self.budget.model_copy(update={"precision": None}) == self.registry.budget(self.budget.id)

    @property
    def line(self) -> str:
        """All settings of the study, in one line."""
        settings = {
            **({"NAME": ",".join(card.id for card in self.cards)} if self.cards else {}),
            "BASE": self.base_id,
            "DATA": printable(self.request.data),
            "BUDGET": self.budget.id,
            **({"PRECISION": self.request.precision} if self.request.precision else {}),
            "SEEDS": self.asked.text,
            **({"FUTILITY": f"{self.asked.futility:g}"} if self.asked.futility else {}),
            **({"CONTROL_SEEDS": ",".join(map(str, self.seeds_of(self.arms[0].id)))} if self.asked.control else {}),
            "DESIGN": self.request.design,
            "DEVICE": self.request.device,
        }
        if self.request.compile != "none":
            settings["COMPILE"] = self.request.compile
        if self.request.samples:
            settings["SAMPLES"] = str(self.base.training.samples)
        if self.screen is not None:
            settings["RUNS"] = str(self.screen.runs)
            settings |= {"HOLD": printable(self.request.hold)} if self.request.hold else {}
            settings |= {"FOLD": printable(self.request.fold)} if self.request.fold else {}
        if self.request.lr:
            settings["LR"] = printable(self.request.lr) + (f" ({self.rate.rate:g})" if self.rate else "")
        elif self.rate:
            settings["LR"] = f"({self.rate.rate:g}, {self.rate.source})"
        return " ".join(f"{name}={value}" for name, value in settings.items())


def check(request: Request) -> Checked:
    """Every setting of a request. Raises UserError for the first that is not valid."""
    registry = load_registry()
    of_screens = request.design == SCREEN
    for setting in ("futility", "control_seeds") if of_screens else ("runs", "hold", "fold"):
        if (value := getattr(request, setting)) is not None:
            valid = "DESIGN=add-one" if of_screens else "DESIGN=screen"
            raise SettingError(setting.upper(), value, f"DESIGN={request.design} has no such setting", valid)
    if of_screens:
        return _check_screen(request, registry)
    named = () if request.name is None else parse_names(request.name, registry)
    budget = _budget(request, registry, named)
    asked = asked_seeds(request.seeds, request.futility, request.control_seeds, budget.seeds, request.design, named)
    base, config, cards = _on_base(request, registry, named, budget)
    dataset = load_dataset(request.data, data_folder(request.data_dir))
    adopter = Adopter(base, budget.id, (*asked.each, *asked.control), cards, Workspace.here(), budget.precision)
    rate = adopter.given(request.lr) if request.lr else adopter.of_base()
    arm_rates = {} if request.lr else adopter.of_arms(request.design)
    config = with_values(config, {RATE: rate.rate}) if rate else config
    config = filled(config, cards, own_games(dataset.declaration.filter))
    _check_filters(request, config, cards)
    arms, contrasts = design_arms(request.design, base.id, config, cards)
    if not (request.is_only_planned and request.device == "cuda"):
        check_device(request.device)
        check_compiled(request.compile, request.device)
    return Checked(request, registry, cards, budget, base.id, config, arms, contrasts, asked, dataset, rate, arm_rates)


def _check_screen(request: Request, registry: Registry) -> Checked:
    budget, dataset = registry.budget(request.budget), load_dataset(request.data, data_folder(request.data_dir))
    asked = Asked(
        name=request.name or "",
        base=request.base,
        claim=request.claim,
        hold=request.hold,
        runs=request.runs,
        fold=request.fold,
        lr=request.lr,
        samples=None if request.samples is None else parse_samples(request.samples)[0],
        seeds=lambda default: parse_seeds(request.seeds, default),
        precision=request.precision,
    )
    if not (request.is_only_planned and request.device == "cuda"):
        check_device(request.device)
        check_compiled(request.compile, request.device)
    found = screen(asked, registry, budget, own_games(dataset.declaration.filter), Workspace.here())
    place, config, cards, design = found.place, found.choice.flips.base, found.choice.cards, found.design
    return Checked(
        request, registry, cards, place.budget, place.base.id, config, design.arms, design.contrasts,
        AskedSeeds(found.seeds), dataset, rate=found.rate, screen=found,
    )  # fmt: skip


def _budget(request: Request, registry: Registry, cards: Sequence[Enhancement]) -> Budget:
    """The budget that is named, in the request's precision and at its number of samples."""
    budget = registry.budget(request.budget)
    if request.samples is None and request.precision is None:
        return budget
    if cards:
        base, own, _ = base_and_samples(registry, cards[0], budget, request.base, request.claim)
    else:
        base, own = _base_alone(request, registry, budget)
    budget = base.in_precision(budget, request.precision)
    if request.samples is None:
        return budget
    (samples,) = parse_samples(request.samples)
    if request.is_first_look and budget.first_look is not None:
        smaller = ("evaluation_positions", "progress_positions")
        budget = budget.model_copy(update={name: getattr(budget.first_look, name) for name in smaller})
    return budget_at(budget, base, [card.on_base(base.id, budget.id) for card in cards], own, samples)


def _on_base(
    request: Request, registry: Registry, cards: Sequence[Enhancement], budget: Budget
) -> tuple[Base, TrialConfig, tuple[Enhancement, ...]]:
    """The base, its configuration under the budget, and the cards in its form."""
    if cards:
        return on_one_base(registry, cards, budget, request.design, request.base, request.claim)
    base, samples = _base_alone(request, registry, budget)
    return base, budget_config(base, budget, samples), ()


def _base_alone(request: Request, registry: Registry, budget: Budget) -> tuple[Base, int]:
    """A base without enhancements, and the samples of a trial: to the end of its published run where a budget takes
    them from claims."""
    base = registry.base(request.base or "")
    return base, base.schedule_end if budget.samples == "claim" else budget.samples
