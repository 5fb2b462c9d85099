"""What the tests of records share."""

from pathlib import Path

import pytest

from orchestration.tracking.tracker import Tracker


@pytest.fixture(scope="session")
def template(tmp_path_factory) -> Path:
    """A data base whose tables exist: making them takes longer than any test."""
    root = tmp_path_factory.mktemp("template")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        assert Tracker(root, root / "runs", pytest.fail).sync([])
    return root / "mlflow.db"
