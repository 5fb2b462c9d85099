"""Which GPUs there are, and how many trials run at a time on them.

torch counts the GPUs in a child process: the process that hands out trials never starts CUDA, whose context takes
memory of the GPU. torch counts one instance of a partitioned GPU (MIG), because a process can use no more; several are
used where CUDA_VISIBLE_DEVICES names them.
"""

import importlib.util
import json
import math
import operator
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import SettingError, UserError, printable

CHOICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables by which a user chooses among GPUs."""
PATIENCE_SECONDS = 300.0
"""Time-out of a process that imports torch on a busy machine."""

_QUESTION = """
import json, torch
count = torch.cuda.device_count() if torch.cuda.is_available() else 0
print(json.dumps([torch.cuda.get_device_name(number) for number in range(count)]))
"""


class Gpus(NamedTuple):
    """The GPUs that this command may use; instances of a partitioned one count as GPUs."""

    names: tuple[str, ...]
    """As CUDA_VISIBLE_DEVICES takes them: numbers or identifiers."""
    titles: tuple[str, ...] = ()
    """Torch's names of those that one process sees."""


def visible_gpus() -> Gpus:
    """The GPUs that torch would use here. Raises UserError when torch does not answer."""
    return _visible(*(os.environ.get(name) for name in CHOICES))


def device_title(device: str) -> str:
    """The device that `auto`, `cpu` or `cuda` means here: a GPU's name, or `cpu`. Raises SettingError (DEVICE) for cuda
    without a GPU."""
    gpus = visible_gpus() if device != "cpu" else Gpus(())
    if device == "cuda" and not gpus.names:
        raise SettingError("DEVICE", device, "PyTorch finds no CUDA device here", ("auto", "cpu"))
    return gpus.titles[0] if gpus.names else "cpu"


def seeing(names: Iterable[str]) -> dict[str, str]:
    """Environment variables that let a process see only these GPUs."""
    value = ",".join(names)
    return {name: value for name in (CHOICES[:2] if torch_builds()["hip"] else CHOICES[:1])}


@cache
def torch_builds() -> Mapping[str, str | None]:
    """Versions of CUDA and HIP that the installed torch was built for, without importing it: `cuda`, `hip`."""
    spec = importlib.util.find_spec("torch")
    text = "" if spec is None or spec.origin is None else (Path(spec.origin).parent / "version.py").read_text()
    pattern = r"""(?m)^(cuda|hip)\b[^=\n]*=\s*['"]([^'"]*)['"]"""
    return {"cuda": None, "hip": None} | dict(re.findall(pattern, text))


@cache
def _visible(cuda: str | None, hip: str | None, rocr: str | None) -> Gpus:
    """The GPUs under these values of CHOICES; `rocr` acts on torch's count alone."""
    titles = _titles() if any(torch_builds().values()) else ()
    if not titles:
        return Gpus(())
    chosen = hip if torch_builds()["hip"] and hip is not None else cuda
    named = [name.strip() for name in chosen.split(",")] if chosen is not None else None
    if named and named[0].startswith("MIG-"):  # a process sees the first alone
        return Gpus(tuple(name for name in named if name.startswith("MIG-")), titles)
    return Gpus(tuple(named[: len(titles)] if named else map(str, range(len(titles)))), titles)


def _titles() -> tuple[str, ...]:
    """Torch's names of the GPUs that it sees."""
    try:
        answer = subprocess.run(
            [sys.executable, "-c", _QUESTION], capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
        return tuple(json.loads(answer.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        why = f"no answer in {PATIENCE_SECONDS:.0f} seconds"
    except (ValueError, IndexError):
        lines = answer.stderr.strip().splitlines() or [f"it ended with code {answer.returncode}"]
        why = printable(lines[-1], 300)
    raise UserError(f"torch cannot list the GPUs ({why}); DEVICE=cpu trains without them")


@dataclass(frozen=True)
class Places:
    """How many trials run at a time, and on which GPUs."""

    slots: int
    gpus: tuple[str, ...] = ()
    """As `CUDA_VISIBLE_DEVICES` names them; empty: trials run on CPU cores."""
    per_gpu: int = 1
    """Trials on each GPU."""

    def gpu(self, slot: int) -> str | None:
        """The GPU of a slot, None on a CPU. Slots are dealt to the GPUs in turn."""
        return self.gpus[slot % len(self.gpus)] if self.gpus else None


def places(jobs: Iterable | None, slots: int | None, device: str = "auto", per_gpu: int | None = None) -> Places:
    """Slots and GPUs for `jobs` on `device`; no more slots than jobs, where their number is known (None: it is not).

    On a CPU there are `slots` slots, by default one per core. On GPUs there are `per_gpu` per GPU, by default as many
    as `slots` asks for, else 1, and at most `slots` in all. Raises SettingError (SLOTS).
    """
    if slots is not None and slots < 1:
        raise SettingError("SLOTS", slots, "not a number of trials to run at a time", "1 or more")
    gpus = visible_gpus().names if device != "cpu" else ()
    if gpus:
        per_gpu = per_gpu or math.ceil((slots or 1) / len(gpus))
        most = min(slots or len(gpus) * per_gpu, len(gpus) * per_gpu)
    else:
        most = slots or usable_cores()
    return Places(min(most, max(1, operator.length_hint(jobs, most))), gpus, per_gpu or 1)


def usable_cores() -> int:
    """CPU cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
