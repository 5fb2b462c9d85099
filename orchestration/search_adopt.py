"""Learning rates of a study that are not its base's: given as a number, or found by a search and resolved to its number before hashing."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ablations.schema import Enhancement
from ablations.search import FIRST_SEED, RATE
from ablations.study import Arm
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from orchestration.search_folder import find_search, tried_rates
from orchestration.workspace import Workspace
from reports.search_report import search_report

FOUND, SEARCH = "found:", "search"
_VALID = "a number, found:SEARCH, or search"


@dataclass(frozen=True)
class AdoptedRate:
    """A rate in place of the base's, and where it is from, in words."""

    rate: float
    source: str


def adopted_rate(text: str, base: str, budget: str, seeds: Collection[int], cards: Sequence[Enhancement], workspace: Workspace) -> AdoptedRate | None:
    """The rate that LR names for all arms of a study; None where each arm is searched. Raises SettingError (LR, SEEDS)."""
    for card in cards:
        if RATE in card.toggles:
            raise SettingError("LR", text, f"{card.id} changes the learning rate itself", "no LR")
    if text == SEARCH:
        unmoved = [card.id for card in cards if not card.moves_best_rate]
        if unmoved:
            raise SettingError("LR", text, f"{unmoved[0]} is not known to move the best learning rate", "an enhancement that is, or found:SEARCH for all arms")
        if FIRST_SEED in seeds:
            raise SettingError("SEEDS", FIRST_SEED, "the searches of the arms use this seed", "others")
        return None
    if not text.startswith(FOUND):
        try:
            rate = float(text)
        except ValueError:
            raise SettingError("LR", text, "not a learning rate", _VALID) from None
        if not 0 < rate <= 100:
            raise SettingError("LR", text, "not a learning rate", "above 0, at most 100")
        return AdoptedRate(rate, "given")
    search = find_search(workspace, text.removeprefix(FOUND), "LR")
    if (search.base, search.budget) != (base, budget):
        raise SettingError("LR", text, f"searched for {search.base} under budget {search.budget}", f"a search for {base} under budget {budget}")
    if search.seed in seeds:
        raise SettingError("SEEDS", search.seed, f"search {search.id} chose the rate on this seed", "others")
    report = search_report(search, tried_rates(workspace, search))
    if report.rate is None or report.unfinished:
        raise SettingError("LR", text, f"search {search.id} has {report.unfinished} trials to come", "a finished search; gonn search run goes on with it")
    return AdoptedRate(report.rate, f"found by {search.id}")


def at_rates(arms: Sequence[Arm], rates: Mapping[str, float]) -> tuple[Arm, ...]:
    """Arms (by id) at rates of their own; an arm that is not named stays as it is."""
    return tuple(_at(arm, rates[arm.id]) if arm.id in rates else arm for arm in arms)


def _at(arm: Arm, rate: float) -> Arm:
    changes = {"config": with_values(arm.config, {RATE: rate}), "values": {**arm.values, RATE: json.dumps(rate)}, "label": f"{arm.label} at rate {rate:g}"}
    return arm.model_copy(update=changes)
