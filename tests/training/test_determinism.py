"""What makes a trial's bits the same on every run: torch's mode, its environment, the list of operations to avoid."""

import os

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from gonn_core.errors import SettingError
from gonn_core.nets.gonn.inserted import exponential_mean, plain_mean
from gonn_core.training.environment import reset_torch
from gonn_core.training.host import ENVIRONMENT
from tests.rehearsal.unordered import unordered


class Noted(TorchDispatchMode):
    """Notes the operations that run within it: (name, why it may differ from run to run)."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append((func._schema.name, unordered(func, args, kwargs)))
        return func(*args, **(kwargs or {}))


def reasons(function, *arguments):
    with Noted() as noted:
        function(*arguments)
    return [reason for _, reason in noted.seen if reason]


@pytest.mark.parametrize("mean", [exponential_mean, plain_mean])
def test_the_ladder_scan_is_no_scan_off_the_cpu(mean):
    a, b = (torch.rand(1, 2, 19, 37, device="meta", requires_grad=True) for _ in range(2))
    with Noted() as noted:
        mean(a, b).sum().backward()
    assert not [name for name, reason in noted.seen if reason] and "aten::cumsum" not in dict(noted.seen)
    assert reasons(mean, *(torch.rand(1, 2, 19, 37) for _ in range(2))), "the CPU keeps its bits"


def test_a_cpu_sums_in_one_order_on_several_threads_too():
    rows, to = torch.randn(8000, 24), torch.arange(8000) // 9 * 9

    def pooled() -> Tensor:
        return torch.zeros_like(rows).index_put_((to,), rows, accumulate=True)

    reset_torch(1)
    once = pooled()
    reset_torch(4)
    try:
        assert all(torch.equal(pooled(), once) for _ in range(8))
    finally:
        reset_torch(1)


@pytest.fixture
def environment(monkeypatch):
    """Without the variables that are looked at."""
    for name in (*ENVIRONMENT, "NVIDIA_TF32_OVERRIDE"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    return monkeypatch


def test_the_environment_is_set_before_cuda_starts(environment):
    reset_torch(1)
    assert "CUBLAS_WORKSPACE_CONFIG" not in os.environ
    reset_torch(1, torch.device("cuda"))
    assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"
    environment.setattr(torch.cuda, "is_initialized", lambda: True)
    reset_torch(1, torch.device("cuda"))  # as a worker finds it


def test_too_late_for_the_environment(environment):
    environment.setattr(torch.cuda, "is_initialized", lambda: True)
    environment.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    with pytest.raises(SettingError, match="CUBLAS_WORKSPACE_CONFIG=:16:8: cuBLAS has started without it in this"):
        reset_torch(1, torch.device("cuda"))


def test_tf32_for_everything_is_refused(environment):
    environment.setenv("NVIDIA_TF32_OVERRIDE", "1")
    with pytest.raises(SettingError, match="NVIDIA_TF32_OVERRIDE=1: fp32 would not be fp32"):
        reset_torch(1, torch.device("cuda"))


def state() -> dict:
    """Everything global of torch that `reset_torch` is to set."""
    backends = torch.backends
    precise = {
        name: (backends if not name else _part(backends, name)).fp32_precision
        for name in ("", "cudnn", "mkldnn", "mkldnn.conv", "mkldnn.matmul", "mkldnn.rnn", "cuda.matmul", "cudnn.conv")
    }
    flags = ("enabled", "benchmark", "deterministic", "allow_tf32")
    products = ("allow_tf32", "allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction")
    return {
        "precision": precise,
        "cudnn": {name: getattr(backends.cudnn, name) for name in flags},
        "products": {name: getattr(backends.cuda.matmul, name) for name in (*products, "allow_fp16_accumulation")},
        "attention": [
            getattr(backends.cuda, f"{name}_sdp_enabled")() for name in ("flash", "mem_efficient", "math", "cudnn")
        ],
        "mkldnn": (backends.mkldnn.enabled, backends.mkldnn.deterministic),
        "mode": torch.are_deterministic_algorithms_enabled(),
        "warn": torch.is_deterministic_algorithms_warn_only_enabled(),
        "filled": torch.utils.deterministic.fill_uninitialized_memory,
        "matmul": torch.get_float32_matmul_precision(),
        "autocast": torch.is_autocast_enabled("cpu"),
        "threads": torch.get_num_threads(),
    }


def _part(backends, name):
    library, operation = name.split(".") if "." in name else (name, None)
    return getattr(backends, library) if operation is None else getattr(getattr(backends, library), operation)


def test_whatever_ran_before_leaves_nothing():
    backends = torch.backends
    reset_torch(1)
    wanted = state()
    assert wanted["mode"] and not wanted["filled"] and wanted["matmul"] == "highest"
    assert not any(wanted["products"].values()) and wanted["attention"] == [True, True, True, False]
    assert set(wanted["precision"].values()) <= {"none", "ieee"}
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True
        backends.cudnn.set_flags(_enabled=False, _benchmark=True, _deterministic=False, _allow_tf32=True)
        backends.mkldnn.set_flags(False, True)
        backends.fp32_precision = "tf32"
        backends.mkldnn.conv.fp32_precision = "bf16"
        backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True
        for name in ("flash", "mem_efficient", "math"):
            getattr(backends.cuda, f"enable_{name}_sdp")(False)
        backends.cuda.enable_cudnn_sdp(True)
        torch.set_autocast_enabled("cpu", True)
        torch.set_num_threads(2)
        assert state() != wanted
    finally:
        reset_torch(1)
    assert state() == wanted
