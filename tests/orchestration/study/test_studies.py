"""Real studies with the real command on the smoke budget: two at once, again, another card, kill -9, retries.

One workspace, in which two commands that share a control ran at the same time, serves most tests; the kills need a
second one.
"""

import hashlib
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest

from ablations.declarations import FOLDER
from ablations.study import TrialRef, read_study
from gonn_core.trial.directory import TrialDirectory
from orchestration.cli import command as cli
from orchestration.experiment import pipeline
from orchestration.runners.local import LocalRunner
from orchestration.tracking.records import study_info
from tests.orchestration.commands import SMOKE, gonn, start, workspace
from tests.trial.helpers import assert_same_trial
from tests.waiting import PATIENCE, wait_until

pytestmark = pytest.mark.system
CARDS = ("parametric_relu", "stem_kernel_5x5")


SHORT = ("--budget", "smoke", "--set", "training.samples=1280")


def ablate(card: str) -> list[str]:
    return ["ablate", card, *SMOKE, "--seeds", "1", "--runner", "local", "--no-track"]


def study_of(home: Path, card: str) -> dict:
    (path,) = (home / "studies").glob(f"{card}-*/study.json")
    return json.loads(path.read_text())


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder with its digest and time."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {
        str(path.relative_to(folder)): f"{hashlib.sha256(path.read_bytes()).hexdigest()} {path.stat().st_mtime_ns}"
        for path in files
    }


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """Two studies of one base, run by two commands at the same time."""
    folder = workspace(tmp_path_factory.mktemp("home"))
    commands = [start(folder, *ablate(card)) for card in CARDS]
    told = [command.communicate(timeout=PATIENCE) for command in commands]
    assert [command.returncode for command in commands] == [0, 0], told
    for card, (out, err) in zip(CARDS, told, strict=True):
        (folder / f"{card}.out").write_text(out)
        (folder / f"{card}.err").write_text(err)
    return folder


def test_two_commands_at_once_share_one_control(home):
    studies = [study_of(home, card) for card in CARDS]
    control, other = (study["trials"][0]["trial"] for study in studies)
    assert control == other
    assert len(list((home / "runs").iterdir())) == 3
    for folder in (home / "runs").iterdir():
        directory = TrialDirectory(folder)
        assert directory.state() == "done" and len(directory.config()["sessions"]) == 1  # trained once, in one go


def test_what_a_study_prints(home):
    out, err = ((home / f"parametric_relu.{kind}").read_text() for kind in ("out", "err"))
    settings, summary, *_ = err.splitlines()
    assert settings.startswith(
        "NAME=parametric_relu BASE=gonn-b5 DATA=starter BUDGET=smoke SAMPLES=1280 DESIGN=add-one SEEDS=1 "
    )
    assert re.match(
        r"study parametric_relu-gonn-b5-smoke-1.28k-starter-[0-9a-f]{6}: 2 trials, 0 of them done already", summary
    )
    assert "\x1b" not in out + err and "\r" not in out + err and "Traceback" not in err
    assert "2/2 trials done" in out and all(len(line) <= 160 for line in out.splitlines() if "trials done" not in line)
    assert all(
        words in out for words in ("Arms: test, ", "Effects on the loss: ", "not a result (1 seed, ", "\nreport: ")
    )
    report = home / "out" / study_of(home, "parametric_relu")["id"]
    assert {"report.md", "arms.csv", "effects.csv", "figure.png"} <= {path.name for path in report.iterdir()}


def test_the_same_command_again_trains_nothing_and_prints_the_same_table(home):
    before = contents(home / "runs"), contents(home / "studies")
    code, out, err = gonn(home, *ablate("parametric_relu"))
    assert code == 0 and "2 trials, 2 of them done already" in err
    assert "measuring" not in err and "compiling" not in err and "trials done," not in out
    assert out.startswith("Arms: ") and (home / "parametric_relu.out").read_text().endswith(out)
    assert (contents(home / "runs"), contents(home / "studies")) == before


