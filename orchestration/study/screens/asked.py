"""`DESIGN=screen`: from what NAME, HOLD, RUNS and FOLD say to the arms of a screen and the seeds of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ablations.arms import base_and_samples
from ablations.data.game_filters import filled
from ablations.designs import SCREEN, budget_config
from ablations.registry import Registry
from ablations.schema import Base, Budget, Enhancement
from ablations.screens.arms import ScreenArms, screen_arms
from ablations.screens.choice import LARGE, Choice, Place, base_of_most, choose, large_claim
from ablations.screens.names import Named, parse
from ablations.search import RATE
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from gonn_core.settings.data import GamesConfig
from gonn_core.settings.training import Precision
from orchestration.experiment.samples import budget_at
from orchestration.search.adopt import SEARCH, AdoptedRate, Adopter
from orchestration.study.screens.measured import measured_effects
from reports.workspace import Workspace


@dataclass(frozen=True)
class Asked:
    """What a screen was asked for, as given on the command line; `seeds`: the numbers that SEEDS names, given how many
    there are where it names none."""

    name: str
    base: str | None
    claim: str | None
    hold: str | None
    runs: int | None
    fold: str | None
    lr: str | None
    samples: int | None
    """In place of the budget's."""
    seeds: Callable[[int], tuple[int, ...]]
    precision: Precision | None = None
    """In place of the budget's own."""


@dataclass(frozen=True)
class Screened:
    """A screen that can be: what is varied and what not, its arms, and their seeds."""

    place: Place
    choice: Choice
    design: ScreenArms
    runs: int
    seeds: tuple[int, ...]
    seeds_of: Mapping[str, tuple[int, ...]]
    """Arm id -> its seeds."""
    rate: AdoptedRate | None
    """In place of the base's."""


def screen(asked: Asked, registry: Registry, budget: Budget, own: GamesConfig, workspace: Workspace) -> Screened:
    """The screen that was asked for. own: the data set's filter. Raises SettingError."""
    named = parse(registry, asked.name)
    base, samples = _base(asked, named, registry, budget)
    budget = base.in_precision(budget, asked.precision)
    if asked.samples is not None:
        budget = budget_at(budget, base, (), samples, asked.samples)
    held = [name.strip() for name in asked.hold.split(",")] if asked.hold else []
    hold = tuple(registry.card(name).on_base(base.id, budget.id) for name in held)
    if asked.lr == SEARCH:
        raise SettingError("LR", asked.lr, "a screen combines enhancements in every arm", "a number, or found:SEARCH")
    adopter = Adopter(base, budget.id, (), hold, workspace, budget.precision)
    rate = adopter.given(asked.lr) if asked.lr else adopter.of_base()
    config = filled(budget_config(base, budget, samples), hold, own)
    config = with_values(config, {RATE: rate.rate}) if rate else config

    def refused(card: Enhancement) -> str | None:
        if rate is not None and RATE in card.toggles:
            return "it changes the learning rate itself"
        if f"{base.id}.{budget.id}" in card.lr:
            return "it has a learning rate for its own arm, and a screen combines arms"
        return None

    grouped = len(named.singly) < len(named.ids)
    measured = measured_effects(workspace, base.id, budget.label) if grouped else {}

    def large(card: Enhancement) -> str | None:
        effect = measured.get(card.id)
        if effect is not None and abs(effect.delta) >= LARGE:
            return f"its effect of {effect.delta:+.2f} nats is known ({effect.study})"
        return large_claim(card)

    place = Place(registry, base, budget, config, hold)
    choice = choose(place, named, refused, large)
    design = screen_arms(choice.flips, choice.cards, asked.fold)
    runs = design.runs_of(asked.runs)
    seeds = asked.seeds(design.usual_seeds(runs))
    # Refuses seeds on which the rate was chosen.
    final = Adopter(base, budget.id, seeds, choice.cards, workspace, budget.precision)
    rate = final.given(asked.lr) if asked.lr else final.of_base()
    final.of_arms(SCREEN)
    return Screened(place, choice, design, runs, seeds, design.seeds_of(runs, seeds), rate)


def _base(asked: Asked, named: Named, registry: Registry, budget: Budget) -> tuple[Base, int]:
    """The base and the samples of a trial. The first card decides where all were named singly; a group is screened on
    the base of most of its cards, as published, and where a budget takes samples from claims, to the end of its run."""
    if len(named.singly) == len(named.ids):
        base, samples, _ = base_and_samples(registry, registry.card(named.ids[0]), budget, asked.base, asked.claim)
        return base, samples
    if asked.claim is not None:
        raise SettingError("CLAIM", asked.claim, "a group of enhancements has no claim of its own", "no CLAIM")
    base = registry.base(asked.base or base_of_most(registry, named))
    return base, base.schedule_end if budget.samples == "claim" else budget.samples
