"""The committed jobs for a GPU: readable by this code, on the data of the recipe beside them.

That each is the trial that a study trains is checked with the queue (tests/scripts/test_gpu_queue.py).
"""

import pytest

from gonn_core.records.recipe import read_recipe
from gonn_core.trial.job import read_job
from tests.paths import ROOT

FOLDER = ROOT / "results" / "gpu"
NAMES = sorted(path.stem for path in (FOLDER / "jobs").glob("*.json") if path.stem != "kgs.recipe")


@pytest.mark.parametrize("name", NAMES)
def test_job_is_on_the_data_of_the_recipe(name):
    job, recipe = read_job(FOLDER / "jobs" / f"{name}.json"), read_recipe(FOLDER / "jobs" / "kgs.recipe.json")
    assert job.config.data.view == recipe.views["train"] and job.run.progress_view == recipe.views["validation"]
    assert job.run.store == f"stores/{recipe.store}" and job.run.runs == "runs" and not job.run.dirty
    assert {request.view for request in job.run.evaluations} == {recipe.views["test"]}
