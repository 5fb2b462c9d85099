"""`gonn doctor`: what this machine has, and which precision trains faster on it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from statistics import median

from rich.table import Table
from rich.text import Text

from ablations.designs import budget_config
from ablations.registry import load_registry
from ablations.schema import PRECISION
from gonn_core.config import with_values
from gonn_core.errors import printable
from orchestration.console import notes, output
from orchestration.runners.base import places, usable_cores
from orchestration.runners.gpus import device_title, visible_gpus
from orchestration.speeds.measure import cached_speeds, net_key, speeds_of, today_file
from reports.workspace import Workspace

FORMAT = 2
REFERENCE, BUDGET = "gonn-b5", "cpu"
"""The net that is measured."""
GAIN = 1.05
"""Ratio of speeds from which one precision is called faster, if it is so in every turn."""
EXAMPLE = "make ablation NAME=parametric_relu"
WIDEST = 80
CPUS = "CPUs alone"


@dataclass(frozen=True)
class Compared:
    """Samples/s of the reference net's training steps in either precision, by turn, on a device (its name)."""

    device: str
    fp32: tuple[float, ...]
    bf16: tuple[float, ...]

    @property
    def factors(self) -> tuple[float, ...]:
        """Speed in bf16 over speed in fp32, of each turn."""
        return tuple(bf16 / fp32 for fp32, bf16 in zip(self.fp32, self.bf16, strict=True))

    @property
    def faster(self) -> str | None:
        """The precision that is clearly faster; None: about as fast."""
        factor = median(self.factors)
        if min(self.factors) > 1 and factor >= GAIN:
            return "bf16"
        return "fp32" if max(self.factors) < 1 and factor <= 1 / GAIN else None


@dataclass(frozen=True)
class Gpu:
    """A GPU that torch may use. compute: its compute capability, or architecture (ROCm)."""

    name: str
    gib: float
    compute: str
    processors: int


@dataclass(frozen=True)
class Machine:
    """What this machine has. usable: cores of this process; compiler: the C++ compiler of torch.compile; built_for:
    CUDA or ROCm version of torch; visible: CUDA_VISIBLE_DEVICES; mig: instances of partitioned GPUs; compared: None
    when the precisions were not measured."""

    processor: str
    cores: int
    usable: int
    torch: str
    kernels: str
    slots: int
    compiler: str | None
    built_for: str
    gpus: tuple[Gpu, ...]
    visible: str | None
    driver: str | None
    mig: tuple[str, ...]
    compared: Compared | None

    @property
    def sentence(self) -> str:
        """Which precision is faster here."""
        if self.compared is None:
            return "Which precision trains faster here was not measured: `gonn doctor` without --no-measure does it."
        where = f"on this {'CPU' if self.compared.device == 'cpu' else 'GPU'}"
        factors, faster = self.compared.factors, self.compared.faster
        subject = "Neither is" if faster is None else f"{faster} is"
        return (
            f"{subject} faster {where}: training steps in bf16 are {median(factors):.2f} times as fast as in fp32 "
            f"({min(factors):.2f} to {max(factors):.2f} in {len(factors)} turns; {median(self.compared.bf16):,.0f} "
            f"samples/s against {median(self.compared.fp32):,.0f})."
        )

    @property
    def command(self) -> str:
        """What to type."""
        faster = None if self.compared is None else self.compared.faster
        return f"{EXAMPLE} PRECISION=bf16" if faster == "bf16" else EXAMPLE

    @property
    def tree(self) -> dict:
        """All of it for programs."""
        tree = {"format": FORMAT, **asdict(self), "sentence": self.sentence, "command": self.command}
        if self.compared is not None:
            tree["compared"] |= {"factor": median(self.compared.factors), "faster": self.compared.faster}
        return tree

    def rows(self) -> Iterator[tuple[str, str]]:
        """A name and a text for each line of the table."""
        usable = "" if self.usable == self.cores else f", {self.usable} for this process"
        side_by_side = f"{self.slots} trial{'s' * (self.slots > 1)} side by side"
        yield "CPU", self.processor
        yield "cores", f"{self.cores}{usable}; {side_by_side}" + ("" if self.gpus else ", a thread each")
        yield "PyTorch", f"{self.torch}, built for {self.built_for}, CPU kernels {self.kernels}"
        yield "C++ compiler", self.compiler and printable(self.compiler, 200) or "none found: torch.compile needs one"
        hidden = "" if self.visible is None else f" (CUDA_VISIBLE_DEVICES={printable(self.visible, 60)})"
        if not self.gpus:
            yield "GPUs", f"none: torch is built for {CPUS}" if self.built_for == CPUS else f"none found{hidden}"
            return
        for number, gpu in enumerate(self.gpus):
            size = f"{gpu.gib:.0f} GiB, compute capability {gpu.compute}, {gpu.processors} multiprocessors"
            yield f"GPU {number}", f"{gpu.name}, {size}{hidden}"
        yield "driver", self.driver or "unknown"
        if self.mig:
            yield "MIG", ", ".join(self.mig)


