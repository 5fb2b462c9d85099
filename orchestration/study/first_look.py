"""The first look: a small study of the same arms that a budget may declare, run before a study that takes long, so that
there is a verdict within minutes. It is a study of its own, and appears in no table with others.

Where: studies with the budget's own seeds and samples, of designs with one control, of few arms; not where the study is
under way already, takes less than five minutes, or not much longer than its first look.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rich.text import Text

from ablations.request import PAIRS
from ablations.resolve import SEARCH, Design, resolve_study
from gonn_core.errors import SettingError, printable
from orchestration.console import notes, output
from orchestration.experiment.pipeline import Result
from orchestration.experiment.speeds import Say, TimeEstimate, estimate, states_of, unfinished
from orchestration.study.plan import Plan, plan_of
from orchestration.study.report import ReportedStudy
from reports.tables.formats import about
from reports.tables.writers import TerminalTable
from reports.workspace import Workspace

LEAST_SECONDS = 300.0
"""A study that takes less has no first look."""
MOST_SHARE = 0.25
"""Of the time of the study that its first look takes at most."""


def first_design(design: Design) -> Design | None:
    """The design of the first look before a study; None where its settings rule one out."""
    request, declared = design.request, design.registry.budget(design.budget.id).first_look
    given = (request.seeds, request.samples, request.control_seeds)
    if (
        declared is None
        or request.is_first_look
        or request.first_look == "no"
        or given != (None, None, None)
        or request.lr == SEARCH
        or request.design not in PAIRS
        or not design.cards
        or len(design.arms) > declared.most_arms
    ):
        return None
    request = replace(request, samples=str(declared.samples), seeds=str(declared.seeds), is_first_look=True)
    try:
        return resolve_study(request)
    except SettingError:
        return None  # the net warms up over more samples


@dataclass(frozen=True)
class PlannedFirstLook:
    """A first look that is worth its time: its plan, how long it takes, and how long the study that it precedes."""

    plan: Plan
    time: TimeEstimate
    full: Plan
    full_time: TimeEstimate
    is_done: bool
    """Whether only its verdict is left to say."""


def first_look(full: Plan, workspace: Workspace, say: Say) -> PlannedFirstLook | None:
    """The first look before a study; None where it has none. May measure this machine, see `estimate`."""
    design = first_design(full.design)
    if design is None:
        return None
    states = states_of(full.study.trials, workspace)
    control = full.study.arms[0].id
    if any(states[trial.trial] != "new" for trial in full.study.trials if trial.arm != control):
        return None  # it is under way
    plan = plan_of(design, full.prepared, workspace)
    left = unfinished(plan.study, states_of(plan.study.trials, workspace))
    full_time = _full_time(full, workspace, say)
    time = estimate(plan.study, left or plan.study.trials, plan.jobs[0].run, workspace, say)
    if left and (full_time.seconds < LEAST_SECONDS or time.seconds > MOST_SHARE * full_time.seconds):
        return None
    return PlannedFirstLook(plan, time, full, full_time, not left)


def _full_time(full: Plan, workspace: Workspace, say: Say) -> TimeEstimate:
    left = unfinished(full.study, states_of(full.study.trials, workspace))
    return estimate(full.study, left or full.study.trials, full.jobs[0].run, workspace, say)


def look_first(look: PlannedFirstLook, run: Callable[[Plan], Result[ReportedStudy]]) -> None:
    """Run a first look, unless it is done, and say what it found and that it is a first look. run: trains what a plan
    has left and writes its report."""
    study, full = look.plan.study, look.full.study
    samples = study.arms[0].config.training.samples
    if not look.is_done:
        notes().print(
            f"first a look at {samples:,} samples, {len(study.seeds)} seeds: {look.time.minutes}; the full study goes "
            f"on by itself ({full.arms[0].config.training.samples:,} samples, {look.full_time.minutes}); "
            "FIRST_LOOK=no leaves it out"
        )
    result = run(look.plan)
    report, console = result.report.files.report, output()
    if not look.is_done and report.study.contrasts:
        from reports.study.tables import main_table

        table = main_table(report, "effects")
        if table is not None:
            console.print(TerminalTable(table))
    for sentence in report.sentences:
        console.print(Text(printable(f"a first look at {samples:,} samples: {sentence}", 500)))
    full_time = _full_time(look.full, Workspace.here(), notes().print)  # by now its arms have been measured
    console.print(
        f"the full study continues with {about(full.arms[0].config.training.samples)} samples, "
        f"{full_time.minutes}; there the effect may be another one. Ctrl-C keeps everything"
    )
