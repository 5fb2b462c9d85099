"""`gonn plan`: what a study would train, how long it takes, and what it could show; trains nothing."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.table import Table

from ablations.resolve import SEARCH, Design, Screened
from ablations.study import Study, TrialRef
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.experiment.speeds import estimate, smallest_line
from orchestration.runners.gpus import visible_gpus
from orchestration.study.first_look import first_look
from orchestration.study.plan import Plan, at_found_rates, check_machine, make_plan
from orchestration.study.rates import AdoptedRate, rates_so_far
from reports.results.decisions import KnownNoise, is_sequential, known_noise
from reports.search.report import SearchReport
from reports.stats.model import smallest_shown
from reports.study.report import looks_line
from reports.workspace import Workspace

TRIALS_SHOWN = 4
"""So many trials of an arm are named, more are counted."""


def print_plans(designs: Sequence[Design]) -> None:
    """Prepare the data of designs that differ in their samples alone, and print the plans. Raises UserError."""
    workspace = Workspace.here()
    if designs[0].request.device != "cuda":  # a plan for a GPU needs none here
        check_machine(designs[0].request)
    for design in designs:
        _print(make_plan(design, workspace), workspace)


def _print(plan: Plan, workspace: Workspace) -> None:
    request, screen, console = plan.design.request, plan.design.screen, output()
    is_here = request.device != "cuda" or bool(visible_gpus().titles)
    if request.lr == SEARCH:
        searches = rates_so_far(plan.design, plan.study, plan.prepared, workspace)
        console.print(_searches(searches))
        rates = {arm: rate for arm, (_, rate) in searches.items() if rate is not None}
        if len(rates) < len(searches):
            console.print("the study's trials are known when every rate is found; the plan below has the base's rate")
        else:
            plan = at_found_rates(plan, rates, workspace)
    study = plan.study
    known = known_noise(workspace.studies, workspace.runs, study, workspace.report_cache)
    console.print(f"study {study.id} on {study.coverage}")
    if screen is not None:
        for part in _screen_parts(screen, study):
            console.print(part)
        for line in power(study, known):
            console.print(line)
    console.print(_arms(study, screen, workspace))
    if is_here and (look := _first_look(plan, workspace)):
        console.print(look)
    left = [trial for trial in study.trials if TrialDirectory(workspace.runs / trial.trial).state() != "done"]
    samples, at_most = plan.design.samples, "at most " * is_sequential(study)
    console.print(
        f"to train: {at_most}{len(left)} of {len(study.trials)} trials of {samples:,} samples, "
        f"{len(left) * samples:,} in all"
    )
    console.print(_time(plan, left, workspace) if is_here else "time: unknown, no GPU is here to measure it")
    for evaluation in study.evaluations[:1]:
        judged = f"judged on {evaluation.positions:,} positions of {evaluation.games:,} games"
        console.print(f"{judged} ({evaluation.split}, whole games)")
    if screen is None and study.contrasts:
        console.print(smallest_line(study, known))
    if screen is None and (looks := looks_line(study)):
        console.print(looks)


def _searches(searches: Mapping[str, tuple[SearchReport, AdoptedRate | None]]) -> Table:
    """A row per arm: the search for its rate, its progress, and the rate."""
    table = Table("arm", "searched first", "trials", "rates", "found", box=box.SIMPLE_HEAD, pad_edge=False)
    for arm, (report, rate) in searches.items():
        search = report.search
        done, rates = (
            f"{search.trials - report.unfinished} of {search.trials} done",
            "{:g} to {:g}".format(*search.rates),
        )
        table.add_row(arm, search.id, done, rates, f"{rate.rate:g}" if rate else "not yet")
    return table


def _arms(study: Study, screen: Screened | None, workspace: Workspace) -> Table:
    """A row per arm: what differs from the base, in a screen by the cards' numbers; its trials."""
    changed = changed_cards(screen, study) if screen else {}
    table = Table("arm", "changed" if screen else "settings", "trials", box=box.SIMPLE_HEAD, pad_edge=False)
    for arm in study.arms:
        settings = ", ".join(f"{path} = {value}" for path, value in arm.values.items()) or "the base's"
        states = {trial: TrialDirectory(workspace.runs / trial).state() for trial in study.trials_of(arm.id).values()}
        trials = ", ".join(f"{trial} {state}" for trial, state in states.items())
        if len(states) > TRIALS_SHOWN:
            trials = ", ".join(f"{count} {state}" for state, count in Counter(states.values()).items())
        if screen:
            settings = " ".join(str(number) for number in changed[arm.id]) or "–"
        table.add_row(arm.id if screen else arm.label, settings, trials)
    return table


def _time(plan: Plan, left: Sequence[TrialRef], workspace: Workspace) -> str:
    """How long what is left takes, and how that is known."""
    if not left:
        return "time: none"
    time = estimate(plan.study, left, plan.jobs[0].run, workspace, notes().print)
    side_by_side = f"{time.slots} trial{'s' * (time.slots > 1)} at a time"
    return f"time: {time.minutes} with {side_by_side}, evaluation included; {time.source}"


