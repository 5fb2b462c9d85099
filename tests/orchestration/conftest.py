"""What the tests of whole commands share."""

from pathlib import Path

import pytest

from orchestration.tracking.client import make_database, set_up
from tests.orchestration.commands import STUDY, gonn, start, workspace
from tests.waiting import PATIENCE


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Path:
    """The workspace of a smoke study that nothing disturbed, logged to the data base inside it."""
    home = workspace(tmp_path_factory.mktemp("undisturbed"))
    study = start(home, *STUDY)
    out, err = study.communicate(timeout=PATIENCE)
    assert study.returncode == 0, out + err
    if "MLflow: " in err:  # a busy machine: the command did not wait for its records, and says how to complete them
        code, out, err = gonn(home, "sync")
        assert code == 0, err
    return home


@pytest.fixture(scope="session")
def mlflow_database(tmp_path_factory) -> Path:
    """An empty database with MLflow's tables, to copy: making them takes longer than any test."""
    path = tmp_path_factory.mktemp("database") / "mlflow.db"
    set_up()
    make_database(path)
    return path
