"""`gonn import`: trial directories from another machine into this workspace; a trial that is here already stays as it
is.

Files are copied under known names and bounds (`files`), and the copy is checked against itself (`checks`).
"""

import os
from pathlib import Path

from gonn_core.errors import InputError, UserError, printable
from gonn_core.files.workshop import workshop
from gonn_core.training.environment import describe_processor
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import output
from orchestration.transfer.checks import check_trial, trial_in
from orchestration.transfer.files import Refused, copy_trial, read_config
from reports.study.machines import APART
from reports.workspace import Workspace


def import_trials(folder: Path) -> int:
    """Take over the trials in `folder`: a trial directory, a folder of them, or a workspace. 1 when one was refused,
    else 0.

    Prints one line per trial that was refused, and one for the rest. Raises UserError when there is none.
    """
    workspace = Workspace.here()
    sources = candidates(folder)
    taken = refused = elsewhere = 0
    workspace.runs.mkdir(parents=True, exist_ok=True)
    with workshop(workspace.runs) as shop:
        for number, source in enumerate(sources):
            try:
                if (final := _take_over(source, shop / str(number), workspace)) is not None:
                    taken += 1
                    elsewhere += _from_another_kind(final)
            except (Refused, OSError) as error:
                refused += 1
                output().print(_refusal(source, error), soft_wrap=True)
    here = len(sources) - taken - refused
    output().print(
        f"{taken} trials taken over into {workspace.runs}, {here} here already, {refused} refused", soft_wrap=True
    )
    if elsewhere:
        output().print(
            f"{elsewhere} of them were trained on another kind of processor than this one's: what was checked is that "
            f"their files belong together. Trained here, the same ids may end {APART} nats apart.",
            soft_wrap=True,
        )
    return 1 if refused else 0


def candidates(folder: Path) -> list[Path]:
    """The directories in `folder` that may be trials: itself, or what lies in it or in its `runs`. Raises InputError
    when there is none."""
    if not folder.is_dir():
        raise InputError(folder, "no such folder")
    folder = folder.resolve()
    if os.path.lexists(folder / "config.json"):
        return [folder]
    for parent in (folder / "runs", folder):
        trials = sorted(path.parent for path in parent.glob("[!.]*/config.json"))
        if trials:
            return trials
    raise InputError(folder, "no trial directory (one holds a config.json) in it or in its runs")


def _from_another_kind(trial: Path) -> bool:
    """Whether its files tell of a CPU that is not of this machine's kind."""
    config = TrialDirectory(trial).config()
    told = {each.get("processor") for each in config["sessions"] if each["device"] == "cpu"} if config else set()
    return bool(told - {None, describe_processor()})


def _take_over(source: Path, copy: Path, workspace: Workspace) -> Path | None:
    """Copy, check and put one trial into place; None when it is here already. Its folder's name is only a name.
    Raises Refused, OSError."""
    final = workspace.runs / trial_in(read_config(source)).id
    if os.path.lexists(final):
        return None
    copy_trial(source, copy)
    check_trial(copy)
    try:
        os.rename(copy, final)
    except OSError:
        if not final.is_dir():
            raise
        return None  # somebody made that trial meanwhile
    return final


def _refusal(source: Path, error: UserError | OSError) -> str:
    reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return f"{printable(source.name, 60)}: refused: {printable(reason, 300)}"
