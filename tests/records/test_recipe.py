"""A recipe makes the same store and views on another machine, or says what is wrong."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ablations.data.datasets import load_dataset, prepare, recipe_of
from gonn_core.errors import UserError
from gonn_core.records.recipe import Recipe, follow, read_recipe
from tests.paths import ROOT

ARCHIVE = "gnugo-selfplay.tar.xz"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(recipe, its file, folder with the archive)."""
    folder = tmp_path_factory.mktemp("recipe")
    recipe = recipe_of(prepare(load_dataset("starter"), folder / "stores"))
    file = folder / "starter.recipe.json"
    file.write_text(json.dumps(recipe.model_dump(mode="json")))
    games = folder / "games" / "deeper"
    games.mkdir(parents=True)
    shutil.copy(ROOT / "ablations" / "starter" / ARCHIVE, games)
    return recipe, file, games.parent


def test_written_and_read_back(made):
    assert read_recipe(made[1]) == made[0]


def test_command_makes_the_same_store_from_the_core_alone(made, tmp_path):
    recipe, file, games = made
    command = [sys.executable, "-m", "gonn_core.records", str(file), "--games", str(games), "--stores", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).name == recipe.store


def test_missing_archive_is_named(made, tmp_path):
    with pytest.raises(UserError) as error:
        follow(made[0], tmp_path, tmp_path / "stores")
    assert str(error.value) == f"{tmp_path}: no archive {ARCHIVE} there; the recipe names {ARCHIVE}"


def test_other_digest_is_refused(made, tmp_path):
    tree = made[0].model_dump(mode="json")
    other = Recipe.model_validate_json(json.dumps(tree | {"views": tree["views"] | {"test": "0" * 20}}))
    with pytest.raises(UserError, match=f"the test view is {made[0].views['test']}, not {'0' * 20}"):
        follow(other, made[2], tmp_path)
