"""A device that pretends: a training step and an evaluation run on it, and what is wrong for a GPU is found."""

import pytest

from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.rehearsal.process import Part, rehearse_apart


@pytest.fixture(scope="module")
def found():
    registry = load_registry()
    config = budget_config(registry.base("gonn-b5"), registry.budget("smoke"))
    parts = [Part(config=config, precision=precision) for precision in ("fp32", "bf16")]
    return dict(zip(("fp32", "bf16"), rehearse_apart(parts), strict=True))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_step_and_an_evaluation_pass_without_a_wait_or_a_copy(found, precision):
    rehearsal = found[precision]
    assert (rehearsal.error, rehearsal.syncs, rehearsal.copies) == (None, {}, {})
    assert rehearsal.memory.training > 3 * rehearsal.memory.weights


def test_matrix_work_is_done_in_the_declared_precision(found):
    assert found["fp32"].flops(dtype="bfloat16") == 0
    assert found["bf16"].flops(dtype="bfloat16") > 0.9 * found["bf16"].flops()
    assert found["bf16"].flops(("evaluation",), dtype="float32") == found["bf16"].flops(("evaluation",))
