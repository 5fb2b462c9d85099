"""The committed jobs for a GPU: readable by this code, and those that the README beside them lists."""

import re
from pathlib import Path

import pytest

from ablations.arms import budget_config
from ablations.registry import load_registry
from ablations.study import seeded
from gonn_core.config import with_values
from gonn_core.records.recipe import read_recipe
from gonn_core.trial.job import read_job

FOLDER = Path(__file__).resolve().parent.parent / "results" / "gpu"
WANTED = {
    "b5-s1": (1, {}),
    "b5-s2": (2, {}),
    "b5-relu-s1": (1, {"net.activation": "relu"}),
    "b5-relu-s2": (2, {"net.activation": "relu"}),
    "b5-no-head-pooling-s1": (1, {"net.head.pooling": "none"}),
    "b5-no-ladders-s1": (1, {"features.ladders": False}),
}


@pytest.mark.parametrize("name", WANTED)
def test_job_is_the_trial_of_its_study(name):
    """The same configuration that a study under the gpu budget trains: its result can be taken over."""
    seed, values = WANTED[name]
    registry, job, recipe = load_registry(), read_job(FOLDER / "jobs" / f"{name}.json"), read_recipe(FOLDER / "jobs" / "kgs.recipe.json")
    base = budget_config(registry.base("gonn-b5"), registry.budget("gpu"))
    assert job.config == seeded(with_values(base, {"data.view": recipe.views["train"], **values}), seed)
    assert job.run.store == f"stores/{recipe.store}" and job.run.runs == "runs" and not job.run.dirty
    assert {request.view for request in job.run.evaluations} == {recipe.views["test"]}


def test_readme_lists_the_jobs():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`jobs/([^`]*)\.json`", text)) == set(WANTED) | {"kgs.recipe"}
