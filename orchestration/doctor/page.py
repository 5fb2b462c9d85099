"""What `gonn doctor` prints."""

import json
import sys
from collections.abc import Iterator

from rich.table import Table
from rich.text import Text

from gonn_core.errors import printable
from orchestration.console import notes, output
from orchestration.doctor.examination import Examined, examine
from orchestration.speeds.precision import BF16
from reports.workspace import Workspace

WIDEST = 80
STEPS_ALONE = "A whole trial gains less: planes, progress and evaluation take as long as before."
DECLARED = "A precision is part of a trial's id: studies in bf16 stand beside those in fp32, they are not mixed."


def print_examination(device: str, measure: bool, as_json: bool) -> None:
    """Look at this machine and print it. Raises SettingError (DEVICE, PRECISION)."""
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
    for name, text in rows(found):
        table.add_row(name, Text(text))
    console.print(table, width=width)
    console.print()
    console.print(Text(found.sentence), width=width)
    if found.compared is not None:
        console.print(Text(f"    {found.command}"), soft_wrap=True)
    if found.compared is not None and found.compared.faster == BF16:
        console.print(Text(f"{STEPS_ALONE} {DECLARED}"), width=width)


def rows(found: Examined) -> Iterator[tuple[str, str]]:
    """A name and a text for each line of the table."""
    processor, gpus = found.processor, found.gpus
    yield "CPU", processor.model
    own = "" if found.usable == found.cores else f", {found.usable} for this process"
    yield "cores", f"{found.cores}{own}; {found.slots} trial{'s' * (found.slots > 1)} side by side, a thread each"
    yield "flags", ", ".join(processor.flags) or ("none for bf16" if processor.told else "not told by this system")
    yield "PyTorch", f"{found.torch}, built for {gpus.built_for}, CPU kernels {found.kernels}"
    yield "C++ compiler", found.compiler and printable(found.compiler, 200) or "none found: torch.compile needs one"
    if not gpus.found:
        yield "GPUs", gpus.none_line
        return
    for number, gpu in enumerate(gpus.found):
        units = "" if gpu.bf16 else ", no units for bf16"
        size = f"{gpu.gib:.0f} GiB, compute capability {gpu.compute}, {gpu.processors} multiprocessors{units}"
        yield f"GPU {number}", f"{gpu.name}, {size}"
    yield "driver", gpus.driver or "not told"
    yield "nvidia-smi", gpus.nvidia_smi
    yield "MIG", ", ".join(gpus.mig) or "no instances"
    if gpus.visible is not None:
        yield "CUDA_VISIBLE_DEVICES", printable(gpus.visible, 200)
    yield "MPS", gpus.mps
