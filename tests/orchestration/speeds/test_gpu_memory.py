"""What a plan for a GPU says of memory."""

import pytest

from ablations.registry import load_registry
from gonn_core.config import TrialConfig, with_values
from gonn_core.rehearsal.found import MemoryNeed, Operation, Rehearsal
from orchestration.runners.gpus import Gpus
from orchestration.speeds import counted, gpu_memory
from orchestration.speeds.counted import MOST_NETS
from orchestration.speeds.gpu_memory import is_asked, memory_lines
from reports.workspace import Workspace

BASE = TrialConfig()


def wide(blocks: int) -> TrialConfig:
    return with_values(BASE, {"net.trunk.blocks": blocks})


def found(part) -> Rehearsal:
    """As many times 0.1 GB as there are blocks."""
    return Rehearsal(
        batch_size=part.config.training.batch_size,
        precision="bf16",
        evaluation_batch=256,
        error=None,
        operations=((Operation("forward", "aten.mm", "bfloat16", 1, 2, 3, 4), 5),),
        syncs={},
        copies={},
        unordered={},
        memory=MemoryNeed(weights=1, training=10**8 * part.config.net.trunk.blocks, evaluation=2),
    )


@pytest.fixture
def asked(monkeypatch):
    """Nets that were rehearsed, in order; no GPU is here."""
    parts: list = []

    def rehearse_apart(wanted):
        parts.extend(wanted)
        return map(found, wanted)

    monkeypatch.setattr(counted, "rehearse_apart", rehearse_apart)
    monkeypatch.setattr(gpu_memory, "visible_gpus", lambda: Gpus(()))
    return parts


def test_each_arm_is_told_and_how_many_fit(asked, tmp_path):
    lines = memory_lines({"small": wide(1), "large": wide(11)}, Workspace(tmp_path), print)
    assert lines == [
        "GPU memory of one trial, predicted without a GPU: small 1.0 GB, large 2.0 GB; of each, 0.9 GB are an "
        "allowance for CUDA and the workspaces of its libraries",
        "trials that fit beside each other: 10 in 24 GB, 36 in 80 GB",
    ]


def test_the_gpus_that_are_here_are_told_of(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(gpu_memory, "visible_gpus", lambda: Gpus(("0", "1"), ("NVIDIA A", "NVIDIA A")))
    monkeypatch.setattr(gpu_memory, "memory_sizes", lambda: (10**10, 10**10))
    assert memory_lines({"small": wide(1)}, Workspace(tmp_path), print)[1].endswith(": 9 in NVIDIA A")


def test_of_many_nets_the_largest_are_rehearsed(asked, tmp_path):
    lines = memory_lines({f"{blocks} blocks": wide(blocks) for blocks in range(1, 16)}, Workspace(tmp_path), print)
    assert [part.config.net.trunk.blocks for part in asked] == list(range(16 - MOST_NETS, 16))
    assert lines[0].startswith("GPU memory of one trial (the largest nets), predicted")


def test_a_plan_is_for_a_gpu_where_one_is_asked_for_or_here_or_the_budget_is_large(asked, monkeypatch):
    budgets = load_registry().budgets
    assert [is_asked("auto", budgets[name]) for name in ("cpu", "smoke", "gpu", "paper")] == [False, False, True, True]
    assert is_asked("cuda", budgets["cpu"]) and not is_asked("cpu", budgets["gpu"])
    assert is_asked("cpu", budgets["cpu"], gpu="h100")
    monkeypatch.setattr(gpu_memory, "visible_gpus", lambda: Gpus(("0",), ("NVIDIA A",)))
    assert is_asked("auto", budgets["cpu"])