def test_another_card_on_the_same_base_trains_only_its_treatment(home):
    before = contents(home / "runs")
    code, out, err = gonn(home, "plan", "global_pooling_head", *SMOKE, "--seeds", "1")
    assert code == 0 and "to train: 1 of 2 trials of 1,280 samples, 1,280 in all\n" in out
    assert re.findall(r"(?m)^ (gonn-b5|without \w+) .* [0-9a-f]{16} (done|new) ", out) == [
        ("gonn-b5", "done"),
        ("without global_pooling_head", "new"),
    ]
    assert contents(home / "runs") == before and len(list((home / "studies").iterdir())) == 2


def test_status_reports_and_evaluations_of_what_is_there(home):
    code, out, _ = gonn(home, "status")
    assert code == 0 and all(re.search(rf"{card}-gonn-b5-smoke-1.28k-starter-\w+ +2/2\b", out) for card in CARDS)
    table = (home / "parametric_relu.out").read_text()
    code, out, err = gonn(home, "report", "parametric_relu")
    assert (code, err) == (0, "") and table.endswith(out)
    code, out, err = gonn(home, "evaluate", "parametric_relu", "--split", "validation", "--positions", "300")
    assert code == 0 and err == "evaluating gonn-b5 s1\nevaluating without parametric_relu s1\n"
    code, out, err = gonn(home, "evaluate", "parametric_relu")
    own, shown = (re.findall(r"(?m)^ ?(gonn-b5|without \w+) .* (\d+\.\d{4}) ", text) for text in (out, table))
    assert code == 0 and len(own) == 2 and own == shown
    code, out, err = gonn(home, "evaluate", "parametric_relu", "--legal-only")
    legal = re.findall(r"(?m)^ ?(?:gonn-b5|without \w+) .* (\d+\.\d{4}) ", out)
    assert code == 0 and all(float(one) < float(other) for one, (_, other) in zip(legal, own, strict=True))
    assert gonn(home, "evaluate", "nosuch")[2].startswith("STUDY=nosuch: no such study; valid: ")


@pytest.mark.parametrize(
    "verb", [["evaluate", "--split", "validation", "--positions", "200"], ["probe", "--no-boards"]]
)
def test_two_slots_evaluate_or_probe_in_two_processes(home, monkeypatch, capsys, verb):
    study = study_of(home, "parametric_relu")["id"]
    monkeypatch.setenv("GONN_HOME", str(home))
    monkeypatch.setattr(pipeline, "make_runner", lambda *_: LocalRunner("tests.orchestration.fakes:meet"))
    assert cli.run([verb[0], study, *verb[1:], "--slots", "2"]) == 0
    met = home / "met"
    assert len(list(met.iterdir())) == 2, "each waited for the other"
    shutil.rmtree(met)
    said = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in said] == ["evaluating" if verb[0] == "evaluate" else "probing"] * 2
    assert cli.run([verb[0], study, *verb[1:]]) == 0 and not met.exists(), "what is there is not made again"


def test_a_base_trained_alone_is_the_trial_that_the_studies_have(home):
    """From our declaration, with a setting changed, and from a file of one's own, which MLflow gets one experiment
    of."""
    from mlflow import MlflowClient

    before = contents(home / "runs")
    control, treatment = (trial["trial"] for trial in study_of(home, "parametric_relu")["trials"])
    ours = (FOLDER / "bases" / "gonn-b5.yaml").read_text()
    (home / "mine.yaml").write_text(ours.replace("id: gonn-b5\nalso_called: [gonn-published-5b]", "id: mine"))
    for base, extra, trial in (
        ("gonn-b5", ["--no-track"], control),
        ("gonn-b5", ["--no-track", "--set", "net.activation=relu"], treatment),
        ("mine.yaml", [], control),
    ):
        code, out, err = gonn(home, "train", base, *SHORT, *extra)
        assert code == 0 and "1 trial, 1 of them done already" in err, err
        assert out.endswith(f"trial {trial} in {home / 'runs' / trial}\n")
    trained = {study.base: study for path in home.glob("studies/control-*/study.json") for study in [read_study(path)]}
    assert {base: study.trials for base, study in trained.items()}["mine.yaml"] == (
        TrialRef(trial=control, arm="control", seed=1),
    )
    page = (home / "out" / trained["mine.yaml"].id / "report.html").read_text()
    assert (
        "gonn train mine.yaml --data starter --budget smoke --seed=1 --set=training.samples=1280" in page
        and "net.trunk.width" in page
    )
    experiments = MlflowClient(f"sqlite:///{home / 'mlflow.db'}").search_experiments()
    assert [each.name for each in experiments if each.name != "Default"] == [study_info(trained["mine.yaml"]).name]
    code, out, _ = gonn(home, "train", "gonn-b5", *SHORT, "--job", str(home / "job.json"))
    assert code == 0 and out.startswith(f"{home / 'job.json'}: trial {control} of 1,280 samples; ")
    assert contents(home / "runs") == before


