"""Which GPUs there are, on machines that are not there: torch's answer and nvidia-smi's are scripts."""

import json
import stat
import sys

import pytest

from gonn_core.config import TrialConfig
from gonn_core.errors import SettingError, UserError
from orchestration.experiment import speeds
from orchestration.runners import gpus
from orchestration.runners.gpus import Gpus, device_title, seeing, torch_builds, visible_gpus

H100 = "NVIDIA H100"
SMALL, HALF = "NVIDIA A100 MIG 1g.10gb", "NVIDIA A100 MIG 3g.20gb"
WITHOUT = {"CUDA_VISIBLE_DEVICES": None, "HIP_VISIBLE_DEVICES": None, "ROCR_VISIBLE_DEVICES": None}


@pytest.fixture
def machine(monkeypatch):
    """`machine(titles, hip, **variables)`: a machine on which torch sees GPUs of these titles."""
    gpus._visible.cache_clear()

    def make(titles=(), hip=False, **variables):
        for name, value in {**WITHOUT, **variables}.items():
            monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
        monkeypatch.setattr(
            gpus, "torch_builds", lambda: {"cuda": None if hip else "13.0", "hip": "7.0" if hip else None}
        )
        monkeypatch.setattr(gpus, "_titles", lambda: tuple(titles))
        return visible_gpus()

    yield make
    gpus._visible.cache_clear()


def script(path, text):
    path.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{text}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.mark.parametrize(
    ("titles", "variables", "names"),
    [
        ([H100, H100], {}, ["0", "1"]),
        ([], {}, []),
        ([H100], {"CUDA_VISIBLE_DEVICES": "3"}, ["3"]),
        ([H100], {"CUDA_VISIBLE_DEVICES": "GPU-5d5b"}, ["GPU-5d5b"]),
        ([H100], {"CUDA_VISIBLE_DEVICES": "2, 99,1"}, ["2"]),
        ([], {"CUDA_VISIBLE_DEVICES": ""}, []),
        ([HALF], {}, ["0"]),
        ([SMALL], {"CUDA_VISIBLE_DEVICES": "MIG-a,MIG-b"}, ["MIG-a", "MIG-b"]),
    ],
    ids=str,
)
def test_torch_decides_which_there_are(machine, titles, variables, names):
    assert list(machine(titles, **variables).names) == names


def test_rocm(machine):
    assert machine(["AMD Instinct"] * 2, hip=True).names == ("0", "1")
    assert seeing(["1"]) == {"CUDA_VISIBLE_DEVICES": "1", "HIP_VISIBLE_DEVICES": "1"}
    assert machine(["AMD Instinct"], hip=True, HIP_VISIBLE_DEVICES="5", CUDA_VISIBLE_DEVICES="2").names == ("5",)
    assert machine(["AMD Instinct"], hip=True, CUDA_VISIBLE_DEVICES="2").names == ("2",)


def test_what_device_means(machine):
    machine([H100, "NVIDIA L4"])
    assert device_title("auto") == device_title("cuda") == H100 and device_title("cpu") == "cpu"
    gpus._visible.cache_clear()
    machine([])
    assert device_title("auto") == "cpu"
    with pytest.raises(SettingError, match="DEVICE=cuda: PyTorch finds no CUDA device here; valid: auto, cpu"):
        device_title("cuda")


def test_a_cpu_build_of_torch_is_asked_nothing(monkeypatch):
    gpus._visible.cache_clear()
    monkeypatch.setattr(gpus, "torch_builds", lambda: {"cuda": None, "hip": None})
    monkeypatch.setattr(gpus, "_titles", lambda: pytest.fail("asked"))
    assert visible_gpus() == Gpus(())


def test_the_build_is_read_from_torch_itself():
    import torch

    assert torch_builds() == {"cuda": torch.version.cuda, "hip": torch.version.hip}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"echo a word of a library; echo '{json.dumps([H100])}'", (H100,)),
        ("echo '[]'", ()),
        ("echo Traceback >&2; echo 'ImportError: libcudart.so.13' >&2; exit 1", "ImportError: libcudart.so.13"),
        ("exit 3", "it ended with code 3"),
        ("exec sleep 60", "no answer in 0 seconds"),
    ],
)
def test_torch_is_asked_in_a_process_of_its_own(tmp_path, monkeypatch, text, found):
    script(tmp_path / "python", text)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(gpus, "PATIENCE_SECONDS", 0.2 if "sleep" in text else 300.0)
    if isinstance(found, tuple):
        assert gpus._titles() == found
        return
    with pytest.raises(UserError) as error:
        gpus._titles()
    assert found in str(error.value) and "DEVICE=cpu" in str(error.value)


def test_speeds_of_a_gpu_are_measured_in_another_process(monkeypatch):
    """Its memory is for the trials: what measured is gone when they start."""
    asked = []

    class Pool:
        def __init__(self, workers, context):
            assert (workers, context.get_start_method()) == (1, "spawn")

        def __enter__(self):
            return self

        def __exit__(self, *_):
            asked.append("ended")

        def submit(self, function, *arguments):
            asked.append((function, arguments))
            return type("Future", (), {"result": lambda self: (5.0, 4.0)})()

    monkeypatch.setattr(speeds, "ProcessPoolExecutor", Pool)
    found = speeds.measure({"net": TrialConfig()}, H100, lambda line: None)
    assert found["net"]["samples_per_s"] == 5.0 and found["net"]["device"] == H100
    assert asked[-1] == "ended" and {(function, given[1]) for function, given in asked[:-1]} == {
        (speeds.one_speed, "cuda")
    }
