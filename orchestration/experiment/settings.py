"""How the trials of an experiment run and are evaluated, from a budget and prepared data; the commit that runs them."""

import subprocess
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from ablations.data.datasets import PreparedData
from ablations.request import Device
from ablations.schema import Budget
from gonn_core.config import TrialConfig
from gonn_core.records.views import View
from gonn_core.training.compiling import Compile, check_compile
from gonn_core.trial.job import EvaluationRequest, RunSettings
from orchestration.console import moving
from orchestration.runners.gpus import device_title
from reports.workspace import Workspace

DEFAULT_POINTS: int = RunSettings.model_fields["progress_points"].default
MOST_POINTS = 1000
"""Of a curve, however long the run."""
ROOT = Path(__file__).resolve().parents[2]


def check_device(device: str) -> None:
    """That the device is there. Raises SettingError (DEVICE)."""
    device_title(device)


def check_compiled(kind: Compile, device: str) -> None:
    """That nets can be compiled so on the device. Raises SettingError (COMPILE)."""
    if kind != "none":
        check_compile(kind, "cpu" if device_title(device) == "cpu" else "cuda", "COMPILE")


def commit_and_dirty(file: Path | None = None) -> tuple[str, bool]:
    """(commit, dirty) of this code: full hash and whether tracked files differ from it, or a `file` of the checkout
    does or is not tracked; without git or outside a checkout "gonn-<version>", or "unknown" for files that were
    copied without being installed, and whether a `file` was asked for."""

    def git(*words: str) -> str:
        command = ["git", "-C", str(ROOT), *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.strip()

    try:
        what = ["--untracked-files=no"] if file is None else ["--ignored", "--", str(file.resolve())]
        if Path(git("rev-parse", "--show-toplevel")).resolve() == ROOT:
            return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", *what))
    except (OSError, subprocess.SubprocessError):
        pass
    try:
        return f"gonn-{version('go-move-ablations')}", file is not None
    except PackageNotFoundError:
        return "unknown", file is not None


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


def warm_kernels(configs: Sequence[TrialConfig], view: View, device: str, say: Callable[[str], object]) -> None:
    """Compile the kernels that make planes and targets for trials of these configurations, and those that train in
    bfloat16 on a CPU, once, before each worker would."""
    import torch

    from gonn_core.go.jit import is_compiled
    from gonn_core.nets.parts import fused
    from gonn_core.records.sampler import Sampler
    from gonn_core.training.batches import PlaneMaker, extras_of

    # a GPU has other kernels, for packed planes; the meta device stands in for it, so that no GPU is used
    kind = torch.device("cpu" if device_title(device) == "cpu" else "meta")
    rows, symmetries, keep = Sampler(view, 2, 0).batch(0)
    inputs = dict.fromkeys((config.features, extras_of(config)) for config in configs)
    makers = [PlaneMaker(view.store, features, kind, torch.channels_last, extras) for features, extras in inputs]
    bf16 = kind.type == "cpu" and any(config.training.precision == "bf16" for config in configs)
    if not all(maker.is_compiled for maker in makers) or (bf16 and not is_compiled(fused.normalise)):
        say("compiling the kernels of planes and nets, once …")
    with moving("kernels"):
        for maker in makers:
            maker.on_host(rows, symmetries, keep)
        if bf16:
            fused.warm_up()