def print_examination(device: str, measure: bool, as_json: bool) -> None:
    """Examine this machine and print the result. Raises SettingError (DEVICE)."""
    found = examine(Workspace.here(), device, measure, notes().print)
    if as_json:
        json.dump(found.tree, sys.stdout, indent=2)
        print()
        return
    console = output()
    width = min(console.width, WIDEST)
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in found.rows():
        table.add_row(name, Text(text))
    console.print(table, width=width)
    console.print()
    console.print(Text(found.sentence), width=width)
    if found.compared is not None:
        console.print(Text(f"    {found.command}"), soft_wrap=True)
        if found.compared.faster == "bf16":
            gain = "A whole trial gains less: planes, progress and evaluation take as long as before."
            console.print(Text(f"{gain} The precision is part of a trial's id."), width=width)


def examine(workspace: Workspace, device: str, measure: bool, say: Callable[[str], object]) -> Machine:
    """Examine this machine; measure: compare the precisions now if that was not done today. Raises SettingError
    (DEVICE)."""
    import torch

    from gonn_core.training.environment import describe_processor

    name = device_title(device)
    hip, cuda = torch.version.hip, torch.version.cuda
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    visible = visible_gpus()
    return Machine(
        processor=describe_processor(),
        cores=os.cpu_count() or 1,
        usable=usable_cores(),
        torch=torch.__version__,
        kernels=torch.backends.cpu.get_cpu_capability(),
        slots=places(iter(()), None, device).slots,
        compiler=shutil.which(os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")),
        built_for=f"ROCm {hip}" if hip else f"CUDA {cuda}" if cuda else CPUS,
        gpus=tuple(_gpu(torch.cuda.get_device_properties(index)) for index in range(count)),
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        driver=_driver(),
        mig=visible.names if visible.are_instances else (),
        compared=_compare(workspace, device, name, measure, say),
    )


def _compare(
    workspace: Workspace, device: str, name: str, measure: bool, say: Callable[[str], object]
) -> Compared | None:
    registry = load_registry()
    budget = registry.budget(BUDGET)
    assert budget.samples != "claim", "the reference has a number of samples"
    net = budget_config(registry.base(REFERENCE), budget, budget.samples)
    configs = {precision: with_values(net, {PRECISION: precision}) for precision in ("fp32", "bf16")}
    if measure:
        entries = speeds_of(workspace, configs, device, say)
    else:
        known = cached_speeds(today_file(workspace, name))
        entries = {precision: known.get(net_key(config), {}) for precision, config in configs.items()}
    if not all(entries.values()):
        return None
    return Compared(name, *(tuple(entries[precision]["turns"]) for precision in configs))


def _gpu(properties) -> Gpu:
    architecture = getattr(properties, "gcnArchName", "").partition(":")[0]  # of ROCm alone
    compute = architecture or f"{properties.major}.{properties.minor}"
    gib = properties.total_memory / 2**30
    return Gpu(printable(properties.name, 60), gib, compute, properties.multi_processor_count)


def _driver() -> str | None:
    """Version of NVIDIA's driver, as nvidia-smi prints it."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    command = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return printable(answer.stdout.split()[0], 40) if answer.returncode == 0 and answer.stdout.split() else None
