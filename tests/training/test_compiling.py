"""What a compiled body needs, is refused for, and leaves as it is; nothing is compiled here."""

from pathlib import Path

import pytest
import torch
from filelock import FileLock, Timeout

from gonn_core.config import TrialConfig, with_values
from gonn_core.errors import SettingError
from gonn_core.training import compiling as body
from gonn_core.training.compiling import (
    HOST_WORK,
    check_compile,
    check_graphs,
    compiled_body,
    compiled_folder,
    compiling_alone,
)
from gonn_core.trial.job import RunSettings, resumed_settings


def test_refused_in_one_line_before_any_work(monkeypatch, tmp_path):
    check_compile("none", "cpu")
    with pytest.raises(SettingError, match="COMPILE=graphs: there are no CUDA graphs on cpu; valid: none, body"):
        check_compile("graphs", "cpu", "COMPILE")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(SettingError, match=r"compile=body: needs a C\+\+ compiler \(no-such-compiler, .*valid: none"):
        compiled_body(lambda planes: planes, "body", "cpu")
    monkeypatch.setenv("CXX", "sh")
    monkeypatch.setattr(body.sysconfig, "get_path", lambda name: str(tmp_path))
    with pytest.raises(SettingError, match=r"needs Python's headers"):
        check_compile("body", "cpu")
    (tmp_path / "Python.h").touch()
    check_compile("body", "cpu")
    monkeypatch.setattr(body, "find_spec", lambda name: None)
    with pytest.raises(SettingError, match="compile=graphs: needs Triton"):
        check_compile("graphs", "cuda")


@pytest.mark.parametrize("setting", HOST_WORK)
def test_graphs_are_refused_where_the_host_is_asked(setting):
    values = {"net.trunk.chain_pooling": 1, "net.conv.dropout": 0.1, "training.batch_splits": 2}
    family = {"net.family": "conv"} if setting == "net.conv.dropout" else {}
    check_graphs(TrialConfig())
    with pytest.raises(SettingError, match=f"compile=graphs: {setting} needs the host"):
        check_graphs(with_values(TrialConfig(), {**family, setting: values[setting]}))


def test_without_compiling_the_body_is_itself():
    net = torch.nn.ReLU()
    assert compiled_body(net.forward, "none", "cpu") == net.forward


def test_what_was_compiled_is_kept_by_compiler_and_versions(monkeypatch, tmp_path):
    monkeypatch.setenv("GONN_CACHE", str(tmp_path))
    monkeypatch.setattr(body, "describe_compiler", lambda device: "one")
    first = compiled_folder("cpu")
    assert first.parent == tmp_path and compiled_folder("cpu") == first
    monkeypatch.setattr(body, "describe_compiler", lambda device: "another")
    assert compiled_folder("cpu") != first
    monkeypatch.setattr(torch, "__version__", "0.0")
    assert compiled_folder("cpu").parent == tmp_path and len({first, compiled_folder("cpu")}) == 2


def test_one_process_at_a_time_compiles_a_net(monkeypatch, tmp_path):
    """Whatever else the trials differ in; another net need not wait."""
    monkeypatch.setenv("GONN_CACHE", str(tmp_path))
    config = TrialConfig()
    seeded = with_values(config, {"training.init_seed": 7, "training.optimiser.learning_rate": 0.5})
    with compiling_alone(config, "cpu"):
        held = {path for path in compiled_folder("cpu").iterdir() if _is_held(path)}
        with compiling_alone(with_values(config, {"net.trunk.blocks": 1}), "cpu"):
            assert len([path for path in compiled_folder("cpu").iterdir() if _is_held(path)]) == 2
    assert len(held) == 1 and not _is_held(*held)
    with compiling_alone(seeded, "cpu"):
        assert _is_held(*held)


def _is_held(path: Path) -> bool:
    try:
        with FileLock(path, blocking=False):
            return False
    except Timeout:
        return True


def test_a_resumed_trial_keeps_its_own(tmp_path):
    """Also one from before there was the setting: it was not compiled."""
    asked = RunSettings(store="store", compile="body", threads=3)
    recorded = RunSettings(store="store").model_dump(mode="json")
    assert resumed_settings(asked, {"run": recorded}).compile == "none"
    assert resumed_settings(asked, {"run": {**recorded, "compile": "graphs"}}).compile == "graphs"
    del recorded["compile"]
    old = resumed_settings(asked, {"run": recorded})
    assert (old.compile, old.threads) == ("none", 1)
    assert Path(old.store) == Path("store") and resumed_settings(asked, None).compile == "body"
