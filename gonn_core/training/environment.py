"""torch's global state, set the same before every trial, so that what ran earlier in the process cannot change a
trial's numbers."""

import platform
from pathlib import Path

import torch

from gonn_core.errors import SettingError, printable
from gonn_core.training.allocator import keep_memory


def choose_device(name: str) -> torch.device:
    """The device for `auto`, `cpu` or `cuda`. Raises SettingError for cuda where there is none."""
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("device", name, "PyTorch finds no CUDA device here", ("auto", "cpu"))
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


def describe_device(device: torch.device) -> str:
    """The accelerator's name, or `cpu`."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


_SETS = {"avx512f": "AVX-512", "avx512_bf16": "AVX-512 bf16", "amx_tile": "AMX"}
"""Flags of /proc/cpuinfo that decide which kernels torch takes -> what they are called."""


def describe_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Model and instruction sets of the CPU: two of one kind give a trial the same bits, other kinds others. By its
    architecture where the system does not tell more."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = {name.strip(): value.strip() for name, found, value in (line.partition(":") for line in lines) if found}
    flags = set(told.get("flags", "").split())
    model = told.get("model name") or platform.processor() or platform.machine() or "unknown"
    return ", ".join([printable(model, 100), *(name for flag, name in _SETS.items() if flag in flags)])


def reset_torch(threads: int) -> None:
    """Defaults for everything global that a step's numbers depend on.

    `threads`: threads of one operation on the CPU. A convolution's weight gradient has other bits under another number.
    fp32 means fp32: TensorFloat-32 is off. Convolutions take deterministic algorithms, chosen without timing them.
    """
    keep_memory()
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.clear_autocast_cache()
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    torch.manual_seed(0)
