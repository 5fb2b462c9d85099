"""`gonn doctor`: what this machine has, and which precision trains faster on it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from statistics import median

from rich.table import Table
from rich.text import Text

from ablations.designs import budget_config
from ablations.registry import load_registry
from ablations.schema import PRECISION
from gonn_core.config import with_values
from gonn_core.errors import printable
from orchestration.console import notes, output
from orchestration.experiment.speeds import speeds_of
from orchestration.runners.gpus import places, usable_cores
from reports.workspace import Workspace

REFERENCE, BUDGET = "gonn-b5", "cpu"
"""The net that is measured."""
GAIN = 1.05
"""Ratio of speeds from which one precision is called faster, if it is so in every turn."""
WIDEST = 80


def print_examination(device: str) -> None:
    """Examine this machine and print the result; the precisions are compared once a day. Raises SettingError
    (DEVICE)."""
    factors = compare(Workspace.here(), device, notes().print)
    console = output()
    width = min(console.width, WIDEST)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in describe_machine(device).items():
        table.add_row(name, Text(text))
    console.print(table, width=width)
    faster = faster_precision(factors)
    console.print(
        f"\n{f'{faster} is' if faster else 'Neither is'} faster here: training steps in bf16 are {median(factors):.2f} "
        f"times as fast as in fp32 ({min(factors):.2f} to {max(factors):.2f} in {len(factors)} turns).",
        width=width,
    )
    console.print("    make ablation NAME=parametric_relu" + " PRECISION=bf16" * (faster == "bf16"))
    if faster == "bf16":
        gain = "A whole trial gains less: planes, progress and evaluation take as long as before."
        console.print(f"{gain} The precision is part of a trial's id.", width=width)


def compare(workspace: Workspace, device: str, say: Callable[[str], object]) -> list[float]:
    """Speed of the reference net's training steps in bf16 over that in fp32 on a device, of each turn. Raises
    SettingError (DEVICE)."""
    registry = load_registry()
    budget = registry.budget(BUDGET)
    assert budget.samples != "claim", "the reference has a number of samples"
    net = budget_config(registry.base(REFERENCE), budget, budget.samples)
    configs = {precision: with_values(net, {PRECISION: precision}) for precision in ("fp32", "bf16")}
    entries = speeds_of(workspace, configs, device, say)
    return [bf16 / fp32 for fp32, bf16 in zip(entries["fp32"]["turns"], entries["bf16"]["turns"], strict=True)]


def faster_precision(factors: list[float]) -> str | None:
    """The precision that is clearly faster; None: about as fast."""
    if min(factors) > 1 and median(factors) >= GAIN:
        return "bf16"
    return "fp32" if max(factors) < 1 and median(factors) <= 1 / GAIN else None


def describe_machine(device: str) -> dict[str, str]:
    """What this machine has: name -> text."""
    import torch

    from gonn_core.training.environment import describe_processor

    cores, usable = os.cpu_count() or 1, usable_cores()
    slots = places(None, None, device).slots
    hip, cuda = torch.version.hip, torch.version.cuda
    built_for = f"ROCm {hip}" if hip else f"CUDA {cuda}" if cuda else "CPUs alone"
    compiler = shutil.which(os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++"))
    rows = {
        "CPU": describe_processor(),
        "cores": f"{cores}, {usable} for this process; {slots} trial{'s' * (slots > 1)} side by side",
        "PyTorch": f"{torch.__version__}, built for {built_for}, kernels {torch.backends.cpu.get_cpu_capability()}",
        "C++ compiler": printable(compiler, 200) if compiler else "none found: torch.compile needs one",
    }
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    hidden = "" if visible is None else f" (CUDA_VISIBLE_DEVICES={printable(visible, 60)})"
    if not torch.cuda.is_available():
        return rows | {"GPUs": f"none found{hidden}"}
    for index in range(torch.cuda.device_count()):
        found = torch.cuda.get_device_properties(index)
        architecture = getattr(found, "gcnArchName", "").partition(":")[0]  # of ROCm alone
        compute = architecture or f"{found.major}.{found.minor}"
        size = f"{found.total_memory / 2**30:.0f} GiB, compute capability {compute}"
        processors = f"{found.multi_processor_count} multiprocessors"
        rows[f"GPU {index}"] = f"{printable(found.name, 60)}, {size}, {processors}{hidden}"
    return rows | {"driver": _driver()}


def _driver() -> str:
    """Version of NVIDIA's driver, as nvidia-smi prints it."""
    if shutil.which("nvidia-smi") is None:
        return "unknown"
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    words = subprocess.run(command, capture_output=True, text=True).stdout.split()
    return printable(words[0], 40) if words else "unknown"
