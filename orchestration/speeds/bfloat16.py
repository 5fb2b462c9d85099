"""Whether torch computes in bfloat16 on a device, and whether the device has units for it."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import NamedTuple

from gonn_core.errors import SettingError, printable
from orchestration.console import moving
from orchestration.runners.gpus import device_title
from orchestration.speeds.processor import MATRIX_UNITS, read_processor


class Support(NamedTuple):
    """problem: torch's words, where it cannot compute in bfloat16 at all; lacks: what the device has not, with which it
    would be faster beyond doubt."""

    problem: str | None = None
    lacks: str | None = None


def support(device: str) -> Support:
    """Of `auto`, `cpu` or `cuda` here; a GPU is asked in a process of its own, which gives its memory back. Raises
    SettingError (DEVICE)."""
    if device_title(device) == "cpu":
        return support_of("cpu")
    with moving("asking the GPU for bfloat16"), ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(support_of, "cuda").result()


def support_of(kind: str) -> Support:
    """Of a kind of device, `cpu` or `cuda`, which is used."""
    import torch

    try:
        with torch.autocast(kind, torch.bfloat16):
            ones = torch.ones(1, 1, 3, 3, device=kind)
            torch.nn.functional.conv2d(ones, ones).sum().item()
    except RuntimeError as error:
        return Support(problem=printable(str(error).strip().split("\n")[0], 160))
    if kind == "cpu":
        return Support(lacks=None if read_processor().has_matrix_units else f"this CPU has no {MATRIX_UNITS}")
    old = torch.version.hip is None and torch.cuda.get_device_capability() < (8, 0)
    return Support(lacks="this GPU has no units for bfloat16" if old else None)


def refuse_impossible(found: Support) -> None:
    """Raises SettingError (PRECISION) where torch has no bfloat16 for the device; that it may be slow is no reason."""
    if found.problem is not None:
        problem = f"PyTorch cannot compute in it on this device ({found.problem})"
        raise SettingError("PRECISION", "bf16", problem, "fp32")
