"""`gonn export`: the weights of a trained net as a file of their own."""

from pathlib import Path

from gonn_core.errors import InputError
from orchestration.console import output
from orchestration.study.trial_folder import find_trial
from reports.workspace import Workspace


def export_trial(trial: str, file: Path, samples: int | None) -> int:
    """Write the weights after `samples` samples, by default the last, of the trial whose id begins so. Raises UserError
    for a trial without such a snapshot, and rather than write over a file."""
    from gonn_core.trial.weights import export_weights

    if file.exists():
        raise InputError(file, "there is such a file already")
    folder = find_trial(Workspace.here(), trial)
    digest = export_weights(folder, file, samples)
    output().print(f"weights {digest} of trial {folder.name} in {file}")
    return 0
