"""Which precision is faster here: compared in turns, kept, said before work that may be slow."""

import json

import pytest
import torch

from ablations.designs import budget_config
from ablations.registry import load_registry
from gonn_core import numerics
from gonn_core.config import with_values
from gonn_core.errors import SettingError
from orchestration.speeds import bfloat16, precision
from orchestration.speeds.kept import latest_speeds
from orchestration.speeds.precision import Compared, compare, gain, kept_comparison
from orchestration.speeds.processor import Processor, read_processor
from orchestration.speeds.warning import warning
from reports.workspace import Workspace

REGISTRY = load_registry()
FP32 = budget_config(REGISTRY.base("gonn-b5"), REGISTRY.budget("smoke"), 5120)
BF16 = with_values(FP32, {"training.precision": "bf16"})
ROUNDS = [100.0, 110.0, 90.0]


def made(*factors: float) -> Compared:
    return Compared(
        "cpu", torch.__version__, numerics.BF16, "2026-03-01T10:00:00+00:00", 0.1, (100.0,) * len(factors), factors
    )


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine of so many rounds, on which bf16 is `factor` times as fast, and of these flags."""
    found = type(
        "Machine", (), {"factor": 1.5, "flags": ("amx_bf16",), "measured": 0, "workspace": Workspace(tmp_path)}
    )

    def in_turns(config, device):
        assert config.training.precision == "fp32" and device.type == "cpu"
        found.measured += 1
        return {"fp32": ROUNDS, "bf16": [found.factor * rate for rate in ROUNDS]}

    monkeypatch.setattr(precision, "in_turns", in_turns)
    monkeypatch.setattr(bfloat16, "read_processor", lambda: Processor("some", found.flags, True))
    return found


def test_one_is_called_faster_where_it_is_in_every_round():
    ten = tuple(100 * factor for factor in (1.5, 1.6, 1.7))
    assert (made(*ten).factor, made(*ten).faster, made(*ten).range) == (pytest.approx(1.6), "bf16", "1.50 to 1.70")
    assert made(60, 65, 70).faster == "fp32"
    assert made(99, 150, 160).faster is None and made(101, 102, 103).faster is None and made(98, 99, 99).faster is None


def test_a_comparison_is_kept_beside_speeds_and_not_taken_for_one(machine):
    lines = []
    found = compare(machine.workspace, "cpu", lines.append)
    assert found.faster == "bf16" and len(lines) == 1 and "ten seconds" in lines[0]
    assert kept_comparison(machine.workspace, "cpu") == found
    assert latest_speeds(machine.workspace, "cpu") == {}
    assert gain(machine.workspace, "cpu", lines.append) == pytest.approx(1.5) and machine.measured == 1
    assert kept_comparison(machine.workspace, "some GPU") is None


def test_another_version_of_torch_is_measured_anew(machine, monkeypatch):
    compare(machine.workspace, "cpu", print)
    monkeypatch.setattr(torch, "__version__", "9.9")
    assert kept_comparison(machine.workspace, "cpu") is None


@pytest.mark.parametrize("change", [{"bf16": [1.0]}, {"fp32": []}, {"bf16": ["x", 1, 2]}, {"fp32": [0, 1, 1]}, None])
def test_a_damaged_comparison_is_told_and_none(machine, change, caplog):
    compare(machine.workspace, "cpu", print)
    (path,) = (machine.workspace.root / "speeds").glob("*-precision.json")
    tree = json.loads(path.read_text())
    del tree["seal"]
    path.write_text("{" if change is None else json.dumps(tree | change))
    assert kept_comparison(machine.workspace, "cpu") is None
    assert "`gonn doctor` measures again" in caplog.text


def test_a_warning_names_what_is_missing_and_what_to_do(machine):
    assert warning([FP32, FP32], "cpu", machine.workspace) is None
    assert warning([FP32, BF16], "cpu", machine.workspace) is None, "matrix units"
    machine.flags = ("avx512_bf16",)
    line = warning([FP32, BF16], "cpu", machine.workspace)
    assert line and "no amx_bf16" in line and "`gonn doctor`" in line and "\n" not in line


def test_what_was_measured_counts_more_than_flags(machine):
    machine.flags, machine.factor = (), 1.4
    compare(machine.workspace, "cpu", print)
    assert warning([BF16], "cpu", machine.workspace) is None
    machine.flags, machine.factor = ("amx_bf16",), 0.6
    compare(machine.workspace, "cpu", print)
    line = warning([BF16], "cpu", machine.workspace)
    assert line and "0.60 times as fast as fp32 here" in line and line.endswith("PRECISION=fp32 is faster")


def test_it_is_refused_where_torch_cannot_do_it(machine, monkeypatch):
    def refuses(*arguments, **settings):
        raise RuntimeError("does not support bfloat16\nand more")

    monkeypatch.setattr(torch, "autocast", refuses)
    with pytest.raises(SettingError, match="PRECISION=bf16: .*does not support bfloat16.*valid: fp32"):
        warning([BF16], "cpu", machine.workspace)
    assert warning([FP32], "cpu", machine.workspace) is None


def test_a_window_counts_whole_steps(monkeypatch):
    """The nets are trained: a round of each."""
    monkeypatch.setattr(precision, "ROUNDS", 1)
    monkeypatch.setattr(precision, "WINDOW_SECONDS", 0.0)
    found = precision.in_turns(FP32, torch.device("cpu"))
    assert set(found) == {"fp32", "bf16"} and all(len(rates) == 1 and rates[0] > 0 for rates in found.values())


@pytest.mark.parametrize(
    "text, flags, told",
    [
        (
            "model name\t: Some X\nflags\t\t: fpu avx2 avx512f amx_bf16 amx_tile\n",
            "avx2 avx512f amx_tile amx_bf16",
            True,
        ),
        ("processor\t: 0\nFeatures\t: fp asimd bf16 sve\n", "asimd bf16 sve", True),
        ("hart\t: 0\n", "", False),
    ],
    ids=("x86", "Arm", "neither"),
)
def test_flags_are_read_as_the_system_tells_them(tmp_path, text, flags, told):
    (tmp_path / "cpuinfo").write_text(text)
    found = read_processor(tmp_path / "cpuinfo")
    assert (found.flags, found.told) == (tuple(flags.split()), told) and found.model


def test_a_mac_is_asked_by_sysctl(tmp_path, monkeypatch):
    tool = tmp_path / "sysctl"
    tool.write_text('#!/bin/sh\ncase "$2" in machdep*) echo "Apple M2";; *) echo 1;; esac\n')
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert read_processor(tmp_path / "none") == Processor("Apple M2", ("bf16",), True)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    assert read_processor(tmp_path / "none").told is False
