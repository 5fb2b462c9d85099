"""Studies whose trials fail, without training: what is shown, and the code."""

import pytest

from orchestration.cli import command as cli
from orchestration.experiment import pipeline, settings
from orchestration.runners.local import LocalRunner
from orchestration.study import run as study_run
from tests.trial.helpers import starter_data

COMMAND = ["ablate", "parametric_relu", "--budget", "smoke", "--seeds", "1", "--no-track"]


@pytest.fixture
def gonn(tmp_path, monkeypatch, capfd):
    """Runs the command with trials that behave as a word says (tests.orchestration.fakes); returns (code, stdout,
    stderr)."""
    (tmp_path / "stores").symlink_to(starter_data().store.folder.parent)
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    monkeypatch.setattr(pipeline, "make_runner", lambda *_: LocalRunner("tests.orchestration.fakes:run_fake"))
    monkeypatch.setattr(study_run, "measure_speeds", lambda *_: {})
    monkeypatch.setattr(study_run, "warm_kernels", lambda *_: None)

    def run(behaviour: str):
        monkeypatch.setattr(settings, "commit_and_dirty", lambda: (behaviour, False))
        return cli.run(COMMAND), *capfd.readouterr()

    return run


def test_a_traceback_is_shown_and_the_study_goes_on(gonn):
    code, out, err = gonn("raises")
    assert code == 1
    for arm in ("control", "without-parametric_relu"):
        assert f"\n{arm} on seed 1 (trial " in err
    assert (
        err.count("failed: RuntimeError: the loss is not finite\n")
        == err.count("Traceback (most recent call last)")
        == 2
    )
    assert "in run_fake" in err and err.endswith("2 of 2 trials failed; the same command tries them again\n")
    assert "parametric_relu: no result yet" in out and "report: " in out


def test_an_error_of_the_user_is_one_line(gonn):
    code, out, err = gonn("user error")
    assert code == 1 and "Traceback" not in err
    assert err.count("failed: STORE=/nowhere: no such folder\n") == 2
