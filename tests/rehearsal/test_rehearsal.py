"""A device that pretends: a training step and an evaluation run on it, and what is wrong for a GPU is found.

All of it in processes of their own: such a device takes real ones from its process. `make test` has a sample,
`make test-system` every base, every card's arms and all defects.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ablations.registry import load_registry
from tests.paths import ROOT
from tests.rehearsal import autocast
from tests.rehearsal.arms import FAMILIES, cards_by_family, of_bases, of_cards
from tests.rehearsal.child import DEFECTS, NETS, QUICK
from tests.rehearsal.found import Rehearsal
from tests.rehearsal.process import Cannot, Part, rehearse_apart
from tests.rehearsal.waits import surprises

HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
MACROS = {
    "LOWER_PRECISION_FP": autocast.LOWER,
    "FP32": autocast.FLOAT32,
    "FP32_SET_OPT_DTYPE": autocast.FLOAT32_RESULT,
    "PROMOTE": autocast.WIDEST,
}
FOUND = {
    "a_host_tensor_in_a_norm": lambda found: "device" in found.error,
    "a_number_read_in_a_step": lambda found: found.syncs == {"update aten._local_scalar_dense": 1},
    "a_copy_to_the_host": lambda found: found.copies["forward aten._to_copy"] and found.syncs["forward aten._to_copy"],
    "a_sum_of_unknown_order": lambda found: found.unordered["forward aten.cumsum"],
    "a_list_as_index": lambda found: "list of indices" in found.error and "blocks.py" in found.error,
    "a_shape_that_depends_on_numbers": lambda found: found.syncs["forward aten.nonzero"],
    "float32_in_a_block": lambda found: found.flops(dtype="float32") > 0.1 * found.flops(),
    "a_wrong_type": lambda found: "torch.float64" in found.error,
}


def child(*wanted) -> dict:
    command = [sys.executable, "-m", "tests.rehearsal.child", *wanted]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    tree = json.loads(done.stdout)
    for kind in ("nets", "defects"):
        tree[kind] = {name: Rehearsal.model_validate_json(json.dumps(found)) for name, found in tree[kind].items()}
    return tree


@pytest.fixture(scope="module")
def quick():
    return child()


@pytest.fixture(scope="module")
def thorough():
    return child(*NETS, *DEFECTS)


def test_a_step_and_an_evaluation_of_every_family_pass_without_a_wait_or_a_copy(quick):
    assert quick["surprises"] == {name: [] for name in QUICK if name in NETS}
    assert len(quick["surprises"]) == len(FAMILIES) and all(cards_by_family(load_registry()).values())


def test_all_phases_are_told_apart(quick):
    found = quick["nets"]["bf16"]
    assert all(found.kernels([phase]) for phase in ("input", "forward", "backward", "update", "evaluation"))
    forward, backward = found.flops(["forward"]), found.flops(["backward"])
    assert forward < backward < 2 * forward  # twice, but for the gradient of the planes
    assert found.flops(["update"]) == 0


def test_matrix_work_is_done_in_the_declared_precision(quick):
    found = quick["nets"]["bf16"]
    assert found.flops(dtype="bfloat16") > 0.9 * found.flops()
    assert found.flops(["evaluation"]) == found.flops(["evaluation"], dtype="float32")


@pytest.mark.parametrize("defect", [name for name in QUICK if name in DEFECTS])
def test_planted_defects_are_found(quick, defect):
    assert FOUND[defect](quick["defects"][defect])


def test_this_process_is_left_as_it_was(quick):
    assert torch._C._get_privateuse1_backend_name() == "privateuseone"


@pytest.mark.skipif(not HEADER.exists(), reason="this torch comes without its headers")
@pytest.mark.parametrize("macro", MACROS)
def test_the_lists_of_autocast_are_those_of_torch(macro):
    text = HEADER.read_text(encoding="utf-8")
    body = re.search(rf"#define AT_FORALL_{macro}\(_\)(.*?)\n\n", text, re.DOTALL).group(1)
    names = re.findall(r"_\((\w+)(?:,\s*(\w+))?\)", body)
    assert MACROS[macro] == tuple(name + ("." + overload if overload else "") for name, overload in names)


@pytest.mark.system
@pytest.mark.parametrize("defect", DEFECTS)
def test_every_planted_defect_is_found(thorough, defect):
    assert FOUND[defect](thorough["defects"][defect])


@pytest.mark.system
def test_memory_holds_weights_state_gradients_and_what_the_backward_pass_needs(thorough):
    single, half = (thorough["nets"][name].memory for name in ("fp32", "bf16"))
    assert single.weights == half.weights and single.gradients == half.gradients
    assert single.weights < single.state + single.gradients < single.training
    assert half.training < single.training  # activations of half the size
    assert thorough["nets"]["fp32"].flops(dtype="bfloat16") == 0


@pytest.mark.system
@pytest.mark.parametrize("kind", ["bases", *FAMILIES])
def test_every_base_and_every_arm_pass_without_a_wait_or_a_copy(kind):
    registry = load_registry()
    parts = of_bases(registry) if kind == "bases" else of_cards(registry, cards_by_family(registry)[kind])
    found = rehearse_apart([part for _, part in parts])
    odd = {name: surprises(part.config, one) for (name, part), one in zip(parts, found, strict=True)}
    assert {name: strange for name, strange in odd.items() if strange} == {}


@pytest.mark.system
def test_what_a_process_cannot_do_is_said_in_a_line(monkeypatch):
    part = NETS["bf16"](load_registry()).part
    monkeypatch.setattr(Part, "model_dump", lambda self, mode: {"config": 7})
    with pytest.raises(Cannot, match="rehearsal without a GPU: "):
        list(rehearse_apart([part]))
