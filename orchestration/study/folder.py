"""`studies/<id>/`: study.json (before the first trial), speed.json (each arm alone), looks.json (how often results were
shown)."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ablations.study import Study
from gonn_core.errors import SettingError, UserError
from gonn_core.files.json_files import read_mapping, write_json
from gonn_core.files.whole import locked
from gonn_core.training.compiling import Compile
from gonn_core.trial.directory import TrialDirectory
from orchestration.experiment.folder import STUDIES
from orchestration.experiment.speeds import speeds_of
from reports.results.study_results import LOOKS_FILE, SPEED_FILE, known_speeds, read_look_counts
from reports.workspace import Workspace

_SHOWN = 8
"""Ids in an error."""

study_folder = STUDIES.folder
keep_study = STUDIES.keep
all_studies = STUDIES.whole
find_study = STUDIES.find


def state_of(trials: Sequence[str]) -> str:
    """What looks.json calls the results of these finished trials."""
    return hashlib.sha256("\n".join(sorted(trials)).encode()).hexdigest()[:16]


def find_trial(workspace: Workspace, beginning: str, setting: str = "TRIAL") -> Path:
    """Directory of the only trial whose id begins so. Raises SettingError (`setting`)."""
    trials = sorted(path.parent.name for path in workspace.runs.glob("*/config.json"))
    matching = [name for name in trials if name.startswith(beginning)]
    if len(matching) != 1:
        valid = (matching or trials)[:_SHOWN] or "none yet: make ablation NAME=… makes some"
        problem = "several trials begin so" if matching else f"no such trial in {workspace.runs}"
        raise SettingError(setting, beginning, problem, valid)
    return workspace.runs / matching[0]


def finished_trials(workspace: Workspace, study: Study) -> list[str]:
    """Trials of a study that are done, in its order. Raises UserError when none is."""
    done = [ref.trial for ref in study.trials if TrialDirectory(workspace.runs / ref.trial).state() == "done"]
    if not done:
        raise UserError(f"study {study.id}: none of its {len(study.trials)} trials is done yet; gonn status shows them")
    return done


def count_look(workspace: Workspace, study: Study, finished: list[str], command: str) -> dict[str, int]:
    """Note that test results of these finished trials were shown; looks so far by command.

    Showing the same results again is no further look.
    """
    path = study_folder(workspace, study.id) / LOOKS_FILE
    state = state_of(finished)
    with _changing(path):
        shown = read_mapping(path)
        if finished and state not in shown:
            shown[state] = command
            write_json(path, shown)
    return read_look_counts(path.parent)


def measure_speeds(
    workspace: Workspace,
    study: Study,
    device: str,
    say: Callable[[str], object],
    compile: Compile = "none",
) -> dict:
    """Samples/s of each arm alone on the device, as kept in speed.json; measured where it is not known today
    (`orchestration.experiment.speeds`)."""
    path = study_folder(workspace, study.id) / SPEED_FILE
    with _changing(path):
        known = known_speeds(path)
        if any(arm.id not in known for arm in study.arms):
            configs = {arm.id: arm.config for arm in study.arms}
            known = speeds_of(workspace, configs, device, say, compile)
            write_json(path, known)
    return known


def _changing(path: Path):
    """While this is entered no other command changes the file: what it adds would be lost."""
    return locked(path.with_name(f".{path.stem}.lock"))
