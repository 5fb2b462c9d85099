"""Everything that `gonn doctor` finds out, as plain data, and what to type because of it."""

import os
import shutil
import sys
from dataclasses import asdict, dataclass
from statistics import median

from orchestration.doctor.gpus import Gpus, read_gpus
from orchestration.runners.base import places
from orchestration.runners.gpus import device_title
from orchestration.speeds.measure import Say
from orchestration.speeds.precision import BF16, FP32, Compared, compare, kept_comparison
from orchestration.speeds.processor import Processor, read_processor
from reports.workspace import Workspace

FORMAT = 1
EXAMPLE = "make ablation NAME=parametric_relu"


@dataclass(frozen=True)
class Examined:
    """What this machine has. cores: of the machine; usable: by this process; compiler: the C++ compiler that
    torch.compile would call, None without one; compared: the two precisions, None where they never were."""

    processor: Processor
    cores: int
    usable: int
    torch: str
    kernels: str
    slots: int
    compiler: str | None
    gpus: Gpus
    compared: Compared | None

    @property
    def sentence(self) -> str:
        """Which precision is faster here."""
        found = self.compared
        if found is None:
            return "Which precision trains faster here was not measured: `gonn doctor` without --no-measure does it."
        where = f"on this {'CPU' if found.device == 'cpu' else 'GPU'}"
        speeds = f"{median(found.bf16):,.0f} samples/s against {median(found.fp32):,.0f}"
        how = f"({found.range} in {len(found.factors)} rounds; {speeds})"
        if found.faster == BF16:
            return f"bf16 is faster {where}: training steps are {found.factor:.2f} times as fast as in fp32 {how}."
        if found.faster == FP32:
            return f"fp32 is faster {where}: training steps in bf16 are {found.factor:.2f} times as fast {how}."
        return f"Neither is faster {where}: training steps in bf16 are {found.factor:.2f} times as fast {how}."

    @property
    def command(self) -> str:
        """What to type."""
        faster = None if self.compared is None else self.compared.faster
        return f"{EXAMPLE} PRECISION={BF16}" if faster == BF16 else EXAMPLE

    @property
    def tree(self) -> dict:
        """All of it for programs."""
        found = None
        if self.compared is not None:
            own = {"factor": self.compared.factor, "faster": self.compared.faster}
            found = asdict(self.compared) | own
        return {
            "format": FORMAT,
            **asdict(self),
            "compared": found,
            "sentence": self.sentence,
            "command": self.command,
        }


def examine(workspace: Workspace, device: str, measure: bool, say: Say) -> Examined:
    """Look at this machine; measure: compare the precisions now, some ten seconds, else as last kept. Raises
    SettingError (DEVICE, PRECISION)."""
    import torch

    name = device_title(device)
    cores = os.cpu_count() or 1
    return Examined(
        processor=read_processor(),
        cores=cores,
        usable=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores,
        torch=torch.__version__,
        kernels=torch.backends.cpu.get_cpu_capability(),
        slots=places(iter(()), None, device).slots,
        compiler=shutil.which(os.environ.get("CXX") or ("clang++" if sys.platform == "darwin" else "g++")),
        gpus=read_gpus(),
        compared=compare(workspace, device, say) if measure else kept_comparison(workspace, name),
    )
