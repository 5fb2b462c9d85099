"""`RunSettings.compile`: a net's body, forward and backward, as one function of PyTorch's compiler.

The method stays: a compiled step does the same sums in another order, so its bits are its own, as those of another
number of threads are. Evaluation, policies, losses and the optimiser are not compiled. Parameters, their names and
all files of a trial are the same either way.

What is compiled is kept under the user's cache folder, so that the next trial of the same net starts in seconds.
torch is imported where it is needed: job files are read without it.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError
from gonn_core.files.locks import locked

Compile = Literal["none", "body", "graphs"]
"""none: step by step, as written. body: the net's body compiled. graphs: its kernels recorded as CUDA graphs besides,
so that a step is launched at once."""

MOST_VERSIONS = 256
"""Of one function that are compiled in a process, one for each net; where torch would quietly go on uncompiled, it
raises."""


def check_compile(kind: Compile, device: str, setting: str = "compile") -> None:
    """That a body can be compiled for `device`, `cpu` or `cuda`, here and now. Raises SettingError with what is
    missing."""
    if kind == "none":
        return
    if kind == "graphs" and device != "cuda":
        raise SettingError(setting, kind, f"there are no CUDA graphs on {device}", ("none", "body"))
    if missing := _missing(device):
        raise SettingError(setting, kind, f"needs {missing}, not found here", ("none",))


def _missing(device: str) -> str | None:
    """What torch's compiler needs on a device and does not find; None where nothing is missing."""
    if device == "cuda":
        return None if find_spec("triton") else "Triton (the package triton, which comes with PyTorch for CUDA)"
    if shutil.which(_cpp_compiler()) is None:
        return f"a C++ compiler ({_cpp_compiler()}, or the one that the environment's CXX names)"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return f"Python's headers ({sysconfig.get_path('include')}/Python.h; Debian's package python3-dev)"
    return None


def _cpp_compiler() -> str:
    """As torch._inductor.config.cpp.cxx."""
    return os.environ.get("CXX") or ("clang++" if platform.system() == "Darwin" else "g++")


def describe_compiler(device: str) -> str:
    """What compiles on a device that `check_compile` has passed: name and version in one line."""
    if device == "cuda":
        from importlib.metadata import version

        return f"triton {version('triton')}"
    told = subprocess.run([_cpp_compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    return told.partition("\n")[0].strip() or _cpp_compiler()


def compiled_folder(device: str) -> Path:
    """Where what was compiled is kept: `$GONN_CACHE/compiled-<hash>`, by default under the user's cache folder; one
    folder for each version of torch and Python, compiler and processor, for torch looks at some of them only."""
    import torch

    from gonn_core.go.jit import cache_root
    from gonn_core.training.environment import describe_processor

    own = (torch.__version__, platform.python_version(), describe_compiler(device), describe_processor())
    return cache_root() / f"compiled-{hashlib.sha256(repr(own).encode()).hexdigest()[:16]}"


@contextmanager
def compiling_alone(config: TrialConfig, device: str) -> Iterator[None]:
    """While this is entered, no other process compiles the same net for steps of the same kind: trials that start
    together wait for the first, and find what it made. Raises UserError."""
    step = {"batch_size": True, "batch_splits": True, "precision": True}
    net = config.model_dump_json(include={"net": True, "features": True, "training": step})
    name = hashlib.sha256(net.encode()).hexdigest()[:16]
    with locked(compiled_folder(device) / f".{name}.lock"):
        yield


def told_device(device: str, kind: str) -> str:
    """A device as it is told to people, with what is compiled on it."""
    words = {"none": "", "body": ", body compiled", "graphs": ", body compiled, CUDA graphs"}
    return device + words.get(kind, f", compile={kind}")


def forget_compiled() -> None:
    """Forget what this process compiled for other nets; what is on disk stays."""
    import torch

    torch.compiler.reset()


def compiled_body(body: Callable[..., Any], kind: Compile, device: str) -> Callable[..., Any]:
    """`body` (planes -> what policies read) of a net in training, compiled at its first call; `body` itself for none.

    One thread compiles on a CPU, as a trial has one. Raises SettingError as `check_compile`.
    """
    check_compile(kind, device)
    if kind == "none":
        return body
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(compiled_folder(device))
    if device == "cpu":
        os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # read once, by the import; no pool of processes starts
    import torch
    import torch._dynamo.config as tracing
    import torch._inductor.config as generating

    if device == "cpu":
        generating.compile_threads = 1
    generating.deterministic = True  # no kernel is chosen by its time, which would choose its bits
    tracing.recompile_limit = MOST_VERSIONS
    tracing.fail_on_recompile_limit_hit = True
    if kind == "body":
        return torch.compile(body, dynamic=False)
    launched = torch.compile(body, dynamic=False, mode="reduce-overhead")

    def step(planes):
        torch.compiler.cudagraph_mark_step_begin()  # the step before is over: its memory is free
        return launched(planes)

    return step
