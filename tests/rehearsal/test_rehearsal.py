"""A simulated GPU: a training step and an evaluation run on it, and what is wrong for a GPU is found.

All of it in processes of their own: such a device takes real ones from its process. `make test` has a sample,
`make test-system` every base, every card's arms and all defects.
"""

import hashlib
import json
import os
import subprocess
import sys

import pytest
import torch

from ablations.arms import resolve
from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import TrialConfig, with_values
from gonn_core.effective.whole import effective
from tests.paths import ROOT
from tests.rehearsal.device import HEADER

pytestmark = pytest.mark.skipif(not HEADER.exists(), reason="this torch comes without its headers")

FAMILIES = ("gonn", "conv", "encoder", "residual")
FOUND = {
    "a_host_tensor_in_a_norm": lambda made: "device" in made["error"],
    "a_number_read_in_a_step": lambda made: made["syncs"] == {"update aten._local_scalar_dense": 1},
    "a_copy_to_the_host": lambda made: (
        made["copies"]["forward aten._to_copy"] == made["syncs"]["forward aten._to_copy"]
    ),
    "a_sum_of_unknown_order": lambda made: made["unordered"]["forward aten.cumsum"],
    "a_list_as_index": lambda made: "list of indices" in made["error"] and "blocks.py" in made["error"],
    "a_shape_that_depends_on_numbers": lambda made: made["syncs"]["forward aten.nonzero"],
    "float32_in_a_block": lambda made: (
        made["flops"]["forward"]["float32"] > 0.1 * sum(made["flops"]["forward"].values())
    ),
    "a_wrong_type": lambda made: "torch.float64" in made["error"],
}
QUICK = ("a_host_tensor_in_a_norm", "a_sum_of_unknown_order", "a_list_as_index")


def rehearse_apart(parts):
    """A rehearsal of each (config, batch size, precision, defect), in order, in one process."""
    trees = [(config.model_dump(mode="json"), *others) for config, *others in parts]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "tests.rehearsal"]
    done = subprocess.run(command, input=json.dumps(trees), capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def surprises(config, made) -> list[str]:
    """What of a rehearsal should not be: its error, waits of the host, copies, operations without an order. Chains are
    joined in rounds until nothing changes, and each round asks the device whether it did."""
    chains = config.net.family == "gonn" and config.net.trunk.chain_pooling > 0
    expected = {"forward aten.equal", "evaluation aten.equal"} if chains else set()
    counted = [f"{kind}: {name}" for kind in ("syncs", "copies", "unordered") for name in made[kind].keys() - expected]
    return [*([made["error"]] if made["error"] else []), *counted]


def cards_by_family(registry) -> dict[str, list[str]]:
    """Net family of a card's base -> its cards, in an order by hash."""
    families: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for card in sorted(registry.cards, key=lambda card: hashlib.sha256(card.encode()).digest()):
        families[registry.base(registry.cards[card].base).config.net.family].append(card)
    return families


def of_bases(registry) -> dict[str, tuple]:
    """The nets of all bases, at the batch size of a trial, in bf16; of each family one in fp32, too."""
    budget, parts, families = registry.budget("gpu"), {}, set()
    for base in reversed(list(registry.bases.values())):
        config = two_layers(budget_config(base, budget, budget.samples))
        for precision in ("bf16",) if config.net.family in families else ("bf16", "fp32"):
            parts[f"{base.id} {precision}"] = (config, None, precision, None)
        families.add(config.net.family)
    return parts


def two_layers(config: TrialConfig) -> TrialConfig:
    """Layers of an encoder are alike, so two are enough."""
    deep = config.net.family == "encoder" and config.net.encoder.layers > 2
    return with_values(config, {"net.encoder.layers": 2}) if deep else config


def of_cards(registry, cards) -> dict[str, tuple]:
    """Off and on of every card, in batches of 2; of those whose net, planes, loss and optimiser are equal the
    first."""
    parts: dict[str, tuple] = {}
    for card in cards:
        arms = resolve(registry, card, "gpu")
        for state, config in (("off", arms.off), ("on", arms.on)):
            config = two_layers(effective(config))
            training = config.training.model_dump(mode="json", exclude={"init_seed", "data_seed", "samples"})
            training["optimiser"].pop("learning_rate")
            training["schedule"] = training["schedule"]["kind"]
            decided = json.dumps([config.net.model_dump(), config.features.model_dump(), training], sort_keys=True)
            parts.setdefault(decided, (f"{card} {state}", (config, 2 * config.training.batch_splits, None, None)))
    return dict(parts.values())


def gonn_net(registry):
    """The net into which defects are planted."""
    return budget_config(registry.base("gonn-b5"), registry.budget("smoke"))


def with_defects(names) -> dict[str, dict]:
    config = gonn_net(load_registry())
    return dict(zip(names, rehearse_apart([(config, None, "bf16", name) for name in names]), strict=True))


@pytest.fixture(scope="module")
def quick():
    """A net of every family, and some defects."""
    registry = load_registry()
    parts = {"gonn": (gonn_net(registry), None, "bf16", None)}
    for family, cards in cards_by_family(registry).items():
        if family != "gonn":
            parts[family] = next(iter(of_cards(registry, cards[:1]).values()))
    parts |= {name: (gonn_net(registry), None, "bf16", name) for name in QUICK}
    made = dict(zip(parts, rehearse_apart(parts.values()), strict=True))
    return {name: (parts[name][0], made[name]) for name in parts}


def test_a_step_and_an_evaluation_of_every_family_pass_without_a_wait_or_a_copy(quick):
    assert {family: surprises(*quick[family]) for family in FAMILIES} == {family: [] for family in FAMILIES}


def test_matrix_work_is_done_in_the_declared_precision(quick):
    _, made = quick["gonn"]
    assert made["operations"].keys() == {"input", "forward", "backward", "update", "evaluation"}
    forward, backward = (made["flops"][phase] for phase in ("forward", "backward"))
    assert sum(forward.values()) < sum(backward.values()) < 2 * sum(forward.values())  # no gradient of the planes
    assert all(flops["bfloat16"] > 0.9 * sum(flops.values()) for flops in (forward, backward))
    assert made["flops"]["evaluation"].keys() == {"float32"} and "update" not in made["flops"]


@pytest.mark.parametrize("defect", QUICK)
def test_planted_defects_are_found(quick, defect):
    assert FOUND[defect](quick[defect][1])
    assert torch._C._get_privateuse1_backend_name() == "privateuseone"  # this process is left as it was


@pytest.mark.system
def test_every_planted_defect_is_found():
    assert [name for name, made in with_defects([*FOUND]).items() if not FOUND[name](made)] == []


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("bases", marks=pytest.mark.system),
        *(pytest.param(each, marks=pytest.mark.cards) for each in FAMILIES),
    ],
)
def test_every_base_and_every_arm_pass_without_a_wait_or_a_copy(kind):
    registry = load_registry()
    parts = of_bases(registry) if kind == "bases" else of_cards(registry, cards_by_family(registry)[kind])
    made = rehearse_apart(parts.values())
    odd = {name: surprises(part[0], one) for (name, part), one in zip(parts.items(), made, strict=True)}
    assert {name: strange for name, strange in odd.items() if strange} == {}