def _first_look(plan: Plan, workspace: Workspace) -> str | None:
    """The first look that would come before the study, with its time and the smallest effect it can show."""
    look = first_look(plan, workspace, notes().print)
    if look is None:
        return None
    study = look.plan.study
    what = f"first look: {len(study.trials)} trials of {look.plan.design.samples:,} samples, {len(study.seeds)} seeds"
    if look.is_done:
        return f"{what}, done: study {study.id}"
    known = known_noise(workspace.studies, workspace.runs, study, workspace.report_cache)
    then = "then the full study, unless stopped (FIRST_LOOK=no: at once)"
    return f"{what}, {look.time.minutes}; {smallest_line(study, known)}; {then}"


def _screen_parts(screen: Screened, study: Study) -> Iterator[Table | str]:
    """The cards that are varied, those that exclude each other, those that are not varied, and the runs."""
    table = Table("", "varied", "the base", "runs with", "without", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, (contrast, sides) in enumerate(_sides(study), 1):
        has = "has it" if screen.choice.flips.states[contrast] == "on" else "lacks it"
        table.add_row(str(number), contrast, has, *map(str, sides))
    yield table
    columns, by_id = screen.layout.screen.columns, {card.id: card for card in screen.choice.cards}
    for group in dict.fromkeys(column.group for column in columns.values() if len(column.group) > 1):
        pairs = [(one, other) for number, one in enumerate(group) for other in group[:number]]
        reasons = [screen.choice.flips.conflict(by_id[one], by_id[other]) for one, other in pairs]
        why = "; ".join(dict.fromkeys(filter(None, reasons)))
        yield f"each in a part of the arms of its own: {', '.join(group)} ({why})"
    moving = [card for card in study.cards if by_id[card].moves_best_rate]
    if len(moving) > 1:
        yield f"one learning rate for all arms, yet these move the best one: {', '.join(moving)} (better one at a time)"
    for verb, cards in (("held", study.held), ("left out", study.left_out)):
        if cards:
            table = Table(verb, "because", box=box.SIMPLE_HEAD, pad_edge=False)
            for card, reason in cards.items():
                table.add_row(card, reason)
            yield table
    arms, runs = len(study.arms), len(study.trials) // len(study.arms)
    seeds = f"each with {'' if runs > 1 else 'one of the '}seeds {', '.join(map(str, study.seeds))}"
    folded = f", half of them with the sign of {screen.layout.folded} reversed" if screen.layout.folded else ""
    yield f"{len(study.trials)} runs: {arms} arms{folded}, {seeds}; effects are means over the others on and off"


def _sides(study: Study) -> list[tuple[str, tuple[int, int]]]:
    """Card -> runs with it and without it."""
    runs = Counter(trial.arm for trial in study.trials)
    return [(one.card, (sum(runs[arm] for arm in one.with_it), sum(runs[arm] for arm in one.without)))
            for one in study.contrasts]  # fmt: skip


def power(study: Study, known: KnownNoise | None) -> list[str]:
    """Standard error and smallest effect of each card of a screen, and what as many runs of one card at a time would
    show. The known runs count for the noise of these."""
    if known is None:
        return ["standard error: unknown, no noise of runs measured yet on this base, budget and data"]
    thresholds, cards, runs = study.thresholds, len(study.contrasts), len(study.trials)
    spread, df = known.run.run, known.run.df + runs - cards - len(study.seeds)
    lines = [f"standard deviation of a run, σ: {spread:.4f} nats, by {known.runs} runs on this base, budget and data"]
    by_sides: dict[tuple[int, int], list[str]] = defaultdict(list)
    for card, sides in _sides(study):
        by_sides[sides].append(card)
    shown = f"smallest effect shown with {100 * thresholds.power:.0f} % power"
    for pair, names in by_sides.items():
        se = math.sqrt(spread**2 * sum(1 / count for count in pair) + known.evaluation_variance)
        effect = smallest_shown(se, df, thresholds.alpha, thresholds)
        whose = "each effect" if len(names) == cards else ", ".join(names)
        lines.append(f"{whose}: standard error {se:.4f} nats; {shown}: {effect:.4f} nats ({effect / spread:.1f} σ)")
    seeds = runs // (cards + 1)
    alone = known.smallest_effect(seeds, thresholds) if seeds >= thresholds.min_seeds else None
    can = "too few to judge" if alone is None else f"{shown}: {alone:.4f} nats"
    return [*lines, f"one at a time, {runs} runs are {seeds} seed{'s' * (seeds != 1)} an arm: {can}"]


def changed_cards(screen: Screened, study: Study) -> dict[str, list[int]]:
    """Arm -> numbers of the cards that are not in it as in the base."""
    changed: dict[str, list[int]] = {arm.id: [] for arm in study.arms}
    for number, contrast in enumerate(study.contrasts, 1):
        has_it = screen.choice.flips.states[contrast.card] == "on"
        for arm in contrast.without if has_it else contrast.with_it:
            changed[arm].append(number)
    return changed
