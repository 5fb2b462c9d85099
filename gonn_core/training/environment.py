"""torch's global state, set the same before every trial, so that what ran earlier in the process cannot change a
trial's numbers; and the memory allocator's thresholds.
"""

import ctypes
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from gonn_core.errors import SettingError, printable
from gonn_core.training.determinism import ENVIRONMENT, make_deterministic


def choose_device(name: str) -> torch.device:
    """The device for `auto`, `cpu` or `cuda`; with CUDA chosen, and not under way yet, its environment is set. Raises
    SettingError for cuda where there is none."""
    if name == "cuda" and not torch.cuda.is_available():
        raise SettingError("device", name, "PyTorch finds no CUDA device here", ("auto", "cpu"))
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_initialized():
        os.environ.update(ENVIRONMENT)
    return torch.device(name)


def describe_device(device: torch.device) -> str:
    """The accelerator's name, or `cpu`."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


MULTIPROCESSORS = "multiprocessors"


def count_multiprocessors(device: torch.device) -> dict[str, int]:
    """How many multiprocessors a GPU has, which random numbers on it depend on, by the name MULTIPROCESSORS; nothing of
    a CPU."""
    if device.type != "cuda":
        return {}
    return {MULTIPROCESSORS: torch.cuda.get_device_properties(device).multi_processor_count}


def other_masks(before: Mapping, now: Mapping) -> str | None:
    """One line where dropout would go on with another device's random numbers: `device` and, of a GPU, its
    MULTIPROCESSORS, of the session before and of this one; None where they are the same."""
    was, is_now = (
        session["device"] + (f" ({count} multiprocessors)" if (count := session.get(MULTIPROCESSORS)) else "")
        for session in (before, now)
    )
    if was == is_now:
        return None
    return f"goes on with other masks of dropout: they follow the device, which was {was} and is {is_now}"


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


def reset_torch(threads: int, device: torch.device | None = None) -> None:
    """Defaults for everything global that a step's numbers depend on, whatever ran in this process before.

    `threads`: threads of one operation on the CPU. A convolution's weight gradient has other bits under another number.
    `device`: where the steps will run; None: a CPU. Everywhere deterministic algorithms are taken, chosen without
    timing them, or an error raised where there is none; fp32 means fp32: no TensorFloat-32, no bf16 within a product;
    what is summed in bf16 products is summed in fp32. Raises SettingError for an environment that would have it
    otherwise (gonn_core.training.determinism).
    """
    keep_memory()
    make_deterministic("cpu" if device is None else device.type)
    torch.set_num_threads(threads)
    torch.set_default_dtype(torch.float32)
    torch.set_default_device(None)
    torch.set_flush_denormal(False)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.set_autocast_enabled("cpu", False)
    torch.set_autocast_enabled("cuda", False)
    torch.set_autocast_cache_enabled(True)
    torch.clear_autocast_cache()
    _reset_precision()
    _reset_kernels()
    torch.manual_seed(0)


def _reset_precision() -> None:
    """fp32 at every level at which torch keeps it: all devices, a library, a library's operation; last by the older
    names, which torch compares with the newer ones."""
    backends: Any = torch.backends
    for whole in (backends, backends.cudnn, backends.mkldnn):
        whole.fp32_precision = "none"
    for operation in (backends.mkldnn.matmul, backends.mkldnn.conv, backends.mkldnn.rnn):
        operation.fp32_precision = "ieee"
    torch.set_float32_matmul_precision("highest")
    backends.cudnn.allow_tf32 = False
    backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    backends.cuda.matmul.allow_fp16_accumulation = False
    backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)


def _reset_kernels() -> None:
    """Which libraries torch may choose from."""
    backends = torch.backends
    backends.mkldnn.set_flags(True, False)
    backends.cudnn.enabled = True
    backends.cudnn.benchmark = False
    backends.cudnn.deterministic = True
    backends.cuda.enable_flash_sdp(True)
    backends.cuda.enable_mem_efficient_sdp(True)
    backends.cuda.enable_math_sdp(True)
    backends.cuda.enable_cudnn_sdp(False)  # its gradients are not deterministic


_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # malloc.h of glibc
_KEPT_BYTES = 1 << 30


def keep_memory() -> bool:
    """Have malloc keep up to 1 GiB of what is freed for what is asked for next, from now on in this process; False
    where it is not glibc's.

    By default it returns arrays of megabytes to the system at once, and every layer of a net pays for thousands of page
    faults to get the same memory again: a third of the time of a small net's forward pass, a tenth of its training
    step. No number changes.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return False
    return bool(mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)) and bool(mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES))
