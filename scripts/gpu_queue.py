"""The GPU queue: `results/gpu/queue.yaml`, trials worth GPU minutes in order of value, each with its job file.

Every entry is checked against the declarations: its job is the trial that a study of its base under the gpu budget
trains, with or without the enhancements whose claims it is for. `make queue` (`python -m scripts.gpu_queue`) prints
which are done and which is next, with minutes by the model of a step until speeds were measured on such a device.
`python -m scripts.gpu_queue --write` counts the steps of all jobs anew (`steps.json`) and writes the minutes.
"""

import argparse
import re
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field
from rich import box
from rich.table import Table

from ablations.arms import budget_config, resolve
from ablations.registry import Registry, load_registry
from ablations.schema import Id, Text
from ablations.strict_yaml import read_yaml
from ablations.study import seeded
from gonn_core.config import Strict, parse_model, trial_id, with_values
from gonn_core.errors import InputError, SettingError, UserError
from gonn_core.files.json_files import read_json, write_json
from gonn_core.step_model.counts import Counts
from gonn_core.step_model.devices import STANDARD, Device
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job, read_job
from orchestration.console import notes, output
from orchestration.speeds.counted import counted
from orchestration.speeds.loading import loader_rate
from orchestration.speeds.on_gpu import OnGpu, measured_speeds, on_gpu, told_source, wanted_gpu
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
    minutes: Annotated[int, Field(ge=1)]
    """Of the standard device: `estimated_minutes`, written by `write_minutes`."""
    why: Text


class Queue(Strict):
    """The whole file."""

    format: Literal[1] = 1
    trials: Annotated[tuple[QueuedTrial, ...], Field(min_length=1)]


class Steps(Strict):
    """`steps.json`, written by `write_minutes`: what estimates are made from."""

    format: Literal[1] = 1
    torch: str
    """The version whose operations were counted."""
    loader_positions_per_s: dict[str, float]
    """Plane set -> positions per CPU-second of one thread of the machine that wrote this."""
    jobs: dict[str, Counts]
    """Job -> what a step and an evaluation of it consist of."""


@dataclass(frozen=True)
class Entry:
    """A queued trial with its job."""

    queued: QueuedTrial
    job: Job
    counts: Counts
    loader_positions_per_s: float

    def on(self, device: Device, measured: Mapping[str, float]) -> OnGpu:
        """How long it takes on a device. measured: net -> samples/s on such a one."""
        return on_gpu(self.job.config, self.job.run, self.counts, device, self.loader_positions_per_s, measured)

    def state(self, workspace: Workspace, folder: Path = FOLDER) -> str:
        """done (its result is in the workspace or committed under `trials/` beside the queue), or the state of its
        directory here."""
        if (folder / "trials" / self.job.id / "result.json").is_file():
            return "done"
        return TrialDirectory(workspace.runs / self.job.id).state()


def read_queue(folder: Path = FOLDER) -> list[Entry]:
    """The queue in its order, every entry checked. Raises UserError for the first one that is not what it says."""
    queue, registry, steps = _queue(folder), load_registry(), _steps(folder)
    names = [queued.job for queued in queue.trials]
    if len(set(names)) < len(names):
        raise InputError(folder / "queue.yaml", "a job is queued twice")
    return [_checked(queued, registry, folder, steps) for queued in queue.trials]


def estimated_minutes(entry: Entry) -> int:
    """Minutes of the standard device for a trial, by the model of a step."""
    return max(1, round(entry.on(STANDARD, {}).seconds / 60))


def write_minutes(folder: Path = FOLDER) -> None:
    """Count the steps of all jobs, measure this machine's loader, and write `steps.json` and the queue's minutes."""
    import torch

    from ablations.data.datasets import load_dataset, prepare

    queue, said = _queue(folder), notes().print
    jobs = {queued.job: _job(folder, queued.job) for queued in queue.trials}
    sets = {job.config.features.set: job.config.features for job in jobs.values()}
    with tempfile.TemporaryDirectory() as stores:
        store = prepare(load_dataset("starter"), Path(stores)).store
        rates = {name: round(loader_rate(features, store)) for name, features in sets.items()}
    counts = counted({name: job.config for name, job in jobs.items()}, None, said)
    steps = Steps(torch=torch.__version__, loader_positions_per_s=rates, jobs=counts)
    write_json(folder / "steps.json", steps.model_dump(mode="json"))
    text = (folder / "queue.yaml").read_text(encoding="utf-8")
    for queued in queue.trials:
        minutes = estimated_minutes(_entry(queued, jobs[queued.job], steps))
        text = re.sub(rf"(\{{job: {queued.job}, .*minutes: )\d+", rf"\g<1>{minutes}", text)
    (folder / "queue.yaml").write_text(text, encoding="utf-8")


