"""The command that a report names makes the study that the report is of: the same id, so nothing is trained again."""

import shlex
import shutil

import pytest

from ablations.request import Request
from ablations.resolve import resolve_study
from ablations.study import Study
from orchestration.cli.studies import ablate, scale, train
from orchestration.study.plan import make_plan
from orchestration.study.train import trial_design
from reports.screen.interactions import study_command
from reports.workspace import Workspace
from tests.trial.helpers import starter_data

REQUESTS = {
    "as the budget says": {"name": "parametric_relu"},
    "seeds": {"name": "parametric_relu,ko_plane", "seeds": "1,2,7"},
    "samples": {"name": "ko_plane", "samples": "2560", "seeds": "3"},
    "rate": {"name": "ko_plane", "lr": "0.05", "seeds": "3"},
    "looks": {"name": "ko_plane", "seeds": "4..12", "futility": "0.02"},
    "more seeds of the control": {"name": "ko_plane", "seeds": "3", "control_seeds": "5"},
    "another base": {"name": "parametric_relu", "base": "gonn-b4"},
    "factorial": {"name": "parametric_relu,ko_plane", "design": "factorial"},
    "cumulative": {"name": "parametric_relu,ko_plane", "design": "cumulative"},
    "screen": {"name": "parametric_relu,ko_plane,chain_pooling", "design": "screen", "runs": 8},
    "screen with a card held": {
        "name": "parametric_relu,ko_plane,chain_pooling", "design": "screen", "hold": "ladder_input",
    },
    "a base alone": {"name": None, "base": "gonn-b5", "samples": "2560", "seeds": "2"},
    "one trial": {"base": "gonn-b5", "seed": 7, "values": ()},
    "one trial with settings": {
        "base": "gonn-b5",
        "seed": 2,
        "values": ("net.activation=relu", "net.trunk.dilations=[2]", "training.samples=2560", "features.ladders=false"),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("again")
    shutil.copytree(starter_data().store.folder.parent, folder / "stores")
    return folder


def planned(**settings) -> Study:
    workspace = Workspace.here()
    one = "seed" in settings
    design = trial_design(workspace, **settings) if one else resolve_study(Request(**settings))
    return make_plan(design, workspace).study


def typed(command: str) -> dict:
    """What the command line makes of it."""
    program, verb, *arguments = shlex.split(command)
    assert program == "gonn"
    command_of = {"ablate": ablate, "scale": scale, "train": train}[verb]
    settings = command_of.make_context(verb, arguments).params
    if verb == "train":
        return {key: value for key, value in settings.items() if key != "track"}
    return {"name": None, **{key: value for key, value in settings.items() if key in Request.__dataclass_fields__}}


@pytest.mark.parametrize("asked", REQUESTS, ids=lambda name: name.replace(" ", "-"))
def test_the_command_of_a_study_makes_that_study(asked, home, monkeypatch):
    monkeypatch.setenv("GONN_HOME", str(home))
    study = planned(budget="smoke", **REQUESTS[asked])
    again = typed(study_command(study))
    assert planned(**again).id == study.id, study_command(study)


def test_a_first_look_is_made_by_what_makes_the_study_after_it(home, monkeypatch):
    monkeypatch.setenv("GONN_HOME", str(home))
    look = planned(name="ko_plane", budget="smoke", samples="2560", seeds="3").model_copy(update={"first_look": True})
    assert study_command(look) == "gonn ablate ko_plane --base gonn-b5 --data starter --budget smoke"
