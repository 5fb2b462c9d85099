"""`gonn doctor`: what it finds, on pages of 80 columns and for programs."""

import json
from dataclasses import replace

import pytest
import torch

from gonn_core.errors import UserError
from orchestration.cli import command as cli
from orchestration.doctor import gpus, page
from orchestration.doctor.examination import Examined, examine
from orchestration.doctor.gpus import Gpu, Gpus, read_gpus
from orchestration.runners.gpus import Gpus as Visible
from orchestration.speeds.precision import Compared
from orchestration.speeds.processor import Processor
from reports.workspace import Workspace

NONE = Gpus((), "CPUs alone", None, None, "not on PATH", (), "not possible: no NVIDIA GPU")
ONE = Gpus(
    (Gpu("NVIDIA A100-SXM4-80GB", 79.3, "8.0", 108, True), Gpu("Tesla V100-PCIE-16GB", 15.8, "7.0", 80, False)),
    "CUDA 12.8", "0,1", "570.10", "/bin/nvidia-smi", ("MIG-c6d4f1ef-1",), "possible, not started (/bin/x)",
)  # fmt: skip


def made(there: Gpus = NONE, factor: float | None = 1.5) -> Examined:
    compared = None
    if factor is not None:
        compared = Compared("cpu", "2.13", 1, "2026-03-01", 0.1, (200.0, 210.0), (200 * factor, 212 * factor))
    processor = Processor("Some CPU with quite a long name @ 2.00GHz", ("avx512f", "amx_bf16"), True)
    return Examined(processor, 8, 4, "2.13.0", "AVX512", 4, "/usr/bin/g++", there, compared)


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a doctor that found this prints, on 80 columns."""

    def run(found: Examined, *arguments: str) -> str:
        monkeypatch.setattr(page, "examine", lambda workspace, device, measure, say: found)
        assert cli.run(["doctor", *arguments]) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    "found", [made(), made(ONE), made(factor=0.5), made(factor=None)], ids=["none", "two", "slow", "not"]
)
def test_it_fits_80_columns(printed, found):
    assert max(len(line.rstrip()) for line in printed(found).splitlines()) <= 80


def test_one_sentence_says_what_to_type(printed):
    out = " ".join(printed(made()).split())
    assert "bf16 is faster on this CPU: training steps are 1.51 times as fast as in fp32" in out
    assert (
        "make ablation NAME=parametric_relu PRECISION=bf16" in out and "GPUs none: this torch is built for CPUs" in out
    )
    out = " ".join(printed(made(factor=0.5)).split())
    assert "fp32 is faster on this CPU" in out and "PRECISION" not in out
    assert "Neither is faster" in " ".join(printed(made(factor=1.0)).split())
    assert "was not measured" in printed(made(factor=None))


def test_gpus_are_told_with_their_units(printed):
    out = " ".join(printed(made(ONE)).split())
    for text in (
        "79 GiB, compute capability 8.0",
        "no units for bf16",
        "570.10",
        "MIG-c6d4f1ef-1",
        "possible, not started",
    ):
        assert text in out


def test_programs_read_the_same(printed):
    found = made(ONE)
    tree = json.loads(printed(found, "--json"))
    assert tree["sentence"] == found.sentence and tree["compared"]["faster"] == "bf16" and tree["format"] == 1
    assert tree["gpus"]["found"][0]["compute"] == "8.0" and tree["processor"]["flags"] == ["avx512f", "amx_bf16"]


def test_this_machine_without_measuring(tmp_path):
    found = examine(Workspace(tmp_path), "cpu", False, print)
    assert found.compared is None and found.torch == torch.__version__ and 1 <= found.usable <= found.cores
    assert not list(tmp_path.iterdir())
    json.dumps(found.tree)


def test_a_device_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr("orchestration.runners.gpus._titles", lambda: ())
    with pytest.raises(UserError, match="DEVICE=cuda"):
        examine(Workspace(tmp_path), "cuda", False, print)


def test_torch_counts_gpus_and_tools_tell_the_rest(monkeypatch, tmp_path):
    """As under MIG, or in a container without nvidia-smi."""
    told = type("Told", (), {"name": "H", "total_memory": 2**34, "major": 9, "minor": 0, "multi_processor_count": 132})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: told)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(gpus, "visible_gpus", lambda: Visible(("MIG-1",), ("A100 MIG 1g.10gb",)))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path / "pipes"))
    found = read_gpus()
    assert found.found == (Gpu("H", 16.0, "9.0", 132, True),) and found.built_for == "CUDA 12.8"
    assert found.nvidia_smi == "not on PATH" and found.mps.startswith("not possible: nvidia-cuda-mps-control")
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 1.2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "nvidia-cuda-mps-control").write_text("")
    (tmp_path / "nvidia-cuda-mps-control").chmod(0o755)
    found = read_gpus()
    assert (found.mig, found.driver) == (("MIG-1",), "1.2") and found.mps.startswith("possible, not started")
    (tmp_path / "pipes").mkdir()
    (tmp_path / "pipes/control").write_text("")
    assert read_gpus().mps.startswith("runs")


def test_none_says_why():
    assert replace(NONE, built_for="CUDA 12.8", visible="").none_line == (
        "none that torch finds, which is built for CUDA 12.8 (CUDA_VISIBLE_DEVICES=)"
    )