def print_queue(gpu: str | None = None) -> None:
    """What is done, what is next, and the minutes that are left on a device, the standard one if none is named. Raises
    SettingError (GPU)."""
    workspace, console, device = Workspace.here(), output(), wanted_gpu(gpu)
    entries = [(entry, entry.state(workspace)) for entry in read_queue()]
    measured = measured_speeds(workspace, device, [FOLDER / "trials"])
    times = {entry.job.id: entry.on(device, measured) for entry, _ in entries}
    table = Table("", "job", "trial", "base", "samples", "for", "min", "state", box=box.SIMPLE_HEAD, pad_edge=False)
    for number, (entry, state) in enumerate(entries, 1):
        queued = entry.queued
        claims = ", ".join(queued.claims) or queued.why
        table.add_row(
            str(number),
            queued.job,
            entry.job.id,
            queued.base,
            f"{queued.samples:,}",
            claims,
            f"{max(1, round(times[entry.job.id].seconds / 60))}",
            "" if state == "new" else state,
        )
    console.print(table)
    left = [entry for entry, state in entries if state != "done"]
    if not left:
        console.print("all of the queue is done")
        return
    minutes = sum(times[entry.job.id].seconds for entry in left) / 60
    known = sum(times[entry.job.id].measured for entry in left)
    console.print(
        f"{len(entries) - len(left)} of {len(entries)} done; {len(left)} left, "
        f"about {minutes:.0f} min of one {device.title}, one at a time: {told_source(len(left), known)}"
    )
    job = (FOLDER / "jobs" / f"{left[0].queued.job}.json").relative_to(FOLDER.parent.parent)
    console.print(f"next: python -m gonn_core.trial {job} --device cuda   then, here: gonn import FOLDER_WITH_ITS_RUNS")


def _job(folder: Path, name: str) -> Job:
    return read_job(folder / "jobs" / f"{name}.json")


def _steps(folder: Path) -> Steps:
    return parse_model(Steps, read_json(folder / "steps.json"), "steps.json")


def _entry(queued: QueuedTrial, job: Job, steps: Steps) -> Entry:
    return Entry(queued, job, steps.jobs[queued.job], steps.loader_positions_per_s[job.config.features.set])


def _queue(folder: Path) -> Queue:
    return parse_model(Queue, read_yaml(folder / "queue.yaml"), "queue.yaml")


def _checked(queued: QueuedTrial, registry: Registry, folder: Path, steps: Steps) -> Entry:
    """The entry with its job. Raises SettingError when entry, job and declarations do not agree."""
    at = f"queue.yaml {queued.job}"
    job = _job(folder, queued.job)
    base = budget_config(registry.base(queued.base), registry.budget(BUDGET), queued.samples)
    control = seeded(with_values(base, {"data.view": job.config.data.view}), queued.seed)
    wanted = with_values(control, queued.set, at)
    if job.config != wanted:
        raise SettingError(
            f"{at}: job",
            job.id,
            "is not the trial of base, seed and set",
            f"trial {trial_id(wanted)}, made by gonn train --job",
        )
    if queued.job not in steps.jobs:
        raise SettingError(f"{at}: steps", "none", "not counted", "python -m scripts.gpu_queue --write")
    entry = _entry(queued, job, steps)
    if job.config.training.samples != queued.samples or queued.minutes != estimated_minutes(entry):
        raise SettingError(
            f"{at}: minutes",
            queued.minutes,
            f"or {queued.samples} samples are not those of its job",
            f"{estimated_minutes(entry)} min, {wanted.training.samples} samples (python -m scripts.gpu_queue --write)",
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
    return entry


def main(arguments: list[str] | None = None) -> None:
    """Print the queue, or write its minutes."""
    parser = argparse.ArgumentParser(prog="python -m scripts.gpu_queue", description="The queue of trials for a GPU.")
    parser.add_argument("--gpu", help="the device to tell minutes for: h100, a100, rtx4090, … (default: h100)")
    parser.add_argument("--write", action="store_true", help="count steps anew, and write the minutes")
    options = parser.parse_args(arguments)
    if options.write:
        write_minutes()
    print_queue(options.gpu)


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
