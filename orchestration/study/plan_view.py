"""`gonn plan`: what a study would train, how long it takes, and what it could show; trains nothing."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table

from ablations.designs import DesignCell, ImpossibleDesign
from ablations.request import Request, at_each_number
from ablations.resolve import SEARCH
from ablations.study import Study, TrialRef
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.experiment.speeds import estimate, smallest_line
from orchestration.runners.gpus import visible_gpus
from orchestration.study.arm_rates import rates_so_far
from orchestration.study.first_look import first_look
from orchestration.study.plan import Plan, at_found_rates, check_machine, make_plan, resolve
from orchestration.study.rates import AdoptedRate
from orchestration.study.screen_view import screen_parts
from reports.results.decisions import KnownNoise, is_sequential, known_noise
from reports.search.report import SearchReport
from reports.study.footnotes import looks_line
from reports.workspace import Workspace

SEEDS_SHOWN = 4


def print_plan(request: Request) -> None:
    """Check the request, prepare its data, and print the plan, of each number of samples if it asks for several.

    Raises UserError, for arms that cannot be after a table of all of them.
    """
    workspace = Workspace.here()
    try:
        designs = [resolve(one, workspace) for one in at_each_number(request)]
    except ImpossibleDesign as error:
        output().print(_cells(error.cells))
        raise
    if request.device != "cuda":  # a plan for a GPU needs none here
        check_machine(request)
    for design in designs:
        _print(make_plan(design, workspace), workspace)


def _print(plan: Plan, workspace: Workspace) -> None:
    request, console = plan.design.request, output()
    if request.lr == SEARCH:
        searches = rates_so_far(plan, workspace)
        console.print(_searches(searches))
        rates = {arm: rate for arm, (_, rate) in searches.items() if rate is not None}
        if len(rates) < len(searches):
            console.print("the study's trials are known when every rate is found; the plan below has the base's rate")
        else:
            plan = at_found_rates(plan, rates, workspace)
    study = plan.study
    console.print(f"study {study.id} on {study.coverage}")
    known = known_noise(workspace.studies, workspace.runs, study, workspace.report_cache)
    if plan.design.screen is not None:
        for part in screen_parts(plan, known, workspace):
            console.print(part)
    else:
        console.print(_trials(study, workspace))
    if _is_here(request.device) and (line := _first_look(plan, workspace)):
        console.print(line)
    for line in _facts(plan, known, workspace):
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


def _facts(plan: Plan, known: KnownNoise | None, workspace: Workspace):
    study = plan.study
    training = study.arms[0].config.training
    left = [trial for trial in study.trials if TrialDirectory(workspace.runs / trial.trial).state() != "done"]
    in_all = len(left) * training.samples
    number = f"at most {len(left)}" if is_sequential(study) else len(left)
    yield f"to train: {number} of {len(study.trials)} trials of {training.samples:,} samples, {in_all:,} in all"
    yield _time(plan, left, workspace)
    wanted = plan.design.budget.evaluation_positions
    most = "all games" if wanted == "all" else f"whole games until there are {wanted:,} positions"
    for evaluation in study.evaluations[:1]:
        judged = f"judged on {evaluation.positions:,} positions of {evaluation.games:,} games"
        yield f"{judged} ({evaluation.split}; the {study.budget} budget takes {most})"
    if plan.design.screen is not None:
        return
    if study.contrasts:
        yield smallest_line(study, known)
        yield from filter(None, [looks_line(study)])


def _is_here(device: str) -> bool:
    """False for a GPU that is asked for on a machine without one."""
    return device != "cuda" or bool(visible_gpus().titles)


def _time(plan: Plan, left: Sequence[TrialRef], workspace: Workspace) -> str:
    """How long what is left takes, and how that is known."""
    if not left:
        return "time: none"
    if not _is_here(plan.design.request.device):
        return "time: unknown, no GPU is here to measure it"
    found = estimate(plan.study, left, plan.jobs[0].run, workspace, notes().print)
    load, cores = os.getloadavg()[0], os.cpu_count() or 1
    if load > cores:  # a note: it holds for this moment alone
        longer = (load + found.slots) / cores
        notes().print(
            f"this machine is busy: load {load:.0f} on {cores} cores; expect at least {longer:.0f} times as long"
        )
    side_by_side = f"{found.slots} trial{'s' * (found.slots > 1)} at a time"
    return f"time: {found.minutes} with {side_by_side}, evaluation included; {found.source}"


def _first_look(plan: Plan, workspace: Workspace) -> str | None:
    """The first look that would come before the study, with its time and the smallest effect it can show."""
    look = first_look(plan, workspace, notes().print)
    if look is None:
        return None
    study = look.plan.study
    samples, seeds = study.arms[0].config.training.samples, len(study.seeds)
    what = f"first look: {len(study.trials)} trials of {samples:,} samples, {seeds} seeds"
    if look.is_done:
        return f"{what}, done: study {study.id}"
    known = known_noise(workspace.studies, workspace.runs, study, workspace.report_cache)
    return (
        f"{what}, {look.time.minutes}; {smallest_line(study, known)}; then the full study, unless stopped "
        "(FIRST_LOOK=no: at once)"
    )