def test_reports_can_be_thrown_away(home):
    before = contents(home / "runs")
    folder = home / "out" / study_of(home, "stem_kernel_5x5")["id"]
    names = {path.name for path in folder.iterdir()}
    shutil.rmtree(home / "out")
    assert gonn(home, "report")[0] == 0
    assert {path.name for path in folder.iterdir()} == names and contents(home / "runs") == before


def test_kill_9_of_a_trial_and_of_the_command(home, tmp_path):
    """A checkpoint of another version, then a killed worker, then a killed command, each followed by the same
    command."""
    elsewhere = workspace(tmp_path)
    control, treatment = (trial["trial"] for trial in study_of(home, "parametric_relu")["trials"])
    directory = TrialDirectory(elsewhere / "runs" / treatment)
    directory.create()
    foreign = (home / "runs" / treatment / "checkpoint.safetensors").read_bytes()
    foreign = re.sub(rb'(training\\": )\d+', rb"\g<1>0", foreign, count=1)
    directory.checkpoint.write_bytes(foreign.replace(b'"seal":', b'"sael":', 1))  # as versions before wrote it

    code, out, err = gonn(elsewhere, *ablate("parametric_relu"))
    assert code == 1 and "Traceback" not in err
    failed = f"without-parametric_relu on seed 1 (trial {treatment}) failed: {directory.checkpoint}: "
    assert (
        failed in err
        and "made with numerics " in err
        and err.endswith("\n1 of 2 trials failed; the same command tries them again\n")
    )
    assert "parametric_relu: no result yet" in out and "0 of 1" in out
    assert TrialDirectory(elsewhere / "runs" / control).state() == "done"
    finished = contents(elsewhere / "runs" / control)

    directory.checkpoint.unlink()
    command = start(elsewhere, *ablate("parametric_relu"))
    wait_until(lambda: len(directory.metrics()) >= 2, command)
    worker = json.loads((directory.path / "lease.json").read_text())["process"]["pid"]
    os.kill(worker, signal.SIGKILL)
    wait_until(lambda: len(directory.config()["sessions"]) == 2, command)  # another process has taken it up
    code, status, _ = gonn(elsewhere, "status")
    assert (
        code == 0
        and re.search(rf"without parametric_relu s1 +{treatment[:8]} +\S+ +1,280 ", status)
        and "at work: parametric_relu-" in status
    )
    command.kill()
    out, _ = command.communicate()
    assert "killed by SIGKILL" in out
    wait_until(lambda: directory.state() != "running")
    assert directory.state() == "paused"
    status = gonn(elsewhere, "status")[1]
    assert "running" not in status and re.search(r" done  paused\n\S+ +1/2 +1 *\n", status)

    code, out, err = gonn(elsewhere, *ablate("parametric_relu"))
    assert code == 0 and "2 trials, 1 of them done already" in err
    assert contents(elsewhere / "runs" / control) == finished
    for trial in (control, treatment):
        assert_same_trial(home / "runs" / trial, elsewhere / "runs" / trial)
    verdict = re.search(r"parametric_relu: Δ .*", (home / "parametric_relu.out").read_text())[0]
    assert verdict in out  # the numbers of an uninterrupted run
