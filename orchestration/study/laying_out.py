"""From a checked request and prepared data to a study and its jobs; nothing is trained here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, cast, get_args

from ablations.data.datasets import PreparedData
from ablations.registry import Registry
from ablations.schema import Budget, Enhancement
from ablations.study import EvaluationRef, Study, TrialRef, seeded, study_id
from gonn_core.config import trial_id
from gonn_core.errors import UserError
from gonn_core.metrics import METRICS
from gonn_core.settings.evaluation import HistoryMode
from gonn_core.trial.job import EvaluationRequest, Job, RunSettings
from orchestration.experiment.settings import evaluated_positions, run_settings
from orchestration.looks.planned import with_looks
from orchestration.search.adopt import AdoptedRate, at_rates
from orchestration.study.arm_views import coverage_of, on_their_views
from orchestration.study.checking import Checked
from reports.stats.verdicts import Thresholds
from reports.tables.formats import about
from reports.workspace import Workspace

EVALUATED: tuple[HistoryMode, ...] = ("full", "as_published")
"""History modes of the evaluations on test games that every trial of a study gets; the first fills the table. Curves
are of validation games."""


Design = Literal["add-one", "leave-one-out", "cumulative", "factorial", "screen"]


def wanted_snapshots(registry: Registry, base: str, samples: int) -> tuple[int, ...]:
    """Sample counts that some claim made on this base names, within the budget: weights are kept there."""
    named = {
        claim.samples
        for card in registry.cards.values()
        for claim in card.claims
        if claim.base == base and claim.samples
    }
    return tuple(sorted(count for count in named if count < samples))


def evaluation_requests(
    prepared: PreparedData, budget: Budget, cards: Sequence[Enhancement] = (), first_look: bool = False
) -> tuple[EvaluationRequest, ...]:
    """The evaluations of a study's trials under a budget: those of every study, and those that claims of its cards are
    read in; of a first look the main one alone."""
    view = prepared.views.get("test")
    if view is None or not view.n:
        return ()
    claimed = {claim.history for card in cards for claim in card.claims if METRICS[claim.metric].source == "positions"}
    histories = (*EVALUATED, *(mode for mode in get_args(HistoryMode) if mode in claimed and mode not in EVALUATED))
    histories = EVALUATED[:1] if first_look else histories
    return tuple(
        EvaluationRequest(
            split="test",
            view=view.digest,
            minimum_positions=evaluated_positions(view, budget.evaluation_positions),
            history=history,
        )
        for history in histories
    )


@dataclass(frozen=True)
class Plan:
    """A study, the jobs of its trials in the order in which they are best run, and what it was planned from."""

    checked: Checked
    study: Study
    jobs: tuple[Job, ...]
    prepared: PreparedData


def lay_out(
    checked: Checked, prepared: PreparedData, workspace: Workspace, rates: Mapping[str, AdoptedRate] | None = None
) -> Plan:
    """The study of a request on prepared data. rates: learning rates of arms, by arm id, in place of the base's."""
    arms, training = on_their_views(checked.arms, prepared)
    if checked.rate is not None:
        arms = tuple(arm.model_copy(update={"rate_found_by": checked.rate.search}) for arm in arms)
    arms = at_rates(arms, rates or _declared(checked))
    requests = evaluation_requests(prepared, checked.budget, checked.cards, checked.request.is_first_look)
    references = tuple(_reference(prepared, request) for request in requests)
    trials = tuple(
        TrialRef(trial=trial_id(seeded(arm.config, seed)), arm=arm.id, seed=seed)
        for seed in (*checked.seeds, *checked.asked.control)
        for arm in arms
        if seed in checked.seeds_of(arm.id)
    )
    thresholds = {name: float(value) for name, value in vars(Thresholds()).items()}
    cards, base, budget, design = checked.cards, checked.base_id, checked.budget.id, checked.request.design
    names, data = tuple(card.id for card in cards), prepared.dataset.label
    snapshots = wanted_snapshots(checked.registry, base, checked.base.training.samples)
    request, samples = checked.request, checked.base.training.samples
    settings = run_settings(
        workspace, prepared, requests, snapshots, request.device, checked.budget, samples, request.compile
    )
    ids = [trial.trial for trial in trials]
    label = checked.budget.label
    shown_budget = label if checked.own_samples else f"{label}-{about(samples)}"
    named = names or ("control",), base, shown_budget, data, design, ids, thresholds, references
    study = Study(
        id=study_id(*named),
        title=_title(checked) + _other_rates(checked, rates),
        cards=names,
        base=base,
        budget=budget,
        design=cast(Design, design),
        data=data,
        coverage=coverage_of(prepared, arms, training),
        pairing="none" if any(card.pairing == "none" for card in cards) else "by_position",
        seeds=checked.seeds,
        arms=arms,
        contrasts=checked.contrasts,
        trials=trials,
        evaluations=references,
        thresholds=thresholds,
        held=dict(checked.screen.choice.held) if checked.screen else {},
        left_out=dict(checked.screen.choice.left_out) if checked.screen else {},
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        commit=settings.commit,
        dirty=settings.dirty,
        samples=None if checked.own_samples else samples,
        precision=checked.budget.precision,
        results=checked.budget.results,
        first_look=checked.request.is_first_look,
    )
    study = with_looks(study, checked.asked, workspace, lambda looks: study_id(*named, looks))
    return Plan(checked, study, jobs_of(study, settings), prepared)


def _title(checked: Checked) -> str:
    """Titles of the cards; how many they are in a screen."""
    if checked.screen is not None:
        return f"screen of {len(checked.cards)} enhancements"
    alone = checked.base_id + f" {checked.arms[0].label}" * bool(checked.arms[0].values)
    named = ", ".join(card.title for card in checked.cards) or f"{alone} alone"
    return f"{named}; a first look" if checked.request.is_first_look else named


def _declared(checked: Checked) -> dict[str, AdoptedRate]:
    """Arm id -> rate that a card declares for it: of the two arms of its contrast the one that is not the control."""
    control, rates = checked.arms[0].id, {}
    for contrast in checked.contrasts:
        if contrast.card in checked.arm_rates:
            arm = next(arm for arm in (*contrast.with_it, *contrast.without) if arm != control)
            rates[arm] = checked.arm_rates[contrast.card]
    return rates


def _other_rates(checked: Checked, rates: Mapping[str, AdoptedRate] | None) -> str:
    """What a study's title says of learning rates that are not the base's."""
    if rates:
        return "; each arm at the learning rate found for it"
    text = f"; learning rate {checked.rate.rate:g}, {checked.rate.source}" if checked.rate else ""
    for card, adopted in checked.arm_rates.items():
        text += f"; arm of {card} at {adopted.rate:g}, {adopted.source}"
    return text


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
            raise UserError(f"study {study.id}: {problem}; make ablation makes the study anew")
    return tuple(jobs)


def _reference(prepared: PreparedData, request: EvaluationRequest) -> EvaluationRef:
    from gonn_core.records.views import subset

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
