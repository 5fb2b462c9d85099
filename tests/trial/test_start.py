"""Trials that start from weights: exported, taken up, resumed, and refused where they do not fit."""

from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from gonn_core.config import trial_id, with_values
from gonn_core.errors import InputError, SettingError
from gonn_core.nets import trial_net
from gonn_core.training.batches import PlaneMaker, training_batches
from gonn_core.training.loop import Trainer
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.run import run_trial
from gonn_core.trial.weights import check_weights, export_weights, keep_start, load_net, read_weights, start_path
from tests.trial.helpers import assert_same_trial, starter_data, tiny_config, tiny_job

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The weights of a trained trial, in a file."""
    folder = tmp_path_factory.mktemp("trained")
    job = tiny_job(folder / "runs", tiny_config(training__samples=240))
    result = run_trial(job)
    file = folder / "net.safetensors"
    assert export_weights(folder / "runs" / job.id, file) == result["weights"]
    return file, result["weights"]


def started_job(runs: Path, file: Path, **settings):
    digest = keep_start(read_weights(file), runs)
    return tiny_job(runs, tiny_config(training__samples=240, training__start_from=digest), **settings)


def test_an_export_holds_the_net_and_says_whose_it_is(trained):
    file, digest = trained
    net, config = load_net(next((file.parent / "runs").iterdir()))
    state = read_weights(file)
    assert state.keys() == net.state_dict().keys()
    assert all(torch.equal(state[name], tensor) for name, tensor in net.state_dict().items())
    with safe_open(file, "pt") as opened:
        assert opened.metadata()["weights"] == digest and opened.metadata()["trial"] == trial_id(config)
    with pytest.raises(SettingError, match="samples=7"):
        export_weights(next((file.parent / "runs").iterdir()), file.with_name("other"), 7)


def test_it_is_the_trial_that_starts_there_and_no_other(trained, tmp_path):
    """Its first steps are those of a trainer whose net was given the weights; its identity names them."""
    file, digest = trained
    job = started_job(tmp_path / "runs", file, progress_points=30)
    assert job.config.training.start_from == digest
    assert job.id != trial_id(with_values(job.config, {"training.start_from": None}))
    run_trial(job)
    told = [line["train_nats"] for line in TrialDirectory(tmp_path / "runs" / job.id).metrics()]
    data = starter_data()
    view = data.views["train"]
    trainer = Trainer(job.config, len(view.rows), CPU, "channels_last")
    trainer.net.load_state_dict(read_weights(file))
    maker = PlaneMaker(data.store, job.config.features, CPU, torch.channels_last)
    losses = [trainer.step(batch).item() for batch in training_batches(job.config, view, maker, 0, 30, 1)]
    assert told == losses


def test_resumed_is_the_same(trained, tmp_path):
    whole, parted = (started_job(tmp_path / name / "runs", trained[0], progress_points=2) for name in ("a", "b"))
    run_trial(whole)
    assert run_trial(parted, lambda event: not (event.kind == "point" and event.samples >= 120))["state"] == "paused"
    start_path(Path(parted.run.runs), parted.config.training.start_from).unlink()  # not needed once it has begun
    assert run_trial(parted)["state"] == "done"
    assert_same_trial(Path(whole.run.runs) / whole.id, Path(parted.run.runs) / parted.id)


def test_what_does_not_fit_is_named(trained):
    state = read_weights(trained[0])
    name = next(iter(state))
    with pytest.raises(InputError, match=f"not the weights of this net: {name} is missing, expected: torch.float32"):
        check_weights({key: value for key, value in state.items() if key != name}, tiny_config(), trained[0])
    with pytest.raises(InputError, match=r"extra is torch.float32 \(1,\), expected: missing"):
        check_weights({**state, "extra": torch.zeros(1)}, tiny_config(), trained[0])
    wider = trial_net(tiny_config(net__trunk__width=16)).state_dict()
    with pytest.raises(InputError, match=r"float32 \(8, .*, expected: torch.float32 \(16, .*; \d+ more$"):
        check_weights(state, tiny_config(net__trunk__width=16), trained[0])
    check_weights(wider, tiny_config(net__trunk__width=16), trained[0])


def test_weights_that_are_gone_or_damaged_are_refused(trained, tmp_path):
    job = started_job(tmp_path / "runs", trained[0])
    path = start_path(Path(job.run.runs), job.config.training.start_from)
    data = path.read_bytes()
    path.write_bytes(data[:-4] + b"\x00\x00\x80\x3f")
    with pytest.raises(InputError, match="damaged"):
        run_trial(job)
    path.unlink()
    with pytest.raises(InputError, match="the weights to start from are not here"):
        run_trial(job)
    path.write_bytes(data)
    assert run_trial(job)["state"] == "done"


def test_a_file_that_holds_none_is_refused(tmp_path):
    (tmp_path / "text").write_text("no tensors")
    with pytest.raises(InputError, match="not a readable safetensors file"):
        read_weights(tmp_path / "text")
    with pytest.raises(InputError, match="no such file"):
        read_weights(tmp_path / "none")
