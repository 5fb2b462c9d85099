"""`gonn search run`: from a request on the command line to a search and the settings of its trials."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ablations.arms import resolve
from ablations.data.datasets import Dataset, PreparedData, load_dataset, training_view
from ablations.data.schema import with_view
from ablations.designs import budget_config, why_equal
from ablations.registry import EXAMPLES, SHOWN, Registry, load_registry, suggestions
from ablations.request import Device
from ablations.schema import YAML, Base, Budget
from ablations.search import FIRST_SEED, PRUNING, Search, rate_range, search_id
from ablations.study import seeded
from gonn_core.config import TrialConfig
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError, UserError
from gonn_core.settings.training import Precision
from gonn_core.training.compiling import Compile
from gonn_core.trial.job import EvaluationRequest
from orchestration.data import prepare_shown
from orchestration.experiment.pipeline import carry_out, execution
from orchestration.experiment.settings import check_compiled, check_device, evaluated_positions, run_settings
from orchestration.search.experiment import SearchExperiment
from reports.workspace import Workspace


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

    @classmethod
    def of(cls, base: Base, budget: Budget, config: TrialConfig, name: str = "", title: str = "") -> "Target":
        """A target with the usual range of rates; name, title: the base's unless given."""
        return cls(name or base.id, title or base.title, base, budget, config, rate_range(config))


def run_search(
    request: SearchRequest,
    runner: str,
    slots: int | None,
    track: bool,
    address: str | None = None,
    per_gpu: int | None = None,
) -> int:
    """Find the learning rate of a net; 0 when the search is complete, 1 otherwise. Finished work is not repeated.
    Raises UserError before any work."""
    target, dataset = check_search(request)
    how = execution(runner, slots, track, address, per_gpu=per_gpu)
    search = lay_out_search(request, target, prepare_shown(dataset, how.workspace), how.workspace)
    return 1 if carry_out(search, how).report.files.report.unfinished else 0


def check_search(request: SearchRequest) -> tuple[Target, Dataset]:
    """Every setting of a request. Raises UserError for the first that is not valid."""
    target = find_target(load_registry(), request)
    target = replace(target, rates=parse_rates(request.rates) or target.rates)
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
        if effective(arms.on) == effective(arms.off):
            problem = f"its arms {why_equal(arms.off, arms.on)}"
            raise SettingError("NAME", request.name, problem, "a base and a budget under which they differ")
        side, config = ("without", arms.off) if request.arm == "off" else ("with", arms.on)
        if config == arms.control:
            return Target.of(arms.base, arms.budget, config)
        # The name of a study's arm: LR=search resumes this search.
        names = f"{side}-{request.name}-{arms.base.id}", f"{side} {request.name} ({arms.base.id})"
        return Target.of(arms.base, arms.budget, config, *names)
    bases = [*registry.bases, *(name for base in registry.bases.values() for name in base.also_called)]
    if not request.name.strip():
        shown = "`gonn list --bases` and `make list` show them"
        raise UserError(f"NAME: not given; for example NAME=gonn-b5, a base, or NAME={EXAMPLES[0]}; {shown}")
    if request.name not in bases and not request.name.endswith(YAML):
        likely = [*get_close_matches(request.name, bases, SHOWN, 0.75), *suggestions(registry, request.name)]
        shown = "`gonn list --bases` and `make list` show"
        valid = f"{', '.join(likely[:SHOWN])}; {shown} all" if likely else f"those that {shown}"
        raise SettingError("NAME", request.name, "no such base or enhancement", valid)
    if request.arm is not None:
        problem = f"{request.name} is a base, which has no arms"
        raise SettingError("ARM", request.arm, problem, "an enhancement as NAME, or no ARM")
    base = registry.base(request.name)
    if request.base is not None and registry.base(request.base) != base:
        problem = f"NAME names another base, {base.id}"
        raise SettingError("BASE", request.base, problem, "an enhancement as NAME, or no BASE")
    budget = base.in_precision(budget, request.precision)
    config = budget_config(base, budget, base.schedule_end if budget.samples == "claim" else budget.samples)
    return Target.of(base, budget, config)


def parse_rates(text: str | None) -> tuple[float, float] | None:
    """`0.01,0.5` -> those two; None for None. Raises SettingError (RATES)."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        low, high = 0.0, 0.0
    if not 0 < low < high <= 100:
        valid = "two numbers such as 0.01,0.5: above 0, at most 100, the lower first"
        raise SettingError("RATES", text, "not a range of learning rates", valid)
    return low, high


def lay_out_search(
    request: SearchRequest, target: Target, prepared: PreparedData, workspace: Workspace
) -> SearchExperiment:
    """The search of a request, whose target this is, on prepared data."""
    view = training_view(prepared, target.config.data.games)
    return search_of(request, replace(target, config=with_view(target.config, view.digest)), prepared, workspace)


def search_of(request: SearchRequest, target: Target, prepared: PreparedData, workspace: Workspace) -> SearchExperiment:
    """A search of a target whose configuration has the training view in place. request: trials, seed, device,
    compile."""
    view, seed = prepared.views["validation"], request.seed
    positions = evaluated_positions(view, target.budget.evaluation_positions)
    validation = EvaluationRequest(split="validation", view=view.digest, minimum_positions=positions)
    settings = run_settings(
        workspace, prepared, (validation,), (), request.device, target.budget, compile=request.compile
    )
    config = seeded(target.config, seed)
    decided: dict[str, Any] = {"config": config, "validation": validation, "pruning": PRUNING}
    decided |= {"rates": list(target.rates), "trials": request.trials, "seed": seed}
    search = Search(
        id=search_id(target.name, target.budget.label, prepared.dataset.label, decided),
        title=target.title,
        base=target.base.id,
        budget=target.budget.id,
        data=prepared.dataset.label,
        coverage=prepared.coverage,
        precision=target.budget.precision,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=settings.commit,
        dirty=settings.dirty,
        **(decided | {"rates": target.rates}),
    )
    return SearchExperiment(workspace, search, settings, prepared.views["train"])
