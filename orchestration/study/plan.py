"""From a design to a study and its jobs: learning rates, data, views, evaluations. Nothing is trained here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal, cast, get_args

from ablations.data.datasets import PreparedData, training_view
from ablations.data.schema import with_view
from ablations.request import Request
from ablations.resolve import Design
from ablations.schema import Budget, Enhancement
from ablations.settings import line_of
from ablations.study import TRAINING_POSITIONS, Arm, EvaluationRef, Looks, Study, Thresholds, TrialRef, seeded, study_id
from gonn_core.config import TrialConfig, trial_id
from gonn_core.effective.whole import effective
from gonn_core.errors import SettingError, UserError
from gonn_core.metrics import METRICS
from gonn_core.records.views import View, subset
from gonn_core.settings.data import HistoryMode
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings
from orchestration.console import notes
from orchestration.data import prepare_shown
from orchestration.experiment.settings import check_compiled, check_device, evaluated_positions, run_settings
from orchestration.study.looks import with_looks
from orchestration.study.rates import AdoptedRate, Rates, rates_of
from reports.tables.formats import about
from reports.workspace import Workspace

EVALUATED: tuple[HistoryMode, ...] = ("full", "as_published")
"""History modes of the evaluations on test games that every trial of a study gets; the first fills the table. Curves
are of validation games."""


@dataclass(frozen=True)
class Plan:
    """A study and the jobs of its trials, in the order in which they are best run."""

    design: Design
    rates: Rates
    prepared: PreparedData
    study: Study
    jobs: tuple[Job, ...]


def check_machine(request: Request) -> None:
    """This machine must have the request's device, and be able to compile nets as it says. Raises SettingError (DEVICE,
    COMPILE)."""
    check_device(request.device)
    check_compiled(request.compile, request.device)


def make_plan(design: Design, workspace: Workspace, more: str = "") -> Plan:
    """The plan of a design, its data prepared; prints its settings. more: printed after them. Raises UserError."""
    rates = rates_of(design, workspace)
    lr = {"LR": rates.stated(design.request.lr)}
    notes().print(f"{line_of({**design.settings, **lr})} {more}".strip())
    return _plan(design, rates, prepare_shown(design.dataset, workspace), workspace)


def at_found_rates(plan: Plan, found: Mapping[str, AdoptedRate], workspace: Workspace) -> Plan:
    """The plan with the rates that LR=search found for each arm."""
    return _plan(plan.design, replace(plan.rates, of_arms=found), plan.prepared, workspace)


def plan_of(design: Design, prepared: PreparedData, workspace: Workspace) -> Plan:
    """The plan of a design on data that are prepared already."""
    return _plan(design, rates_of(design, workspace), prepared, workspace)


def _plan(design: Design, rates: Rates, prepared: PreparedData, workspace: Workspace) -> Plan:
    request, budget, samples = design.request, design.budget, design.samples
    arms, training = on_their_views(rates.in_arms(design), prepared)
    requests = evaluation_requests(prepared, budget, design.cards, request.is_first_look)
    claims = [claim for card in design.registry.cards.values() for claim in card.claims if claim.base == design.base.id]
    snapshots = sorted({claim.samples for claim in claims if claim.samples and claim.samples < samples})
    settings = run_settings(workspace, prepared, requests, snapshots, request.device, budget, samples, request.compile)
    names = tuple(card.id for card in design.cards)
    trials = tuple(
        TrialRef(trial=trial_id(seeded(arm.config, seed)), arm=arm.id, seed=seed)
        for seed in design.all_seeds
        for arm in arms
        if seed in design.seeds_of[arm.id]
    )
    shown = budget.label if design.has_budgets_samples else f"{budget.label}-{about(samples)}"
    references, ids = tuple(_reference(prepared, each) for each in requests), [trial.trial for trial in trials]

    def identify(looks: Looks | None) -> str:
        named = names or ("control",), design.base.id, shown, prepared.dataset.label, request.design
        return study_id(*named, ids, Thresholds(), references, looks)

    study = Study(
        id=identify(None),
        title=_title(design) + rates.title,
        cards=names,
        base=design.base.id,
        budget=budget.id,
        design=cast(Literal["add-one"], request.design),
        data=prepared.dataset.label,
        coverage=coverage_of(prepared, arms, training),
        pairing="none" if any(card.pairing == "none" for card in design.cards) else "by_position",
        seeds=design.seeds,
        arms=arms,
        contrasts=design.contrasts,
        trials=trials,
        evaluations=references,
        thresholds=Thresholds(),
        held=dict(design.screen.choice.held) if design.screen else {},
        left_out=dict(design.screen.choice.left_out) if design.screen else {},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=settings.commit,
        dirty=settings.dirty,
        samples=None if design.has_budgets_samples else samples,
        lr=rates.given(request.lr),
        precision=budget.precision,
        results=budget.results,
        first_look=request.is_first_look,
    )
    study = with_looks(study, design.looks, design.futility, workspace, identify)
    return Plan(design, rates, prepared, study, jobs_of(study, settings))


def _title(design: Design) -> str:
    """Titles of the cards; in a screen how many they are."""
    if design.screen is not None:
        return f"screen of {len(design.cards)} enhancements"
    alone = design.base.id + f" {design.arms[0].label}" * bool(design.arms[0].values)
    named = ", ".join(card.title for card in design.cards) or f"{alone} alone"
    return f"{named}; a first look" if design.request.is_first_look else named


def on_their_views(arms: tuple[Arm, ...], prepared: PreparedData) -> tuple[tuple[Arm, ...], dict[str, View]]:
    """The arms on the training views that their filters make, and those views by arm.

    Raises UserError for a view without positions, and for two arms that become the same trial: there is nothing to
    compare in these games.
    """
    views = {arm.id: training_view(prepared, arm.config.data.games) for arm in arms}
    placed = tuple(arm.model_copy(update={"config": with_view(arm.config, views[arm.id].digest)}) for arm in arms)
    seen: dict[TrialConfig, Arm] = {}
    for arm in placed:
        same = seen.setdefault(effective(arm.config), arm)
        if same is not arm:
            both = f"arms {same.id} and {arm.id} train on the same {views[arm.id].n:,} positions"
            raise SettingError("DATA", prepared.dataset.label, both, "a data set with games that the filter leaves out")
    return placed, views


def coverage_of(prepared: PreparedData, arms: Sequence[Arm], training: Mapping[str, View]) -> str:
    """What is trained on, with the number of positions of each arm where these differ."""
    if len({view.digest for view in training.values()}) == 1:
        return prepared.coverage
    counts = ", ".join(f"{arm.label} {training[arm.id].n:,}" for arm in arms)
    return f"{prepared.coverage}{TRAINING_POSITIONS}{counts}"


def evaluation_requests(
    prepared: PreparedData, budget: Budget, cards: Sequence[Enhancement] = (), first_look: bool = False
) -> tuple[EvaluationRequest, ...]:
    """The evaluations of a study's trials under a budget: those of every study, and those that claims of its cards are
    read in; for a first look the main one alone."""
    view = prepared.views.get("test")
    if view is None or not view.n:
        return ()
    claimed = {claim.history for card in cards for claim in card.claims if METRICS[claim.metric].source == "positions"}
    histories = (*EVALUATED, *(mode for mode in get_args(HistoryMode) if mode in claimed and mode not in EVALUATED))
    positions = evaluated_positions(view, budget.evaluation_positions)
    return tuple(
        EvaluationRequest(split="test", view=view.digest, minimum_positions=positions, history=history)
        for history in (EVALUATED[:1] if first_look else histories)
    )


def jobs_of(study: Study, settings: RunSettings) -> tuple[Job, ...]:
    """The study's jobs, seed by seed, so that an interrupted study has whole pairs.

    Raises UserError for a study whose trials this version would give other numbers, hence other ids.
    """
    jobs = []
    for trial in study.trials:
        labels = {"study": study.id, "arm": trial.arm, "seed": str(trial.seed)}
        jobs.append(Job(config=seeded(study.arm(trial.arm).config, trial.seed), run=settings, labels=labels))
        if jobs[-1].id != trial.trial:
            problem = f"trial {trial.trial} was made by a version with other numerics"
            raise UserError(f"study {study.id}: {problem}; make ablation plans the study again")
    return tuple(jobs)


def _reference(prepared: PreparedData, request: EvaluationRequest) -> EvaluationRef:
    chosen = subset(prepared.views[request.split], request.minimum_positions, request.subset_seed)
    assert request.split != "train", "a study is evaluated on games that nothing was trained on"
    return EvaluationRef(
        split=request.split,
        history=request.history,
        view=request.view,
        subset=chosen.digest,
        positions=chosen.n,
        games=len(set(chosen.games().tolist())),
    )
