"""Checkpoints and snapshots: safetensors files, which hold tensors and text, never code.

Both carry their format, the trial's id and the numerics versions, and are refused when these are not what the reader
expects; and a checksum of the whole file, which is checked before anything of it is used.
"""

import json
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from gonn_core import numerics
from gonn_core.errors import Damaged, InputError
from gonn_core.files.seals import EMPTY, KEY, check_tensors, sealed_tensors

FORMAT = 1
AGAIN = "the command that trained this trial makes it again once the trial's result.json is removed"
"""What to do about a snapshot that is damaged; a checkpoint is made again without a word from anybody."""


def pack(trial: str, tensors: dict[str, torch.Tensor], notes: dict) -> bytes:
    """A file's content: `tensors`, copied to the host in row-major order, and `notes`, a JSON tree."""
    metadata = {
        "format": str(FORMAT),
        "trial": trial,
        "numerics": json.dumps(numerics.versions(), sort_keys=True),
        "notes": json.dumps(notes),
        KEY: EMPTY,
    }
    return sealed_tensors(
        safetensors.torch.save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, metadata)
    )


def unpack(path: Path, trial: str) -> tuple[dict[str, torch.Tensor], dict]:
    """Tensors (on the CPU) and notes of a file. Raises Damaged when it is broken or not what was written, InputError
    when it is gone, of another trial or of another version."""
    check_tensors(path, AGAIN)
    try:
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            _check(path, trial, metadata)
            names = list(file.keys())  # no mapping: it cannot be iterated
            tensors, notes = {name: file.get_tensor(name) for name in names}, json.loads(metadata["notes"])
    except FileNotFoundError:
        raise InputError(path, "no such file") from None
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise Damaged(path, f"not a readable checkpoint ({error}); {AGAIN}") from None
    return tensors, notes


def _check(path: Path, trial: str, metadata: dict[str, str]) -> None:
    if metadata.get("format") != str(FORMAT):
        raise InputError(path, f"of format {metadata.get('format')}; this version reads format {FORMAT}")
    versions = json.loads(metadata["numerics"])
    if versions != numerics.versions():
        raise InputError(path, f"made with numerics {versions}; this version has {numerics.versions()}")
    if metadata["trial"] != trial:
        raise InputError(path, f"of trial {metadata['trial']}, not of {trial}")
