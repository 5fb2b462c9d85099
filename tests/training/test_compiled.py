"""Nets that are compiled: each is one piece; a trial's files have the form and, resumed, the bits they have without a
pause, whatever is in the cache."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core.config import TrialConfig, with_values
from gonn_core.features.sets import plane_names
from gonn_core.go.jit import cache_root, kernel_cache_folder
from gonn_core.nets import trial_net
from gonn_core.training.compiling import HOST_WORK
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import Trainer
from gonn_core.training.speed import random_batches
from gonn_core.trial.__main__ import main
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job
from tests.waiting import wait_until

pytestmark = pytest.mark.system
CPU = torch.device("cpu")
SMALL = {"net.trunk.width": 12, "net.trunk.blocks": 4}
BASES = {"gonn-b5": SMALL, "clark-medium": {}, "cazenave-7x128": {"net.residual.width": 8}, "lczero-s": {}, "go-nn": {}}
INSERTED = (
    {"net.trunk.ladder_block": True},
    {"net.trunk.chain_pooling": 2},
    {"net.trunk.wide_blocks": "shared"},
    {"net.trunk.ladder_block": True, "net.trunk.ladder_weights": "biased", "net.trunk.wide_blocks": "split"},
)


def configuration(base: str, **values) -> TrialConfig:
    registry = load_registry()
    budget = registry.budget("cpu")
    return with_values(budget_config(registry.base(base), budget, budget.samples), values)


CASES = {
    **{base: configuration(base, **values) for base, values in BASES.items()},
    **{f"gonn-b5, {', '.join(values)}": configuration("gonn-b5", **SMALL, **values) for values in INSERTED},
    "clark-medium, dropout": configuration("clark-medium", **{"net.conv.dropout": 0.1}),
    "clark-medium, tied": configuration("clark-medium", **{"net.conv.tied": True}),
}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("case", CASES)
def test_every_net_is_one_piece(case, precision):
    """Forward and backward are traced without a break, and once: a later step finds what was compiled."""
    if precision == "fp32" and case not in ("gonn-b5", "lczero-s"):
        pytest.skip("no branch on the type of numbers")
    config, compilations = CASES[case], []

    def count(graph, inputs):
        compilations.append(graph)
        return graph.forward

    reset_torch(1)
    torch.compiler.reset()
    net = trial_net(config).train()
    planes = (torch.rand(2, len(plane_names(config.features)), 19, 19) < 0.1).float()
    planes = planes.contiguous(memory_format=torch.channels_last)
    compiled = torch.compile(net.body, dynamic=False, fullgraph=True, backend=count)
    with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
        for _ in range(2):
            compiled(planes).float().sum().backward()
            net.zero_grad()
    assert len(compilations) == 1
    ours = {str(node.target) for graph in compilations for node in graph.graph.nodes if "gonn." in str(node.target)}
    expected = any(is_on(config) for is_on, _ in HOST_WORK.values())
    assert bool(ours) == expected, ours


def test_a_compiled_step_is_a_step():
    """Losses of a net with dropout, compiled and not: the same masks, the same names, nothing but rounding between."""
    config = with_values(CASES["clark-medium, dropout"], {"training.batch_size": 4, "net.conv.layers": [[3, 9]]})
    reset_torch(1)
    torch.compiler.reset()
    batch = next(random_batches(config, CPU, "channels_last"))
    plain, compiled = (Trainer(config, 1000, CPU, "channels_last", compile=kind) for kind in ("none", "body"))
    compiled.warm_up(batch)
    assert all(torch.equal(one, compiled.state()[name]) for name, one in plain.state().items())
    for _ in range(3):
        losses = [float(trainer.step(batch)) for trainer in (plain, compiled)]
        assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert plain.state().keys() == compiled.state().keys()


def test_resumed_bit_for_bit(tmp_path, monkeypatch):
    """A trial killed in one process and resumed in another, each with nothing in its cache, against one left alone."""
    prelu = {"net__activation": "prelu", "training__precision": "bf16", "training__samples": 400}
    config = tiny_config(**prelu)
    whole, pieces, plain = (
        tiny_job(tmp_path / name, config, compile=kind, checkpoint_seconds=0.0)
        for name, kind in (("whole", "body"), ("pieces", "body"), ("plain", "none"))
    )
    run_trial(whole)
    assert list(cache_root().glob("compiled-*"))
    _empty_cache(tmp_path / "first", monkeypatch)
    directory = TrialDirectory(tmp_path / "pieces" / pieces.id)
    job = tmp_path / "job.json"
    job.write_text(pieces.model_dump_json())
    command = [sys.executable, "-m", "gonn_core.trial", str(job)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: any(line["samples"] >= 100 for line in directory.metrics()) or process.poll() is not None)
        process.kill()
    assert 0 < directory.metrics()[-1]["samples"] < 400
    _empty_cache(tmp_path / "second", monkeypatch)
    torch.compiler.reset()
    run_trial(pieces.model_copy(update={"run": pieces.run.model_copy(update={"compile": "none"})}))
    assert_same_trial(tmp_path / "whole" / whole.id, directory.path)
    sessions = directory.config()["sessions"]
    assert [session["compile"] for session in sessions] == ["body", "body"]
    assert sessions[0]["compiler"] == sessions[1]["compiler"] != ""
    run_trial(plain)
    other = TrialDirectory(tmp_path / "plain" / plain.id)
    assert other.config()["sessions"][0].keys() == sessions[0].keys() - {"compiler"}
    assert other.result().keys() == directory.result().keys()


def _empty_cache(folder: Path, monkeypatch) -> None:
    """A cache that holds the kernels of planes, and nothing that torch compiled."""
    kernels = kernel_cache_folder()
    folder.mkdir()
    (folder / kernels.name).symlink_to(kernels.resolve())
    monkeypatch.setenv("GONN_CACHE", str(folder))


def test_refused_in_one_line(tmp_path, monkeypatch, capsys):
    job = tiny_job(tmp_path / "runs")
    (tmp_path / "job.json").write_text(job.model_dump_json())
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert main([str(tmp_path / "job.json"), "--compile", "body"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: compile=body: needs a C++ compiler")
    assert not (tmp_path / "runs" / job.id / "config.json").exists()
