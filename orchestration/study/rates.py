"""Learning rates of a study other than the base's: given numbers, or found by a search and resolved to a number before
hashing.

LR names one rate for all arms, or has the rate of each arm searched first, with equal trials and seeds. Otherwise
declarations may name them: a base for all arms, a card for the arm in which it differs from the base.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from ablations.data.datasets import PreparedData
from ablations.resolve import SEARCH, Design
from ablations.schema import RATE, budget_label
from ablations.search import FIRST_SEED
from ablations.study import Arm, Study
from gonn_core.config import with_values
from gonn_core.errors import SettingError, UserError
from orchestration.console import notes
from orchestration.experiment.pipeline import Execution, carry_out
from orchestration.search.experiment import SearchExperiment
from orchestration.search.optuna_rates import find_search, tried_rates
from orchestration.search.planning import SearchRequest, Target, search_of
from reports.search.page import sentences
from reports.search.report import SearchReport, search_report
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

    def given(self, lr: str | None) -> str | None:
        """LR as a study keeps it; lr: as it was given."""
        return f"{SEARCH_PREFIX}{self.of_all.search}" if lr and self.of_all and self.of_all.search else lr

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
    declared, setting = base.lr.get(budget.id), f"{base.file}.lr.{budget.id}"
    if lr is not None:
        declared, setting = lr, "LR"
    elif not design.cards and RATE in design.arms[0].values:
        declared = None
    if declared is not None:
        for card in (*design.cards, *(design.screen.choice.flips.held if design.screen else ())):
            if RATE in card.toggles:
                valid = "no LR" if setting == "LR" else "no lr there, or LR"
                raise SettingError(setting, declared, f"{card.id} changes the learning rate itself", valid)
    if lr == SEARCH:
        unmoved = [card.id for card in design.cards if not card.moves_best_rate]
        if unmoved:
            problem = f"{unmoved[0]} is not known to move the best learning rate"
            raise SettingError("LR", SEARCH, problem, "an enhancement that is, or found:SEARCH for all arms")
        if FIRST_SEED in design.all_seeds:
            raise SettingError("SEEDS", FIRST_SEED, "the searches of the arms use this seed", "others")
        return Rates()
    of_all = None if declared is None else _found_or_given(str(declared), setting, design, workspace)
    if lr is not None:
        return Rates(of_all)
    kind, rates = design.request.design, {}
    for card in design.cards:
        if place := card.rate_place(base.id, budget.id):
            setting = f"cards/{card.system}/{card.id}.yaml.lr.{place}"
            if kind != "add-one":
                problem = f"{card.id} has a learning rate for its own arm ({setting}), this design combines arms"
                raise SettingError("DESIGN", kind, problem, "add-one, or LR for all arms")
            rates[card.id] = _found_or_given(str(card.lr[place]), setting, design, workspace)
    return Rates(of_all, rates)


def _found_or_given(text: str, setting: str, design: Design, workspace: Workspace) -> AdoptedRate:
    if not text.startswith(SEARCH_PREFIX):
        try:
            rate = float(text)
        except ValueError:
            raise SettingError(setting, text, "not a learning rate", _VALID) from None
        if not 0 < rate <= 100:
            raise SettingError(setting, text, "not a learning rate", "above 0, at most 100")
        return AdoptedRate(rate)
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


def arm_searches(
    design: Design, study: Study, prepared: PreparedData, workspace: Workspace
) -> dict[str, SearchExperiment]:
    """Arm id -> the search for its rate. The control's serves every study of its base and data."""
    base, budget = design.base, design.budget
    request = SearchRequest("", device=design.request.device, compile=design.request.compile)
    searches = {}
    for arm in study.arms:
        names = () if arm.id == study.arms[0].id else (f"{arm.id}-{base.id}", f"{arm.label} ({base.id})")
        target = Target.of(base, budget, arm.config, *names)
        searches[arm.id] = search_of(request, target, prepared, workspace)
    return searches


def search_arms(design: Design, study: Study, prepared: PreparedData, how: Execution) -> dict[str, AdoptedRate]:
    """Arm id -> rate found for it (`LR=search`). Raises UserError for a search with unfinished trials."""
    rates = {}
    for arm, search in arm_searches(design, study, prepared, how.workspace).items():
        report = carry_out(search, how, show=False).report.files.report
        notes().print(" ".join(sentences(report)))
        rate = _adopted(report)
        if rate is None:
            to_come = f"{report.unfinished} of {search.size} trials are still to come"
            raise UserError(f"search {search.id}: {to_come}; the same command resumes it")
        rates[arm] = rate
    return rates


def rates_so_far(
    design: Design, study: Study, prepared: PreparedData, workspace: Workspace
) -> dict[str, tuple[SearchReport, AdoptedRate | None]]:
    """Arm id -> its search so far, and the rate found when it is finished; trains nothing."""
    reports = {
        arm: search_report(experiment.search, tried_rates(workspace, experiment.search))
        for arm, experiment in arm_searches(design, study, prepared, workspace).items()
    }
    return {arm: (report, _adopted(report)) for arm, report in reports.items()}


def _adopted(report: SearchReport) -> AdoptedRate | None:
    return None if report.unfinished or report.rate is None else AdoptedRate(report.rate, report.search.id)
