"""Trials of a workspace by the beginning of their id."""

from pathlib import Path

from gonn_core.errors import SettingError
from reports.workspace import Workspace

_SHOWN = 8  # ids in an error


def find_trial(workspace: Workspace, beginning: str, setting: str = "TRIAL") -> Path:
    """Directory of the one trial whose id begins so. Raises SettingError under the name of the setting."""
    trials = sorted(path.parent.name for path in workspace.runs.glob("*/config.json"))
    matching = [name for name in trials if name.startswith(beginning)]
    if len(matching) != 1:
        valid = (matching or trials)[:_SHOWN] or "none yet: make ablation NAME=… makes some"
        raise SettingError(
            setting, beginning, "several trials begin so" if matching else f"no such trial in {workspace.runs}", valid
        )
    return workspace.runs / matching[0]
