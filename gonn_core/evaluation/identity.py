"""Identities: of weights, and of an evaluation."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from gonn_core.evaluation.metrics import METRIC_SET
from gonn_core.evaluation.reading import PLAIN, Reading

if TYPE_CHECKING:
    import torch


def weights_digest(state: Mapping[str, "torch.Tensor"]) -> str:
    """16 hex digits over names, types, shapes and values of a net's parameters and buffers; memory format and device do
    not matter."""
    digest = hashlib.sha256()
    for name in sorted(state):
        tensor = state[name].detach().cpu().contiguous()
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}\n".encode())
        digest.update(tensor.numpy().tobytes())
    return digest.hexdigest()[:16]


def evaluation_id(
    weights: str, subset: str, history: str, reading: Reading = PLAIN, metric_set: int = METRIC_SET
) -> str:
    """16 hex digits over all that decides an evaluation's numbers: digests of weights and subset, metric set, history
    mode, reading."""
    parts = [weights, subset, f"metrics {metric_set}", history, f"averaged {int(reading.symmetry_averaging)}"]
    if reading.legal_only:  # not told otherwise: older identities stay
        parts.append("legal only")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
