"""`RunSettings.compile`: a net's body, forward and backward, compiled by PyTorch.

A compiled step sums in another order, so its bits differ, as with another number of threads. Evaluation, policies,
losses and the optimiser are not compiled. Parameters, their names and all files of a trial are the same either way.

Compiled code is cached in the user's cache folder, so that the next trial of the same net starts in seconds. torch is
imported inside functions: job files are read without it.
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
from gonn_core.files.whole import locked

Compile = Literal["none", "body", "graphs"]
"""none: nothing is compiled. body: the net's body. graphs: its kernels are also recorded as CUDA graphs, so that a step
is one launch."""


def check_compile(kind: Compile, device: str, setting: str = "compile") -> None:
    """Check that a body can be compiled for `device`, `cpu` or `cuda`, on this machine. Raises SettingError with what
    is missing."""
    if kind == "none":
        return
    if kind == "graphs" and device != "cuda":
        raise SettingError(setting, kind, f"there are no CUDA graphs on {device}", ("none", "body"))
    python = Path(sysconfig.get_path("include"), "Python.h")
    missing = None
    if device == "cuda":
        missing = None if find_spec("triton") else "Triton (the package triton, which comes with PyTorch for CUDA)"
    elif shutil.which(_cpp_compiler()) is None:
        missing = f"a C++ compiler ({_cpp_compiler()}, or the one that the environment's CXX names)"
    elif not python.is_file():
        missing = f"Python's headers ({python}; Debian's package python3-dev)"
    if missing:
        raise SettingError(setting, kind, f"needs {missing}, not found here", ("none",))


def _cpp_compiler() -> str:
    """As torch._inductor.config.cpp.cxx."""
    return os.environ.get("CXX") or ("clang++" if platform.system() == "Darwin" else "g++")


def describe_compiler(device: str) -> str:
    """Name and version of the compiler for a device that `check_compile` has passed, in one line."""
    if device == "cuda":
        from importlib.metadata import version

        return f"triton {version('triton')}"
    version_text = subprocess.run([_cpp_compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    return version_text.partition("\n")[0].strip() or _cpp_compiler()


def compiled_folder(device: str) -> Path:
    """Folder of compiled code: `$GONN_CACHE/compiled-<hash>`, by default in the user's cache folder. One folder for
    each version of torch and Python, compiler and processor, because torch's cache key has only some of them."""
    import torch

    from gonn_core.go.jit import cache_root
    from gonn_core.training.environment import describe_processor

    versions = (torch.__version__, platform.python_version(), describe_compiler(device), describe_processor())
    return cache_root() / f"compiled-{hashlib.sha256(repr(versions).encode()).hexdigest()[:16]}"


@contextmanager
def compiling_alone(config: TrialConfig, device: str) -> Iterator[None]:
    """Hold a lock on compiling this net for steps of this kind: trials that start together wait for the first, and
    reuse its cache. Raises UserError."""
    step = {"batch_size": True, "batch_splits": True, "precision": True}
    net = config.model_dump_json(include={"net": True, "features": True, "training": step})
    name = hashlib.sha256(net.encode()).hexdigest()[:16]
    with locked(compiled_folder(device) / f".{name}.lock"):
        yield


def device_label(device: str, kind: str) -> str:
    """A device for people, with what is compiled on it."""
    words = {"none": "", "body": ", body compiled", "graphs": ", body compiled, CUDA graphs"}
    return device + words.get(kind, f", compile={kind}")


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
    tracing.recompile_limit = 256  # versions of a function, one for each net; beyond that torch raises
    tracing.fail_on_recompile_limit_hit = True
    if kind == "body":
        return torch.compile(body, dynamic=False)
    launched = torch.compile(body, dynamic=False, mode="reduce-overhead")

    def step(planes):
        torch.compiler.cudagraph_mark_step_begin()  # the step before is over: its memory is free
        return launched(planes)

    return step


HOST_WORK: dict[str, tuple[Callable[[TrialConfig], bool], str]] = {
    "net.trunk.chain_pooling": (lambda c: c.net.trunk.chain_pooling > 0, "rounds until chains are found"),
    "net.conv.dropout": (lambda c: c.net.conv.dropout > 0, "masks by the number of passes so far"),
    "training.batch_splits": (lambda c: c.training.batch_splits > 1, "gradients of several parts added up"),
}
"""Setting -> whether it is on, and what the host then decides within a step, so that a CUDA graph cannot hold it.
`tests/training/test_compiled.py` searches for others."""


def check_graphs(config: TrialConfig) -> None:
    """Raise SettingError for a configuration that needs the host within a step."""
    for setting, (is_on, work) in HOST_WORK.items():
        if is_on(config):
            problem = f"{setting} needs the host within a step ({work})"
            raise SettingError("compile", "graphs", problem, ("none", "body"))
