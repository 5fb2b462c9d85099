"""What the tests of whole commands share."""

from pathlib import Path

import pytest

from tests.orchestration.commands import STUDY, gonn, workspace


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory) -> Path:
    """The workspace of a smoke study that nothing disturbed, logged to the data base inside it."""
    home = workspace(tmp_path_factory.mktemp("undisturbed"))
    code, out, err = gonn(home, *STUDY)
    assert code == 0, out + err
    return home
