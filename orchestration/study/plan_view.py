"""`gonn plan`: what a study would train, how long it takes, and what it could show; trains nothing."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median

from rich import box
from rich.table import Table

from ablations.designs import DesignCell, ImpossibleDesign
from ablations.study import Study, seeded
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.data.prepare import prepare_shown
from orchestration.looks.plan import looks_lines
from orchestration.runners.base import places
from orchestration.search.adopt import SEARCH, AdoptedRate
from orchestration.study.arm_rates import rates_so_far
from orchestration.study.checking import Checked, Request, at_each_number, check
from orchestration.study.folder import study_folder
from orchestration.study.laying_out import Plan, lay_out
from orchestration.study.screens.view import screen_parts
from reports.results.decisions import is_sequential
from reports.results.seed_pool import PriorNoise, planned_effect, pool_from_studies
from reports.results.speed_and_looks import read_speeds
from reports.search.report import SearchReport
from reports.workspace import Workspace

SEEDS_SHOWN = 4


def print_plan(request: Request) -> None:
    """Check the request, prepare its data, and print the plan, of each number of samples if it asks for several.

    Raises UserError, for arms that cannot be after a table of all of them.
    """
    try:
        each = [check(one) for one in at_each_number(request)]
    except ImpossibleDesign as error:
        output().print(_cells(error.cells))
        raise
    for checked in each:
        _print(checked)


def _print(checked: Checked) -> None:
    request = checked.request
    notes().print(checked.line)
    workspace, console = Workspace.here(), output()
    plan = lay_out(checked, prepare_shown(checked.dataset, workspace), workspace)
    if request.lr == SEARCH:
        searches = rates_so_far(plan, request.device, workspace)
        console.print(_searches(searches))
        rates = {arm: rate for arm, (_, rate) in searches.items() if rate is not None}
        if len(rates) < len(searches):
            console.print("the study's trials are known when every rate is found; below it stands at the base's rate")
        else:
            plan = lay_out(checked, plan.prepared, workspace, rates)
    study = plan.study
    console.print(f"study {study.id} on {study.coverage}")
    prior = pool_from_studies(workspace.studies, workspace.runs, study, cache=workspace.report_cache)
    if plan.checked.screen is not None:
        for part in screen_parts(plan, prior, workspace):
            console.print(part)
    else:
        console.print(_trials(study, workspace))
    for line in _facts(plan, prior, workspace):
        console.print(line)


def _cells(cells: Sequence[DesignCell]) -> Table:
    """A row per arm of a design: the enhancements it has, and why it cannot be, if it cannot."""
    table = Table("arm", "has", "cannot be, because", box=box.SIMPLE_HEAD, pad_edge=False)
    for cell in cells:
        table.add_row(
            cell.label,
            ", ".join(card for card, state in cell.states.items() if state == "on") or "none of them",
            cell.reason or "",
        )
    return table


def _searches(searches: Mapping[str, tuple[SearchReport, AdoptedRate | None]]) -> Table:
    """A row per arm: the search for its rate, how far it is, and the rate."""
    table = Table("arm", "searched first", "trials", "rates", "found", box=box.SIMPLE_HEAD, pad_edge=False)
    for arm, (report, rate) in searches.items():
        search = report.search
        table.add_row(
            arm,
            search.id,
            f"{search.trials - report.unfinished} of {search.trials} done",
            f"{search.rates[0]:g} to {search.rates[1]:g}",
            f"{rate.rate:g}" if rate else "not yet",
        )
    return table


def _trials(study: Study, workspace: Workspace) -> Table:
    """A row per arm: each trial with its state where they fit, else how many are in which state."""
    few = len(study.seeds) <= SEEDS_SHOWN
    table = Table(
        "arm",
        "settings",
        *([f"seed {seed}" for seed in study.seeds] if few else ["trials"]),
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for arm in study.arms:
        trials = study.trials_of(arm.id)
        states = {seed: TrialDirectory(workspace.runs / trials[seed]).state() for seed in trials}
        counted = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
        settings = ", ".join(f"{path} = {value}" for path, value in arm.values.items()) or "the base's"
        table.add_row(
            arm.label, settings, *([f"{trials[seed]} {state}" for seed, state in states.items()] if few else [counted])
        )
    return table


def _facts(plan: Plan, prior: PriorNoise, workspace: Workspace):
    from gonn_core.nets.pairs import equal_start_share

    study = plan.study
    training = study.arms[0].config.training
    left = [trial for trial in study.trials if TrialDirectory(workspace.runs / trial.trial).state() != "done"]
    in_all = len(left) * training.samples
    number = f"at most {len(left)}" if is_sequential(study) else len(left)
    yield f"to train: {number} of {len(study.trials)} trials of {training.samples:,} samples, {in_all:,} in all"
    yield _time(plan, left, workspace)
    for evaluation in study.evaluations[:1]:
        yield f"judged on {evaluation.positions:,} positions of {evaluation.games:,} games ({evaluation.split})"
    if plan.checked.screen is not None:
        return
    if study.contrasts:
        yield _power(study, prior)
        yield from looks_lines(study, prior)
    control = study.arms[0]
    for arm in study.arms[1:]:
        share = equal_start_share(seeded(control.config, study.seeds[0]), seeded(arm.config, study.seeds[0]))
        yield f"{arm.label}: {100 * share:.1f} % of the parameters start equal to the control's"


def _time(plan: Plan, left, workspace: Workspace) -> str:
    """Hours and minutes from speeds measured earlier: of this study's arms, else of trials of the same size."""
    study = plan.study
    if not left:
        return "time: none"
    rates = {arm: speed.samples_per_s for arm, speed in read_speeds(study_folder(workspace, study.id)).items()}
    if not rates:
        same = [
            path
            for path in workspace.studies.glob("*/study.json")
            if f"-{study.base}-{study.budget}-" in path.parent.name
        ]
        known = [speed.samples_per_s for path in same for speed in read_speeds(path.parent).values()]
        if not known:
            return "time: unknown until an arm of this base and budget has been measured"
        rates = dict.fromkeys((arm.id for arm in study.arms), median(known))
    together = places(left, None, plan.jobs[0].run.device).slots
    seconds = sum(study.arm(trial.arm).config.training.samples / rates[trial.arm] for trial in left) / together
    side_by_side = f"{together} trial{'s' * (together > 1)} at a time"
    minutes = max(1, seconds / 60)
    return f"time: about {minutes:.0f} min of training with {side_by_side}, by measured speeds; evaluation adds some"


def _power(study: Study, prior: PriorNoise) -> str:
    effect = planned_effect(study, prior)
    if effect is None:
        return "smallest effect: unknown, no seed noise measured yet on this base, budget and data"
    power = 100 * study.thresholds["power"]
    shown = f"smallest effect that {len(study.seeds)} seeds show with {power:.0f} % power"
    return f"{shown}, from the seed noise so far: {effect:.4f} nats"
