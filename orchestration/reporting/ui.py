"""`gonn ui`: the MLflow UI, opened at a study or search."""

from ablations.search import Search
from ablations.study import Study
from orchestration.console import output
from orchestration.experiment.folder import latest_of
from orchestration.search.folder import all_searches
from orchestration.study.folder import all_studies
from orchestration.tracking import ui as mlflow_ui
from reports.workspace import Workspace


def open_ui(port: int, study: str | None) -> int:
    """Serve the MLflow UI until interrupted, opened at a study or search (the latest unless named)."""
    workspace = Workspace.here()
    experiments: list[Study | Search] = [*all_studies(workspace), *all_searches(workspace)]
    experiments.sort(key=lambda experiment: experiment.created)
    chosen = experiments[-1] if experiments else None
    if study:
        none_yet = "none yet: make ablation NAME=… makes one"
        chosen = latest_of(experiments, study, "STUDY", "no such study or search", none_yet)
    return mlflow_ui.serve(workspace.root, workspace.runs, port, chosen.id if chosen else None, output().print)
