"""From a request on the command line to a search and the settings of its trials; nothing is trained here."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path

from ablations.arms import budget_config, resolve
from ablations.catalogue.lookup import EXAMPLES, SHOWN, suggestions
from ablations.data.datasets import Dataset, PreparedData, load_dataset, training_view
from ablations.data.game_filters import with_view
from ablations.designs import why_equal
from ablations.registry import Registry, load_registry
from ablations.request import Device
from ablations.schema import YAML, Base, Budget
from ablations.search import FIRST_SEED, PRUNING, Search, check_seed, rate_range, search_id
from ablations.study import seeded
from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError, UserError
from gonn_core.settings.training import Precision
from gonn_core.training.compiling import Compile
from gonn_core.trial.job import EvaluationRequest
from orchestration.experiment.settings import check_compiled, check_device, evaluated_positions, run_settings
from orchestration.search.experiment import SearchExperiment
from reports.workspace import Workspace

LEAST_TRIALS = 5
"""The rates that are spread over the range; with fewer trials nothing is searched."""


@dataclass(frozen=True)
class SearchRequest:
    """What was asked for, as given on the command line."""

    name: str
    """A base, or an enhancement."""
    arm: str | None = None
    """on or off: which arm of an enhancement; on unless given."""
    base: str | None = None
    data: str = "starter"
    data_dir: Path | None = None
    budget: str = "cpu"
    precision: Precision | None = None
    """Of all trials, in place of the budget's own."""
    trials: int = 16
    seed: int = FIRST_SEED
    rates: str | None = None
    """`low,high`; the base's range unless given."""
    device: Device = "auto"
    compile: Compile = "none"


@dataclass(frozen=True)
class Target:
    """A net whose rate is searched."""

    name: str
    """Part of the search's id."""
    title: str
    base: Base
    budget: Budget
    config: TrialConfig
    """Under the budget, without seeds; the data view is put in place once the data are prepared."""
    rates: tuple[float, float]
    """Lowest and highest."""


def check_search(request: SearchRequest) -> tuple[Target, Dataset]:
    """Every setting of a request. Raises UserError for the first that is not valid."""
    target = find_target(load_registry(), request)
    check_seed(request.seed)
    target = replace(target, rates=parse_rates(request.rates) or target.rates)
    if request.trials < LEAST_TRIALS:
        raise SettingError("TRIALS", request.trials, "too few to search with", f"{LEAST_TRIALS} to 1000")
    dataset = load_dataset(request.data, request.data_dir)
    check_device(request.device)
    check_compiled(request.compile, request.device)
    return target, dataset


def find_target(registry: Registry, request: SearchRequest) -> Target:
    """The net that a request names. Raises SettingError (NAME, ARM, BASE, BUDGET)."""
    budget = registry.budget(request.budget)
    if request.name in registry.cards:
        if request.arm not in (None, "on", "off"):
            raise SettingError("ARM", request.arm, "no such arm", ["on", "off"])
        arms = resolve(registry, request.name, request.budget, request.base, precision=request.precision)
        base, budget = arms.base, arms.budget
        config = arms.off if request.arm == "off" else arms.on
        if effective(arms.on) == effective(arms.off):
            problem = f"its arms {why_equal(arms.off, arms.on)}"
            raise SettingError("NAME", request.name, problem, "a base and a budget under which they differ")
        if config == arms.control:
            return _target(base.id, base.title, base, budget, config)
        # As a study's arm is called: LR=search goes on with this search.
        side = "without" if request.arm == "off" else "with"
        name, title = f"{side}-{request.name}-{base.id}", f"{side} {request.name} ({base.id})"
        return _target(name, title, base, budget, config)
    bases = [*registry.bases, *(name for base in registry.bases.values() for name in base.also_called)]
    if not request.name.strip():
        shown = "`gonn list --bases` and `make list` show them"
        raise UserError(f"NAME: not given; for example NAME=gonn-b5, a base, or NAME={EXAMPLES[0]}; {shown}")
    if request.name not in bases and not request.name.endswith(YAML):
        likely = [*get_close_matches(request.name, bases, SHOWN, 0.75), *suggestions(registry, request.name)]
        shown = "`gonn list --bases` and `make list` show"
        known = f"{', '.join(likely[:SHOWN])}; {shown} all" if likely else f"those that {shown}"
        raise SettingError("NAME", request.name, "no such base or enhancement", known)
    if request.arm is not None:
        raise SettingError(
            "ARM", request.arm, f"{request.name} is a base, which has no arms", "an enhancement as NAME, or no ARM"
        )
    base = registry.base(request.name)
    if request.base is not None and registry.base(request.base) != base:
        raise SettingError(
            "BASE", request.base, f"NAME names another base, {base.id}", "an enhancement as NAME, or no BASE"
        )
    budget = base.in_precision(budget, request.precision)
    config = budget_config(base, budget, base.schedule_end if budget.samples == "claim" else budget.samples)
    return _target(base.id, base.title, base, budget, config)


def _target(name: str, title: str, base: Base, budget: Budget, config: TrialConfig) -> Target:
    """A target at the rates that its base and budget say."""
    return Target(name, title, base, budget, config, rate_range(base, budget.id, config))


def parse_rates(text: str | None) -> tuple[float, float] | None:
    """`0.01,0.5` -> those two; None for None. Raises SettingError (RATES)."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not 0 < low < high <= 100:
        raise SettingError(
            "RATES",
            text,
            "not a range of learning rates",
            "two numbers such as 0.01,0.5: above 0, at most 100, the lower first",
        )
    return low, high


def lay_out_search(
    request: SearchRequest, target: Target, prepared: PreparedData, workspace: Workspace
) -> SearchExperiment:
    """The search of a request, whose target this is, on prepared data."""
    view = training_view(prepared, target.config.data.games)
    placed = replace(target, config=with_view(target.config, view.digest))
    return search_of(placed, request.trials, request.seed, prepared, workspace, request.device, request.compile)


def search_of(
    target: Target,
    trials: int,
    seed: int,
    prepared: PreparedData,
    workspace: Workspace,
    device: Device,
    compile: Compile,
) -> SearchExperiment:
    """A search of a target whose configuration has the training view in place."""
    view = prepared.views["validation"]
    positions = evaluated_positions(view, target.budget.evaluation_positions)
    validation = EvaluationRequest(split="validation", view=view.digest, minimum_positions=positions)
    settings = run_settings(workspace, prepared, (validation,), (), device, target.budget, compile=compile)
    config = seeded(target.config, seed)
    decided = {
        "config": config,
        "validation": validation,
        "pruning": PRUNING,
        "rates": list(target.rates),
        "trials": trials,
        "seed": seed,
    }
    search = Search(
        id=search_id(target.name, target.budget.label, prepared.dataset.label, decided),
        title=target.title,
        base=target.base.id,
        budget=target.budget.id,
        data=prepared.dataset.label,
        coverage=prepared.coverage,
        config=config,
        rates=target.rates,
        trials=trials,
        seed=seed,
        pruning=PRUNING,
        validation=validation,
        precision=target.budget.precision,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=settings.commit,
        dirty=settings.dirty,
    )
    return SearchExperiment(workspace, search, settings, prepared.views["train"])
