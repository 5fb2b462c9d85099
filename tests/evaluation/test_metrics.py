"""Metrics on known logits."""

import pytest
import torch

from gonn_core.evaluation.evaluate import score
from gonn_core.evaluation.metrics import METRIC_SET, Reading, evaluation_id, weights_digest


def test_ties_go_to_the_lowest_point_as_in_argmax():
    logits = torch.zeros(361, 361)
    _, rank, _, _ = score(logits, torch.arange(361))
    assert rank.tolist() == list(range(361))


def test_rank_agrees_with_sorting():
    logits = torch.randn(50, 361, generator=torch.Generator().manual_seed(0))
    targets = torch.randint(361, (50,), generator=torch.Generator().manual_seed(1))
    nats, rank, _, _ = score(logits, targets)
    order = logits.argsort(1, descending=True)
    assert rank.tolist() == [(order[i] == targets[i]).nonzero().item() for i in range(50)]
    assert nats.equal(
        torch.nn.functional.cross_entropy(logits, targets, reduction="none")
    )  # to the bit: older evaluations stay comparable


def test_digest_of_weights_sees_values_and_names_only():
    weights = {"a": torch.randn(2, 3, 4, 4), "b": torch.tensor(5)}
    digest = weights_digest(weights)
    assert len(digest) == 16
    assert (
        weights_digest({"b": weights["b"], "a": weights["a"].contiguous(memory_format=torch.channels_last)}) == digest
    )
    assert weights_digest({"a": weights["a"], "c": weights["b"]}) != digest
    other = weights["a"].clone()
    other[0, 0, 0, 0] += 1e-6
    assert weights_digest({"a": other, "b": weights["b"]}) != digest


@pytest.mark.parametrize(
    "change",
    [
        {"weights": "x"},
        {"subset": "x"},
        {"history": "as_published"},
        {"reading": Reading(True, False)},
        {"reading": Reading(False, True)},
        {"reading": Reading(True, True)},
        {"metric_set": METRIC_SET + 1},
    ],
)
def test_identity_of_an_evaluation(change):
    same = {"weights": "w", "subset": "s", "history": "full"}
    assert (
        evaluation_id(**same) == evaluation_id(**same) == "893913f253a89e5b"
    )  # as evaluations were named from the first on
    assert evaluation_id(**{**same, **change}) != evaluation_id(**same)
