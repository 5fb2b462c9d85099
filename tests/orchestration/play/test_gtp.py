"""`gonn gtp` as its user starts it: a process on pipes; wrong settings stop it before the first command."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from orchestration.cli import command as cli
from orchestration.play import gtp
from tests.paths import ROOT
from tests.play.made_trials import untrained_trial
from tests.waiting import PATIENCE


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A workspace with one trial."""
    home = tmp_path_factory.mktemp("home")
    untrained_trial(home / "runs")
    return home


def engine(home: Path, commands: str, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "orchestration.cli", "gtp", *options],
        input=commands,
        cwd=ROOT,
        env={**os.environ, "GONN_HOME": str(home), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.system
def test_a_trial_plays_on_pipes(home, monkeypatch):
    trial = next((home / "runs").iterdir())
    commands = "version\ngenmove b\nundo\ngenmove b\nnonsense\n3 analyze w\ngenmove w\nfinal_score\nquit\nname\n"
    done = engine(home, commands, "--model", trial.name[:6], "--seed", "7")
    assert done.returncode == 0, done.stderr
    version, first, undo, second, nonsense, analysis, reply, score, end = done.stdout.split("\n\n")[:-1]
    assert version == f"= {trial.name}@800,choice=biased,history=full,symmetries=1,passing=pass_alive"
    assert first == second and first.startswith("= ") and undo == end == "="
    assert (
        nonsense == "? unknown command"
        and analysis.startswith("=3\ninfo move ")
        and reply.startswith("= ")
        and score.startswith("= ")
    )
    assert "seed 7" in done.stderr
    snapshot, answers = trial / "snapshots" / "800.safetensors", io.BytesIO()
    monkeypatch.setattr(gtp, "_private_output", lambda: answers)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"genmove b\n")))  # whose end ends it
    assert cli.run(["gtp", "--model", str(snapshot), "--seed", "7"]) == 0
    assert answers.getvalue().decode() == f"{first}\n\n"


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--model", "nothing"], "runs begins so; `gonn models` lists them; valid: {id} (search ?)"),
        (["--model", ""], "MODEL: not given; `gonn models` lists the trained nets; valid: a trial's id"),
        (["--model", "/no/such/file"], "MODEL=/no/such/file: no trial and no file"),
        (["--model", "{trial}@5"], "samples=5: trial"),
        (["--model", "{trial}", "--choice", "best"], "choice=best"),
        (["--model", "{trial}", "--passing", "guard"], "passing=guard: asks another engine"),
        (["--model", "{trial}", "--guard", "no-such-engine"], "no-such-engine: no such program"),
        (["--model", "{trial}", "--guard", "false"], "guard=false: does not answer as a GTP engine"),
        (["--model", "{trial}/config.json"], "no snapshot of a trial"),
    ],
)
def test_wrong_settings_are_one_line(home, monkeypatch, capfd, options, line):
    monkeypatch.setenv("GONN_HOME", str(home))
    trial = next((home / "runs").iterdir())
    assert cli.run(["gtp", *(option.format(trial=trial) for option in options)]) == 2
    shown = capfd.readouterr()
    assert shown.out == "" and line.format(id=trial.name[:8]) in shown.err and shown.err.count("\n") == 1


def test_standard_output_is_the_protocols_alone(capfd):
    answers = gtp._private_output()
    os.write(1, b"stray\n")
    os.system("echo stray too")
    answers.write(b"= answer")
    answers.flush()
    assert capfd.readouterr() == ("= answer", "stray\nstray too\n")
