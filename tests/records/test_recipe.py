"""A recipe makes the same store and views on another machine, or says what is wrong."""

import json
import shutil
from pathlib import Path

import pytest

from ablations.data.datasets import recipe_of
from gonn_core.errors import UserError
from gonn_core.records.__main__ import main
from gonn_core.records.recipe import Recipe, follow, read_recipe
from tests.paths import ROOT
from tests.trial.helpers import starter_data

ARCHIVE = "gnugo-selfplay.tar.xz"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """(recipe, its file, folder with the archive)."""
    folder = tmp_path_factory.mktemp("recipe")
    recipe = recipe_of(starter_data())
    file = folder / "starter.recipe.json"
    file.write_text(json.dumps(recipe.model_dump(mode="json")))
    games = folder / "games" / "deeper"
    games.mkdir(parents=True)
    shutil.copy(ROOT / "ablations" / "starter" / ARCHIVE, games)
    return recipe, file, games.parent


def test_written_and_read_back(made):
    assert read_recipe(made[1]) == made[0]


def test_command_makes_the_same_store(made, tmp_path, capsys):
    recipe, file, games = made
    assert main([str(file), "--games", str(games), "--stores", str(tmp_path)]) == 0
    store = Path(capsys.readouterr().out.strip())
    assert store == tmp_path / recipe.store and store.is_dir()


def test_missing_archive_is_named(made, tmp_path):
    with pytest.raises(UserError) as error:
        follow(made[0], tmp_path, tmp_path / "stores")
    assert str(error.value) == f"{tmp_path}: no archive {ARCHIVE} there; the recipe names {ARCHIVE}"


def test_other_digest_is_refused(made, tmp_path):
    tree = made[0].model_dump(mode="json")
    other = Recipe.model_validate_json(json.dumps(tree | {"views": tree["views"] | {"test": "0" * 20}}))
    stores = starter_data().store.folder.parent
    with pytest.raises(UserError, match=f"the test view is {made[0].views['test']}, not {'0' * 20}"):
        follow(other, made[2], stores)
