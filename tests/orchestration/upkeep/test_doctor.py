"""`gonn doctor`: what it prints, on pages of 80 columns and for programs."""

import pytest
import torch

from orchestration.cli import command as cli
from orchestration.experiment import speeds
from orchestration.upkeep import doctor
from orchestration.upkeep.doctor import compare, describe_machine, faster_precision
from reports.workspace import Workspace


@pytest.mark.parametrize(("factor", "faster"), [(1.5, "bf16"), (0.5, "fp32"), (1.0, None)])
def test_the_command_is_in_the_faster_precision_and_the_page_fits_80_columns(monkeypatch, capsys, factor, faster):
    monkeypatch.setattr(doctor, "compare", lambda *_: [factor, factor * 1.01])
    assert cli.run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    assert ("PRECISION=bf16" in out) == (faster == "bf16") and faster_precision([factor, factor * 1.01]) == faster
    assert all(text in " ".join(out.split()) for text in describe_machine("auto").values())


def test_precisions_are_compared_once_a_day(tmp_path, monkeypatch):
    rates, measured = {"fp32": 100.0, "bf16": 250.0}, []

    def one_speed(config, device, seconds, compile):
        measured.append(config)
        return 2 * rates[config.training.precision], rates[config.training.precision]

    monkeypatch.setattr(speeds, "one_speed", one_speed)
    for _ in range(2):
        assert compare(Workspace(tmp_path), "cpu", print) == [2.5] * speeds.TURNS
    assert len(measured) == 2 * speeds.TURNS


def test_torch_counts_gpus_and_nvidia_smi_knows_the_driver(monkeypatch, tmp_path):
    """Also without nvidia-smi, as in a container."""
    properties = type(
        "Properties", (), {"name": "H", "total_memory": 2**34, "major": 9, "minor": 0, "multi_processor_count": 132}
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setenv("PATH", str(tmp_path))
    rows = describe_machine("cpu")
    assert rows["GPU 0"].startswith("H, 16 GiB, compute capability 9.0") and "CUDA 12.8" in rows["PyTorch"]
    assert rows["driver"] == "unknown"
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 1.2\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert describe_machine("cpu")["driver"] == "1.2"
