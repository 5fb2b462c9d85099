"""`gonn stop`: commands are asked, write checkpoints and end; those that were killed are forgotten; nothing else is
signalled."""

import json
import os
import subprocess
import sys
import threading
import time
from operator import length_hint

import pytest

from gonn_core.errors import SettingError
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.lease import this_process
from gonn_core.trial.run import run_trial
from orchestration.cli import command as cli
from orchestration.experiment.stopping import Stopped, at_work, everything_at_work, run_stoppably, stop
from orchestration.runners.local import LocalRunner
from reports.workspace import Workspace
from tests.orchestration.fakes import fake_job
from tests.orchestration.runners.test_local import RUN_FAKE, attempts
from tests.trial.helpers import assert_same_trial, tiny_config, tiny_job


@pytest.fixture
def workspace(tmp_path, monkeypatch) -> Workspace:
    monkeypatch.setenv("GONN_HOME", str(tmp_path))
    return Workspace(tmp_path)


def ask(workspace: Workspace) -> None:
    (command,) = everything_at_work(workspace)
    (command.folder / "stop").touch()


def test_the_number_of_jobs_stays_known(workspace):
    class Counts:
        def run(self, jobs, slots, on_event):
            return length_hint(jobs)

    assert run_stoppably(Counts(), workspace, "s", [1, 2, 3], None, print) == 3


def test_a_real_runner_pauses_its_trials(workspace, capsys):
    jobs = [fake_job(workspace.runs, 0, "goes on until told"), fake_job(workspace.runs, 1)]
    codes = []
    thread = threading.Thread(target=lambda: codes.append(stop("a-st")))

    def hear(event):
        if event.kind == "tick" and not thread.ident:
            thread.start()

    with pytest.raises(Stopped):
        run_stoppably(LocalRunner(RUN_FAKE), workspace, "a-study", jobs, 1, hear)
    thread.join()
    assert codes == [0] and len(attempts(workspace.runs, jobs[0])) == 1 and not (workspace.runs / jobs[1].id).exists()
    said = capsys.readouterr().out
    assert "asked to stop: a-study (process" in said and "stopped: a-study" in said


def test_only_what_was_named_is_asked(workspace):
    with at_work(workspace, "one-study") as one, at_work(workspace, "other") as other:
        assert stop("one", patience=0) == 1
        time.sleep(0.6)
        assert one() and not other()
        with pytest.raises(SettingError, match="no command works on it; valid: one-study, other"):
            stop("third")


def test_nothing_to_stop(workspace, capsys):
    assert cli.run(["stop"]) == 0 and "nothing is running" in capsys.readouterr().out
    assert cli.run(["stop", "x"]) == 2 and "STUDY=x" in capsys.readouterr().err


def test_commands_that_were_killed_are_forgotten(workspace):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here, commands = this_process(), workspace.root / "commands"

    def write(name, process, age=0.0):
        (commands / name).mkdir(parents=True)
        (commands / name / "what").write_text(name)
        (commands / name / "lease.json").write_text(json.dumps({"token": name, "process": process._asdict()}))
        for path in (commands / name / "lease.json", commands / name):
            os.utime(path, (time.time() - age,) * 2)

    write("dead", here._replace(pid=gone.pid), age=100.0)
    write("dead a moment ago", here._replace(pid=gone.pid))
    write("later", here._replace(started="1"), age=100.0)
    write("elsewhere", here._replace(machine="another"))
    write("silent", here._replace(machine="another"), age=100.0)
    assert [command.what for command in everything_at_work(workspace)] == ["elsewhere"]
    assert sorted(path.name for path in commands.iterdir()) == ["dead a moment ago", "elsewhere"]


@pytest.mark.system
def test_trials_that_wait_for_another_machine_obey(workspace):
    """Its holder is dead, but nobody can know."""
    job = tiny_job(workspace.runs, tiny_config())
    directory = TrialDirectory(workspace.runs / job.id)
    directory.create()
    holder = this_process()._replace(machine="another")
    (directory.path / "lease.json").write_text(json.dumps({"token": "1", "process": holder._asdict()}))
    told = []

    def hear(event):
        told.append(event.kind)
        if told.count("waiting") == 2:
            ask(workspace)

    with pytest.raises(Stopped):
        run_stoppably(LocalRunner(), workspace, "a-study", [job], 1, hear)
    assert directory.state() == "running" and told[-1] == "paused"


@pytest.mark.system
def test_what_was_stopped_resumes_to_the_numbers_of_an_undisturbed_run(workspace, tmp_path):
    config = tiny_config(training__samples=1600)
    job = tiny_job(workspace.runs, config, progress_points=16)  # writes no checkpoint unless asked to pause
    whole = tiny_job(tmp_path / "whole", config, progress_points=16)
    run_trial(whole)

    def hear(event):
        if event.kind == "point" and everything_at_work(workspace):
            ask(workspace)

    with pytest.raises(Stopped):
        run_stoppably(LocalRunner(), workspace, "a-study", [job], 1, hear)
    directory = TrialDirectory(workspace.runs / job.id)
    assert directory.state() == "paused" and directory.checkpoint.exists()
    assert run_trial(job)["state"] == "done" and directory.config()["sessions"][1]["from_samples"] > 0
    assert_same_trial(tmp_path / "whole" / job.id, workspace.runs / job.id)
