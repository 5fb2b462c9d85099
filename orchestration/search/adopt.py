"""Learning rates of a study that are not its base's: numbers, or found by a search and resolved to its number before
hashing.

The command line names one rate for all arms (LR). Else declarations may: a base for all arms, a card for the arm in
which it is not as the base has it.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ablations.schema import Base, Enhancement, budget_label
from ablations.search import FIRST_SEED, RATE
from ablations.study import Arm
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from gonn_core.settings.training import Precision
from orchestration.search.folder import find_search, tried_rates
from reports.search.report import search_report
from reports.workspace import Workspace

SEARCH_PREFIX, SEARCH = "found:", "search"
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
class Adopter:
    """Finds the rates that a study adopts; SettingErrors name the setting or declaration that asks for one."""

    base: Base
    budget: str
    seeds: Collection[int]
    cards: Sequence[Enhancement]
    """In the form of the base."""
    workspace: Workspace
    precision: Precision | None = None
    """In place of the budget's own: a rate that was searched in another is none for it."""

    def given(self, text: str) -> AdoptedRate | None:
        """The rate that LR names for all arms; None where each arm is searched. Raises SettingError (LR, SEEDS)."""
        self._refuse_own_rates("LR", text)
        if text != SEARCH:
            return self._rate(text, "LR")
        unmoved = [card.id for card in self.cards if not card.moves_best_rate]
        if unmoved:
            raise SettingError(
                "LR",
                text,
                f"{unmoved[0]} is not known to move the best learning rate",
                "an enhancement that is, or found:SEARCH for all arms",
            )
        if FIRST_SEED in self.seeds:
            raise SettingError("SEEDS", FIRST_SEED, "the searches of the arms use this seed", "others")
        return None

    def of_base(self) -> AdoptedRate | None:
        """The rate that the base declares under the budget, if any. Raises SettingError (the declaration, SEEDS)."""
        if self.budget not in self.base.lr:
            return None
        text, setting = str(self.base.lr[self.budget]), f"{self.base.file}.lr.{self.budget}"
        self._refuse_own_rates(setting, text)
        return self._rate(text, setting)

    def of_arms(self, design: str) -> dict[str, AdoptedRate]:
        """Card id -> the rate that it declares for its arm. Raises SettingError (the declaration, SEEDS, DESIGN)."""
        place, rates = f"{self.base.id}.{self.budget}", {}
        for card in self.cards:
            if place in card.lr:
                setting = f"cards/{card.system}/{card.id}.yaml.lr.{place}"
                if design != "add-one":
                    raise SettingError(
                        "DESIGN",
                        design,
                        f"{card.id} has a learning rate for its own arm ({setting}), this design combines arms",
                        "add-one, or LR for all arms",
                    )
                rates[card.id] = self._rate(str(card.lr[place]), setting)
        return rates

    def _refuse_own_rates(self, setting: str, text: str) -> None:
        for card in self.cards:
            if RATE in card.toggles:
                raise SettingError(
                    setting,
                    text,
                    f"{card.id} changes the learning rate itself",
                    "no LR" if setting == "LR" else "no lr there, or LR",
                )

    def _rate(self, text: str, setting: str) -> AdoptedRate:
        if not text.startswith(SEARCH_PREFIX):
            return AdoptedRate(_number(text, setting))
        search = find_search(self.workspace, text.removeprefix(SEARCH_PREFIX), setting)
        label = budget_label(self.budget, self.precision)
        if (search.base, search.budget_label) != (self.base.id, label):
            raise SettingError(
                setting,
                text,
                f"searched for {search.base} under budget {search.budget_label}",
                f"a search for {self.base.id} under budget {label}",
            )
        if search.seed in self.seeds:
            raise SettingError("SEEDS", search.seed, f"search {search.id} chose the rate on this seed", "others")
        report = search_report(search, tried_rates(self.workspace, search))
        if report.rate is None or report.unfinished:
            raise SettingError(
                setting,
                text,
                f"search {search.id} has {report.unfinished} trials to come",
                "a finished search; gonn search run goes on with it",
            )
        return AdoptedRate(report.rate, search.id)


def at_rates(arms: Sequence[Arm], rates: Mapping[str, AdoptedRate]) -> tuple[Arm, ...]:
    """Arms (by id) at rates of their own; an arm that is not named stays as it is."""
    return tuple(_at(arm, rates[arm.id]) if arm.id in rates else arm for arm in arms)


def _at(arm: Arm, adopted: AdoptedRate) -> Arm:
    changes = {
        "config": with_values(arm.config, {RATE: adopted.rate}),
        "values": {**arm.values, RATE: json.dumps(adopted.rate)},
        "label": f"{arm.label} at rate {adopted.rate:g}",
        "rate_found_by": adopted.search,
    }
    return arm.model_copy(update=changes)


def _number(text: str, setting: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        raise SettingError(setting, text, "not a learning rate", _VALID) from None
    if not 0 < rate <= 100:
        raise SettingError(setting, text, "not a learning rate", "above 0, at most 100")
    return rate
