"""`gonn ui`: the MLflow UI, opened at a study or search."""

from ablations.search import Search
from ablations.study import Study
from orchestration.console import notes, output
from orchestration.experiment.folder import latest_of
from orchestration.search.folder import all_searches
from orchestration.study.folder import all_studies
from orchestration.tracking import ui as mlflow_ui
from orchestration.tracking.records import study_info
from orchestration.tracking.search_records import search_info
from orchestration.tracking.tracker import Tracker
from reports.workspace import Workspace


def open_ui(port: int, study: str | None) -> int:
    """Serve the MLflow UI until interrupted, opened at a study or search (the latest unless named). Records that are
    not there yet, or are of an older version, are made first."""
    workspace = Workspace.here()
    experiments: list[Study | Search] = [*all_studies(workspace), *all_searches(workspace)]
    experiments.sort(key=lambda experiment: experiment.created)
    chosen = experiments[-1] if experiments else None
    if study:
        none_yet = "none yet: make ablation NAME=… makes one"
        chosen = latest_of(experiments, study, "STUDY", "no such study or search", none_yet)
    return mlflow_ui.serve(workspace.root, port, lambda: _recorded(workspace, experiments, chosen), output().print)


def _recorded(workspace: Workspace, experiments: list[Study | Search], chosen: Study | Search | None) -> str | None:
    """MLflow's id of the chosen one, once all have records; None where there is none to open."""
    from orchestration.reporting.sync import sync

    tracker = Tracker(workspace.root, workspace.runs, notes().print)
    infos = [study_info(each) if isinstance(each, Study) else search_info(each, ()) for each in experiments]
    found = tracker.experiments(infos)
    if found is not None and None in found:
        missing = found.count(None)
        notes().print(f"MLflow's records of {missing} of {len(found)} studies and searches are made first")
        if sync() == 0:
            found = tracker.experiments(infos)
    return found[experiments.index(chosen)] if found and chosen is not None else None
