"""Learning rates of a study other than the base's: given numbers, or found by a search and resolved to a number before
hashing.

LR names one rate for all arms, or has the rate of each arm searched first. Otherwise declarations may name them: a base
for all arms, a card for the arm in which it differs from the base.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ablations.resolve import SEARCH, Design
from ablations.schema import RATE, budget_label
from ablations.search import FIRST_SEED
from ablations.study import Arm
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from orchestration.search.optuna_rates import find_search, tried_rates
from reports.search.report import search_report
from reports.workspace import Workspace

SEARCH_PREFIX = "found:"
_VALID = "a number, found:SEARCH, or search"


@dataclass(frozen=True)
class AdoptedRate:
    """A rate in place of another, and the id of the search that found it; None for a number that was given."""

    rate: float
    search: str | None = None

    @property
    def source(self) -> str:
        """Where it is from, in words."""
        return f"found by {self.search}" if self.search else "given"


@dataclass(frozen=True)
class Rates:
    """Rates that a study's arms have in place of the base's."""

    of_all: AdoptedRate | None = None
    of_cards: Mapping[str, AdoptedRate] = field(default_factory=dict)
    """Card id -> the rate that it declares for its arm."""
    of_arms: Mapping[str, AdoptedRate] = field(default_factory=dict)
    """Arm id -> the rate that LR=search found for it."""

    @property
    def title(self) -> str:
        """What a study's title says of them."""
        if self.of_arms:
            return "; each arm at the learning rate found for it"
        text = f"; learning rate {self.of_all.rate:g}, {self.of_all.source}" if self.of_all else ""
        for card, adopted in self.of_cards.items():
            text += f"; arm of {card} at {adopted.rate:g}, {adopted.source}"
        return text

    def stated(self, lr: str | None) -> str | None:
        """The value of LR in a line of settings; lr: as it was given."""
        if lr:
            return lr + (f" ({self.of_all.rate:g})" if self.of_all else "")
        return f"({self.of_all.rate:g}, {self.of_all.source})" if self.of_all else None

    def in_arms(self, design: Design) -> tuple[Arm, ...]:
        """The design's arms at these rates."""
        arms, single = list(design.arms), dict(self.of_arms)
        if self.of_all is not None:
            value = {RATE: self.of_all.rate}
            arms = [
                arm.model_copy(update={"config": with_values(arm.config, value), "rate_found_by": self.of_all.search})
                for arm in arms
            ]
        for contrast in design.contrasts if not single else ():
            if contrast.card in self.of_cards:
                sides = (*contrast.with_it, *contrast.without)
                single[next(arm for arm in sides if arm != arms[0].id)] = self.of_cards[contrast.card]
        return tuple(_at(arm, single[arm.id]) if arm.id in single else arm for arm in arms)


def _at(arm: Arm, adopted: AdoptedRate) -> Arm:
    changes = {
        "config": with_values(arm.config, {RATE: adopted.rate}),
        "values": {**arm.values, RATE: json.dumps(adopted.rate)},
        "label": f"{arm.label} at rate {adopted.rate:g}",
        "rate_found_by": adopted.search,
    }
    return arm.model_copy(update=changes)


def rates_of(design: Design, workspace: Workspace) -> Rates:
    """The rates of a design, those of LR=search apart. Raises SettingError naming the setting or declaration that asks
    for one (LR, SEEDS, DESIGN)."""
    lr, base, budget = design.request.lr, design.base, design.budget
    if lr == SEARCH:
        _check_searchable(design)
        return Rates()
    if lr is not None:
        return Rates(_rate(lr, "LR", design, workspace))
    declared = base.lr.get(budget.id)
    if not design.cards and RATE in design.arms[0].values:
        declared = None
    setting = f"{base.file}.lr.{budget.id}"
    of_all = None if declared is None else _rate(str(declared), setting, design, workspace)
    return Rates(of_all, _of_cards(design, workspace))


def _of_cards(design: Design, workspace: Workspace) -> dict[str, AdoptedRate]:
    place, kind, rates = f"{design.base.id}.{design.budget.id}", design.request.design, {}
    for card in design.cards:
        if place in card.lr:
            setting = f"cards/{card.system}/{card.id}.yaml.lr.{place}"
            if kind != "add-one":
                problem = f"{card.id} has a learning rate for its own arm ({setting}), this design combines arms"
                raise SettingError("DESIGN", kind, problem, "add-one, or LR for all arms")
            rates[card.id] = _found_or_given(str(card.lr[place]), setting, design, workspace)
    return rates


def _check_searchable(design: Design) -> None:
    """Raises SettingError (LR, SEEDS) for a design whose arms cannot have a rate each."""
    _refuse_rate_cards(design, "LR", SEARCH)
    unmoved = [card.id for card in design.cards if not card.moves_best_rate]
    if unmoved:
        problem = f"{unmoved[0]} is not known to move the best learning rate"
        raise SettingError("LR", SEARCH, problem, "an enhancement that is, or found:SEARCH for all arms")
    if FIRST_SEED in design.all_seeds:
        raise SettingError("SEEDS", FIRST_SEED, "the searches of the arms use this seed", "others")


def _refuse_rate_cards(design: Design, setting: str, text: str) -> None:
    for card in (*design.cards, *(design.screen.choice.flips.held if design.screen else ())):
        if RATE in card.toggles:
            valid = "no LR" if setting == "LR" else "no lr there, or LR"
            raise SettingError(setting, text, f"{card.id} changes the learning rate itself", valid)


def _rate(text: str, setting: str, design: Design, workspace: Workspace) -> AdoptedRate:
    """The rate of all arms."""
    _refuse_rate_cards(design, setting, text)
    return _found_or_given(text, setting, design, workspace)


def _found_or_given(text: str, setting: str, design: Design, workspace: Workspace) -> AdoptedRate:
    if not text.startswith(SEARCH_PREFIX):
        return AdoptedRate(_number(text, setting))
    search = find_search(workspace, text.removeprefix(SEARCH_PREFIX), setting)
    base, label = design.base.id, budget_label(design.budget.id, design.budget.precision)
    if (search.base, search.budget_label) != (base, label):
        problem = f"searched for {search.base} under budget {search.budget_label}"
        raise SettingError(setting, text, problem, f"a search for {base} under budget {label}")
    if search.seed in design.all_seeds:
        raise SettingError("SEEDS", search.seed, f"search {search.id} chose the rate on this seed", "others")
    report = search_report(search, tried_rates(workspace, search))
    if report.rate is None or report.unfinished:
        problem = f"search {search.id} has {report.unfinished} trials to come"
        raise SettingError(setting, text, problem, "a finished search; gonn search run resumes it")
    return AdoptedRate(report.rate, search.id)


def _number(text: str, setting: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        raise SettingError(setting, text, "not a learning rate", _VALID) from None
    if not 0 < rate <= 100:
        raise SettingError(setting, text, "not a learning rate", "above 0, at most 100")
    return rate
