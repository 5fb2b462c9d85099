"""torch's global state, set the same before every trial, so that what ran earlier in the process cannot change a
trial's numbers; and the memory allocator's thresholds.
"""

import ctypes
import os
import platform
from pathlib import Path
from typing import Any

import torch

from gonn_core.errors import SettingError, printable
from gonn_core.training.host import ENVIRONMENT


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


_SETS = {"avx512f": "AVX-512", "avx512_bf16": "AVX-512 bf16", "amx_tile": "AMX"}
"""Flags of /proc/cpuinfo that decide which kernels torch takes -> what they are called."""


def describe_processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Model and instruction sets of the CPU: two of one kind give a trial the same bits, other kinds others. Without
    /proc/cpuinfo the architecture."""
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    flags = set(fields.get("flags", "").split())
    model = fields.get("model name") or platform.processor() or platform.machine() or "unknown"
    if "cpu family" in fields:  # virtual machines give several generations one name: AMD EPYC
        model += f" (family {fields['cpu family']}, model {fields.get('model')})"
    return ", ".join([printable(model, 100), *(name for flag, name in _SETS.items() if flag in flags)])


def reset_torch(threads: int, device: torch.device | None = None) -> None:
    """Defaults for everything global that a step's numbers depend on, whatever ran in this process before.

    `threads`: threads of one operation on the CPU. A convolution's weight gradient has other bits under another number.
    `device`: where the steps will run; None: a CPU. Everywhere deterministic algorithms are taken, chosen without
    timing them, or an error raised where there is none; fp32 means fp32: no TensorFloat-32, no bf16 within a product;
    what is summed in bf16 products is summed in fp32. Raises SettingError for an environment that contradicts this.
    """
    keep_memory()
    # "error": a warning alone leaves attention as it is. use_deterministic_algorithms would set the same, and import
    # torch's compiler (over a second) for its setting there, which `compiled_body` makes.
    torch.set_deterministic_debug_mode("error")
    # Nothing reads what it has not written. Torch adds this setting to its module as it runs: its types lack it.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if device is not None and device.type == "cuda":
        _set_environment(torch.cuda.is_initialized())
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


def _set_environment(too_late: bool) -> None:
    for name, value in ENVIRONMENT.items():
        if too_late and os.environ.get(name) != value:
            problem = "cuBLAS has started without it in this process, and its sums would differ from run to run"
            raise SettingError(name, os.environ.get(name, ""), problem, value)
        os.environ[name] = value
    if (forced := os.environ.get("NVIDIA_TF32_OVERRIDE", "0")) != "0":
        raise SettingError("NVIDIA_TF32_OVERRIDE", forced, "fp32 would not be fp32", "0, or not set")


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


def synchronize(device: torch.device) -> None:
    """Wait until the device has done all work so far."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def forget_peak(device: torch.device) -> None:
    """Free the GPU memory that earlier trials of this process left cached, and reset the peak."""
    if device.type == "cuda":
        torch.cuda.init()  # or there are no statistics yet to be reset
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats(device)


def peak_memory(device: torch.device) -> int | None:
    """The most bytes of a GPU in tensors since `forget_peak`; None on a CPU."""
    return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else None
