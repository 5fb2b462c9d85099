"""`gonn doctor`: what it finds, on pages of 80 columns and for programs."""

import json

import pytest
import torch

from gonn_core.errors import SettingError
from orchestration.cli import command as cli
from orchestration.runners.gpus import Gpus
from orchestration.speeds import doctor, measure
from orchestration.speeds.doctor import Compared, Gpu, Machine, examine
from reports.workspace import Workspace

TWO = (Gpu("NVIDIA A100-SXM4-80GB", 79.3, "8.0", 108), Gpu("Tesla V100-PCIE-16GB", 15.8, "7.0", 80))


def made(gpus=(), factor: float | None = 1.5) -> Machine:
    compared = None if factor is None else Compared("cpu", (200.0, 210.0), (200 * factor, 212 * factor))
    processor = "Some CPU with quite a long name @ 2.00GHz, AVX-512, AMX"
    driver, mig = ("570.10", ("MIG-c6d4f1ef-1",)) if gpus else (None, ())
    built_for = "CUDA 12.8" if gpus else doctor.CPUS
    return Machine(
        processor, 8, 4, "2.13.0", "AVX512", 4, "/usr/bin/g++", built_for, gpus, None, driver, mig, compared
    )  # fmt: skip


@pytest.fixture
def printed(monkeypatch, capsys):
    """What a doctor that found this prints, on 80 columns."""

    def run(machine: Machine, *arguments: str) -> str:
        monkeypatch.setattr(doctor, "examine", lambda workspace, device, measure, say: machine)
        assert cli.run(["doctor", *arguments]) == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize("machine", [made(), made(TWO), made(factor=None)], ids=["none", "two", "not measured"])
def test_it_fits_80_columns_and_shows_every_row(printed, machine):
    out = printed(machine)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= 80
    assert all(text in " ".join(out.split()) for name, text in machine.rows())


@pytest.mark.parametrize(("factor", "faster"), [(1.5, "bf16"), (0.5, "fp32"), (1.0, None), (None, None)])
def test_the_command_is_in_the_faster_precision(printed, factor, faster):
    machine = made(factor=factor)
    assert (machine.compared.faster if machine.compared else None) == faster
    assert machine.command.endswith(" PRECISION=bf16") == (faster == "bf16")
    tree = json.loads(printed(machine, "--json"))
    assert tree["sentence"] == machine.sentence and tree["command"] == machine.command
    assert (tree["compared"] or {"faster": None})["faster"] == faster


def test_this_machine(tmp_path, monkeypatch):
    speeds = {"fp32": 100.0, "bf16": 250.0}

    def one_speed(config, device, seconds, compile):
        return 2 * speeds[config.training.precision], speeds[config.training.precision]

    monkeypatch.setattr(measure, "one_speed", one_speed)
    assert examine(Workspace(tmp_path), "cpu", False, print).compared is None and not list(tmp_path.iterdir())
    machine = examine(Workspace(tmp_path), "cpu", True, print)
    assert machine.torch == torch.__version__ and 1 <= machine.usable <= machine.cores
    assert machine.compared.factors == (2.5,) * measure.TURNS
    assert examine(Workspace(tmp_path), "cpu", False, print) == machine, "cached for the day"
    json.dumps(machine.tree)


def test_a_device_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr("orchestration.runners.gpus._titles", lambda: ())
    with pytest.raises(SettingError) as error:
        examine(Workspace(tmp_path), "cuda", False, print)
    assert error.value.setting == "DEVICE"


def test_torch_counts_gpus_and_nvidia_smi_knows_the_driver(monkeypatch, tmp_path):
    """Also without nvidia-smi, as in a container."""
    properties = type(
        "Properties", (), {"name": "H", "total_memory": 2**34, "major": 9, "minor": 0, "multi_processor_count": 132}
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    monkeypatch.setattr(torch.version, "cuda", "12.8")
    monkeypatch.setattr(doctor, "visible_gpus", lambda: Gpus(("MIG-1",), ("A100 MIG 1g.10gb",)))
    monkeypatch.setenv("PATH", str(tmp_path))
    machine = examine(Workspace(tmp_path), "cpu", False, print)
    assert machine.gpus == (Gpu("H", 16.0, "9.0", 132),) and machine.built_for == "CUDA 12.8"
    assert machine.driver is None and machine.mig == ("MIG-1",)
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho 1.2\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    assert examine(Workspace(tmp_path), "cpu", False, print).driver == "1.2"
