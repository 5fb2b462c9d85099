"""Which GPUs there are, as torch counts them in a child process.

The process that hands out trials never starts CUDA: a context takes memory of the GPU. torch counts one instance of a
partitioned GPU (MIG), because a process can use no more; nvidia-smi lists the others.
"""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from gonn_core.errors import SettingError, UserError, printable

CHOICES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")
"""Variables by which a user chooses among GPUs."""
PATIENCE_SECONDS = 300.0
"""With a process that imports torch: a busy machine takes its time."""

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

    @property
    def are_instances(self) -> bool:
        """Whether they are parts of partitioned GPUs."""
        return any(" MIG " in title for title in self.titles)


def visible_gpus() -> Gpus:
    """The GPUs that torch would use here. Raises UserError when torch does not answer."""
    return _found(tuple((name, os.environ.get(name)) for name in CHOICES))


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
    """Versions of CUDA and HIP that the torch installed was built for, without importing it: `cuda`, `hip`."""
    spec = importlib.util.find_spec("torch")
    text = "" if spec is None or spec.origin is None else (Path(spec.origin).parent / "version.py").read_text()
    found = {
        name: re.search(rf"^{name}\b[^=\n]*=\s*(?:'([^']*)'|\"([^\"]*)\")", text, re.MULTILINE)
        for name in ("cuda", "hip")
    }
    return {name: (each.group(1) or each.group(2)) if each else None for name, each in found.items()}


@cache
def _found(choices: tuple[tuple[str, str | None], ...]) -> Gpus:
    if not any(torch_builds().values()):
        return Gpus(())
    titles = _titles()
    if not titles:
        return Gpus(())
    given = dict(choices)
    chosen = given["CUDA_VISIBLE_DEVICES"]
    if torch_builds()["hip"] and given["HIP_VISIBLE_DEVICES"] is not None:
        chosen = given["HIP_VISIBLE_DEVICES"]
    named = [name.strip() for name in chosen.split(",")] if chosen is not None else None
    found = Gpus((), titles)
    if named and named[0].startswith("MIG-"):  # a process sees the first alone
        return found._replace(names=tuple(name for name in named if name.startswith("MIG-")))
    if found.are_instances and (instances := _instances(named)):
        return found._replace(names=instances)
    return found._replace(names=tuple(named[: len(titles)] if named else map(str, range(len(titles)))))


def _titles() -> tuple[str, ...]:
    """Torch's names of the GPUs that it sees."""
    asking = [sys.executable, "-c", _QUESTION]
    try:
        asked = subprocess.run(asking, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        return tuple(json.loads(asked.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        why = f"no answer in {PATIENCE_SECONDS:.0f} seconds"
    except (ValueError, IndexError):
        lines = asked.stderr.strip().splitlines() or [f"it ended with code {asked.returncode}"]
        why = printable(lines[-1], 300)
    raise UserError(f"torch cannot list the GPUs ({why}); DEVICE=cpu trains without them")


def _instances(named: list[str] | None) -> tuple[str, ...]:
    """Instances of the partitioned GPUs with these numbers or identifiers (None: of all), as nvidia-smi lists them;
    empty without nvidia-smi."""
    if shutil.which("nvidia-smi") is None:
        return ()
    try:
        listing = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found, is_chosen = [], False
    for line in listing.splitlines():
        if gpu := re.match(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)", line):
            number, identifier = gpu.groups()
            is_chosen = named is None or any(
                name == number or (name.startswith("GPU-") and identifier.startswith(name)) for name in named
            )
        elif is_chosen and (instance := re.match(r"\s+MIG .*\(UUID: (MIG-[^)]+)\)", line)):
            found.append(instance.group(1))
    return tuple(found)
