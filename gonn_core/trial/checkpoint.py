"""Checkpoints and snapshots: safetensors files, which hold tensors and text, never code.

Both carry their format, the trial's id and the numerics versions, and are refused when these are not what the reader
expects.
"""

import json
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from gonn_core import numerics
from gonn_core.errors import InputError

FORMAT = 1


def pack(trial: str, tensors: dict[str, torch.Tensor], notes: dict) -> bytes:
    """A file's content: `tensors`, copied to the host in row-major order, and `notes`, a JSON tree."""
    metadata = {
        "format": str(FORMAT),
        "trial": trial,
        "numerics": json.dumps(numerics.versions(), sort_keys=True),
        "notes": json.dumps(notes),
    }
    return safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, metadata
    )


def unpack(path: Path, trial: str) -> tuple[dict[str, torch.Tensor], dict]:
    """Tensors (on the CPU) and notes of a file. Raises InputError when it is broken, of another trial or of another
    version."""
    try:
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            _check(path, trial, metadata)
            names = list(file.keys())  # no mapping: it cannot be iterated
            return {name: file.get_tensor(name) for name in names}, json.loads(metadata["notes"])
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise InputError(path, f"not a readable checkpoint ({error}); remove it to start this trial again") from None


def _check(path: Path, trial: str, metadata: dict[str, str]) -> None:
    if metadata.get("format") != str(FORMAT):
        raise InputError(path, f"of format {metadata.get('format')}; this version reads format {FORMAT}")
    versions = json.loads(metadata["numerics"])
    if versions != numerics.versions():
        raise InputError(path, f"made with numerics {versions}; this version has {numerics.versions()}")
    if metadata["trial"] != trial:
        raise InputError(path, f"of trial {metadata['trial']}, not of {trial}")
