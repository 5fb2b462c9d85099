"""How the trials of an experiment run and are evaluated: from a budget and prepared data."""

from collections.abc import Sequence
from typing import Literal

from ablations.data.datasets import PreparedData
from ablations.request import Device
from ablations.schema import Budget
from gonn_core.records.views import View
from gonn_core.training.compiling import Compile, check_compile
from gonn_core.trial.job import EvaluationRequest, RunSettings
from orchestration.gitinfo import commit_and_dirty
from orchestration.runners.gpus import device_title
from reports.workspace import Workspace

DEFAULT_POINTS: int = RunSettings.model_fields["progress_points"].default
MOST_POINTS = 1000
"""Of a curve, however long the run."""


def check_device(device: str) -> None:
    """That the device is there. Raises SettingError (DEVICE)."""
    device_title(device)


def check_compiled(kind: Compile, device: str) -> None:
    """That nets can be compiled so on the device. Raises SettingError (COMPILE)."""
    if kind != "none":
        check_compile(kind, "cpu" if device_title(device) == "cpu" else "cuda", "COMPILE")


def evaluated_positions(view: View, count: int | Literal["all"]) -> int:
    """How many positions of a view are asked for: a budget's number, at most all there are."""
    return view.n if count == "all" else min(count, view.n)


def run_settings(
    workspace: Workspace,
    prepared: PreparedData,
    evaluations: Sequence[EvaluationRequest],
    snapshots: Sequence[int],
    device: Device,
    budget: Budget,
    samples: int | None = None,
    compile: Compile = "none",
) -> RunSettings:
    """Where and how trials run; one CPU thread each. snapshots: sample counts at which weights are kept. samples: of
    each trial, where the budget's distance between points of the curve, and between looks, counts: a search prunes by
    every point."""
    commit, dirty = commit_and_dirty()
    points = DEFAULT_POINTS
    if samples and budget.progress_every:
        points = min(MOST_POINTS, max(1, samples // budget.progress_every))
    return RunSettings(
        runs=str(workspace.runs),
        store=str(prepared.store.folder),
        device=device,
        compile=compile,
        progress_view=prepared.views["validation"].digest,
        progress_positions=budget.progress_positions,
        progress_points=points,
        look_every=budget.look_every if samples else 1,
        evaluations=tuple(evaluations),
        snapshots=tuple(snapshots),
        commit=commit,
        dirty=dirty,
    )
