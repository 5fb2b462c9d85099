"""The GPU queue: `results/gpu/queue.yaml`, trials worth GPU minutes in order of value, each with its job file.

Every entry is checked against the declarations: its job is the trial that a study of its base under the gpu budget
trains, with or without the enhancements whose claims it is for. `make queue` (`python -m scripts.gpu_queue`) prints
which are done and which is next.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich import box
from rich.table import Table

from ablations.arms import resolve
from ablations.designs import budget_config
from ablations.registry import Registry, load_registry
from ablations.schema import Id, Text
from ablations.strict_yaml import read_yaml
from ablations.study import seeded
from gonn_core.config import Strict, parse_model, trial_id, with_values
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job, read_job
from orchestration.console import output
from reports.workspace import Workspace

FOLDER = Path(__file__).resolve().parent.parent / "results" / "gpu"
BUDGET = "gpu"
Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]


class QueuedTrial(Strict):
    """One trial of the queue."""

    job: Name
    """File jobs/<job>.json beside the queue."""
    base: Id
    seed: Annotated[int, Field(ge=0)] = 1
    set: dict[str, Any] = {}
    """Config path -> value where it differs from the base under the budget."""
    samples: Annotated[int, Field(ge=1)]
    claims: tuple[Text, ...] = ()
    """`card.claim` of the claims that this trial is needed for, with the others of its base."""
    why: Text


class Queue(Strict):
    """The whole file."""

    format: Literal[1] = 1
    trials: Annotated[tuple[QueuedTrial, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Entry:
    """A queued trial with its job."""

    queued: QueuedTrial
    job: Job

    def state(self, workspace: Workspace, folder: Path = FOLDER) -> str:
        """done (its result is in the workspace or committed under `trials/` beside the queue), or the state of its
        directory here."""
        if (folder / "trials" / self.job.id / "result.json").is_file():
            return "done"
        return TrialDirectory(workspace.runs / self.job.id).state()


def read_queue(folder: Path = FOLDER) -> list[Entry]:
    """The queue in its order, every entry checked. Raises UserError for the first one that is not what it says."""
    queue, registry = parse_model(Queue, read_yaml(folder / "queue.yaml"), "queue.yaml"), load_registry()
    names = [queued.job for queued in queue.trials]
    if len(set(names)) < len(names):
        raise InputError(folder / "queue.yaml", "a job is queued twice")
    return [_checked(queued, registry, folder) for queued in queue.trials]


def print_queue() -> None:
    """What is done and what is next."""
    workspace, console = Workspace.here(), output()
    entries = [(entry, entry.state(workspace)) for entry in read_queue()]
    table = Table("", "job", "trial", "base", "samples", "for", "state", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, (entry, state) in enumerate(entries, 1):
        queued = entry.queued
        claims = ", ".join(queued.claims) or queued.why
        shown = "" if state == "new" else state
        table.add_row(str(number), queued.job, entry.job.id, queued.base, f"{queued.samples:,}", claims, shown)
    console.print(table)
    left = [entry for entry, state in entries if state != "done"]
    console.print(f"{len(entries) - len(left)} of {len(entries)} done")
    if left:
        job = (FOLDER / "jobs" / f"{left[0].queued.job}.json").relative_to(FOLDER.parent.parent)
        console.print(
            f"next: python -m gonn_core.trial {job} --device cuda   then, here: gonn import FOLDER_WITH_ITS_RUNS"
        )


def _checked(queued: QueuedTrial, registry: Registry, folder: Path) -> Entry:
    """The entry with its job. Raises SettingError when entry, job and declarations do not agree."""
    at = f"queue.yaml {queued.job}"
    job = read_job(folder / "jobs" / f"{queued.job}.json")
    base = budget_config(registry.base(queued.base), registry.budget(BUDGET), queued.samples)
    control = seeded(with_values(base, {"data.view": job.config.data.view}), queued.seed)
    wanted = with_values(control, queued.set, at)
    if job.config != wanted or wanted.training.samples != queued.samples:
        raise SettingError(
            f"{at}: job",
            job.id,
            "is not the trial of base, samples, seed and set",
            f"trial {trial_id(wanted)}, made by gonn train --job",
        )
    for named in queued.claims:
        card, _, claim_id = named.partition(".")
        known = {claim.id for claim in registry.card(card).claims}
        if claim_id not in known:
            raise SettingError(f"{at}: claims", named, f"no such claim of {card}", sorted(known))
        arms = resolve(registry, card, BUDGET, queued.base)
        view = {"data.view": job.config.data.view}
        configs = [seeded(with_values(arm, view), queued.seed) for arm in (arms.off, arms.on)]
        if wanted not in configs:
            raise SettingError(
                f"{at}: claims",
                named,
                f"the job is no arm of {card} on {queued.base}",
                [trial_id(config) for config in configs],
            )
    return Entry(queued, job)


if __name__ == "__main__":
    try:
        print_queue()
    except UserError as error:
        sys.exit(str(error))
