"""`gonn ablate CARD --budget smoke` of every card, in one workspace: each ends with a report that has the effect in it.

Marked `cards`: some 25 minutes of a core, run by `make test-cards` alone. The command's own code runs in this process,
trials one after the other; only the start of worker processes is left out.
"""

import re
import shutil

import pytest

from ablations.registry import load_registry
from gonn_core.trial.run import run_trial
from orchestration.cli import command as cli
from orchestration.experiment import pipeline
from orchestration.runners.base import TrialOutcome
from orchestration.study import run as study_run
from tests.trial.helpers import starter_data

pytestmark = pytest.mark.cards


class Here:
    """A runner that runs trials in this process."""

    def run(self, jobs, slots, on_event):
        return [TrialOutcome(job.id, run_trial(job)["state"]) for job in jobs]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A workspace with the position store of the bundled games, shared by all: a control is trained once."""
    folder = tmp_path_factory.mktemp("cards")
    shutil.copytree(starter_data().store.folder.parent, folder / "stores")
    return folder


REGISTRY = load_registry()


@pytest.mark.parametrize("card", REGISTRY.cards)
def test_a_study_of_every_card(card, home, monkeypatch, capsys):
    monkeypatch.setenv("GONN_HOME", str(home))
    monkeypatch.chdir(home)
    monkeypatch.setattr(pipeline, "make_runner", lambda *_: Here())
    monkeypatch.setattr(
        study_run, "measure_speeds", lambda *arguments: None
    )  # three turns of every arm would take most of the time
    code = cli.run(["ablate", card, "--budget", "smoke", "--seeds", "1", "--runner", "local", "--no-track"])
    out, err = capsys.readouterr()
    if code == 2 and ("train on the same" in err or "no training positions with" in err):
        pytest.skip("the bundled games tell no ranks and dates, and have none that this filter leaves out")
    if "smoke" in REGISTRY.card(card).idle:
        assert code == 2 and "compute the same" in err
        return
    assert code == 0, err
    (report,) = (home / "out").glob(f"{card}-*/report.md")
    rows = (line.replace("\\", "").split("|") for line in report.read_text().splitlines())
    effect = next(cells[2].strip() for cells in rows if len(cells) > 2 and cells[1].strip() == card)
    assert re.fullmatch(r"[−+]?\d+\.\d+", effect), effect
    assert "Δ test nats" in out
