"""`python -m benchmarks.gpu` on a CPU, at its small size: what it writes, what becomes of a failure, what it needs."""

import json
import subprocess
import sys

import pytest

from ablations.designs import budget_config
from ablations.registry import load_registry
from benchmarks.gpu import sections
from benchmarks.gpu.__main__ import main
from benchmarks.gpu.bases import BASES, configuration
from gonn_core.config import with_values
from tests.paths import ROOT


def run(folder, *options) -> tuple[int, dict, str]:
    """Exit code, report and page of the command."""
    code = main(["--size", "small", "--device", "cpu", "--seconds", "0.01", "--out", str(folder), *options])
    return code, json.loads((folder / "benchmark.json").read_text()), (folder / "benchmark.md").read_text()


def test_nets_are_those_of_the_gpu_budget():
    registry = load_registry()
    for base in BASES:
        config = configuration(base)
        seeds = {f"training.{name}": getattr(config.training, name) for name in ("init_seed", "data_seed")}
        declared = budget_config(registry.base(base), registry.budget("gpu"))
        assert config == with_values(declared, {**seeds, "data.view": config.data.view})


def test_what_fails_is_named_and_the_rest_goes_on(tmp_path, monkeypatch):
    def fails(*_):
        raise RuntimeError("CUDA out of memory. Tried to\nallocate")

    monkeypatch.setattr(sections, "measured_steps", fails)
    monkeypatch.setattr(sections, "repeated_bits", lambda *_: {"steps": 6, "twice": ["net.a"], "resumed": []})
    code, tree, page = run(tmp_path, "--bases", "clark-medium", "--sections", "steps,repeats")
    assert code == 1 and tree["finished"] and len(tree["traces"]) == 1
    assert "* steps, clark-medium: RuntimeError: CUDA out of memory. Tried to\n" in page
    assert "* repeats, clark-medium: other bits (twice: 1 tensors, net.a first)" in page and "## At best" in page


@pytest.mark.system
def test_the_whole_command_needs_nothing_but_the_core(tmp_path):
    """All sections, one base, the bundled games; and none of the libraries that a bare machine lacks."""
    code = (
        "import sys\n"
        "lacking = ['ray', 'mlflow', 'pandas', 'yaml', 'rich', 'click', 'scipy', 'optuna', 'matplotlib', 'ablations',"
        " 'reports', 'orchestration']\n"
        "sys.modules.update(dict.fromkeys(lacking))\n"  # importing one of them is an error
        "from benchmarks.gpu.__main__ import main\n"
        "code = main(['--size', 'small', '--device', 'cpu', '--seconds', '0.02', '--bases', 'clark-medium',"
        f" '--out', {str(tmp_path)!r}])\n"
        "assert code == 0, code\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "benchmark.json").read_text())["results"]
    assert set(results) == {"peaks", *sections.SECTIONS} and set(results["beside"]) == {"1 at a time", "2 at a time"}
