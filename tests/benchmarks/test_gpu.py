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
from benchmarks.gpu.kernels import kind_of_kernel, kind_of_operation
from gonn_core.config import with_values
from tests.paths import ROOT
from tests.trial.helpers import starter_data


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


def test_a_report_of_one_base(tmp_path, capsys):
    store = starter_data().store.folder
    wanted = ("steps", "loader", "evaluation", "repeats")
    code, tree, page = run(
        tmp_path, "--bases", "gonn-b5", "--sections", ",".join(wanted), "--store", str(store), "--loaders", "2"
    )
    assert code == 0 and tree["finished"] and not tree["traces"] and page in capsys.readouterr().out
    results = tree["results"]
    assert set(results) == {"peaks", *wanted} and results["peaks"].keys() == {"bf16_flops", "fp32_flops", "copy_bytes"}
    step = results["steps"]["gonn-b5"]
    assert step["samples_per_s"] > 0 and step["kernels"] > 50 and sum(step["shares"].values()) == pytest.approx(1)
    assert step["shares"]["convolution and matrix"] > 0.05
    assert set(results["loader"]) == {"gonn-b5, 1 thread", "gonn-b5, 2 threads"}
    assert set(results["evaluation"]["gonn-b5"]) == {"channels_last", "contiguous", "from_games"}
    assert results["repeats"]["gonn-b5"] == {"steps": 6, "twice": [], "resumed": []}
    assert "On a CPU, with small nets and batches" in page and "the same bits after 6 steps" in page


def test_what_fails_is_named_and_the_rest_goes_on(tmp_path, monkeypatch):
    def fails(*_):
        raise RuntimeError("CUDA out of memory. Tried to\nallocate")

    monkeypatch.setattr(sections, "measured_steps", fails)
    monkeypatch.setattr(sections, "repeated_bits", lambda *_: {"steps": 6, "twice": ["net.a"], "resumed": []})
    code, tree, page = run(tmp_path, "--bases", "clark-medium", "--sections", "steps,repeats")
    assert code == 1 and tree["finished"] and len(tree["traces"]) == 1
    assert "* steps, clark-medium: RuntimeError: CUDA out of memory. Tried to\n" in page
    assert "* repeats, clark-medium: other bits (twice: 1 tensors, net.a first)" in page and "## At best" in page


def test_kernels_of_a_gpu_and_operations_of_a_cpu_by_kind():
    kernels = {
        "sm90_xmma_wgrad_implicit_gemm_indexed_bf16bf16_nhwckrsc_nhwc": "convolution and matrix",
        "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel": "convolution and matrix",
        "void cudnn::bn_bw_1C11_kernel_new": "norm",
        "void at::native::vectorized_elementwise_kernel<4, CUDAFunctor_add>": "activation and element-wise",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp>": "reduction",
        "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda>": "copy and cast",
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel": "optimiser",
        "a_kernel_of_tomorrow": "other",
    }
    operations = {
        "aten::mkldnn_convolution": "convolution and matrix",
        "aten::native_batch_norm_backward": "norm",
        "PReLUBackward": "activation and element-wise",
        "aten::sum": "reduction",
        "aten::_to_copy": "copy and cast",
        "Optimizer.step#SGD.step": "optimiser",
        "aten::of_tomorrow": "other",
    }
    assert {name: kind_of_kernel(name) for name in kernels} == kernels
    assert {name: kind_of_operation(name) for name in operations} == operations


@pytest.mark.system
def test_the_whole_command_needs_nothing_but_the_core(tmp_path):
    """All sections, two bases, the bundled games; and none of the libraries that a bare machine lacks."""
    code = (
        "import sys\n"
        "lacking = ['ray', 'mlflow', 'pandas', 'yaml', 'rich', 'click', 'scipy', 'optuna', 'matplotlib', 'ablations',"
        " 'reports', 'orchestration']\n"
        "sys.modules.update(dict.fromkeys(lacking))\n"  # importing one of them is an error
        "from benchmarks.gpu.__main__ import main\n"
        "code = main(['--size', 'small', '--device', 'cpu', '--seconds', '0.02', '--bases', 'gonn-b5,lczero-s',"
        f" '--out', {str(tmp_path)!r}])\n"
        "assert code == 0, code\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "benchmark.json").read_text())["results"]
    assert set(results) == {"peaks", *sections.SECTIONS} and set(results["beside"]) == {"1 at a time", "2 at a time"}
