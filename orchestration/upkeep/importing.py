"""`gonn import`: trial directories from another machine into this workspace; a trial that is here already stays as it
is.

A copy of each directory is read as every trial is read: its id is computed again from its configuration, checksums of
all files are checked, and weights, curve and evaluations must belong together. This finds damage and mistakes, not
invented numbers; `gonn evaluate` evaluates again from the weights.
"""

import os
import shutil
from pathlib import Path

from gonn_core.config import numerics_of
from gonn_core.errors import InputError, UserError, printable
from gonn_core.evaluation.stored import load_evaluations
from gonn_core.files.whole import workshop
from gonn_core.trial.directory import TrialDirectory, other_net
from gonn_core.trial.job import Job, read_job
from gonn_core.trial.weights import unpack
from orchestration.console import output
from reports.workspace import Workspace

FILES = (
    *("config.json", "result.json", "metrics.jsonl", "checkpoint.safetensors"),
    *("snapshots/*.safetensors", "eval/*.json", "eval/*.npz"),
)
"""What is copied. Leases and failures stay behind, and answers to probes, which `gonn probe` makes again."""


def import_trials(folder: Path) -> int:
    """Take over the trials in `folder`: a trial directory, a folder of them, or a workspace. 1 when one was refused,
    else 0.

    Prints one line per trial that was refused, and one for the rest. Raises UserError when there is none.
    """
    workspace = Workspace.here()
    sources = candidates(folder)
    taken, refused = [], 0
    workspace.runs.mkdir(parents=True, exist_ok=True)
    with workshop(workspace.runs) as shop:
        for number, source in enumerate(sources):
            copy = shop / str(number)
            try:
                if (final := _take_over(source, copy, workspace)) is not None:
                    taken.append(final)
            except (UserError, OSError, ValueError, TypeError, LookupError) as error:
                refused += 1
                problem = str(error)
                if not isinstance(error, UserError | OSError):
                    problem = f"not what a trial writes ({type(error).__name__}: {error})"
                reason = printable(problem.replace(f"{copy}/", "").replace(str(copy), "it"), 300)
                output().print(f"{printable(source.name, 60)}: refused: {reason}", soft_wrap=True)
    here = len(sources) - len(taken) - refused
    output().print(
        f"{len(taken)} trials taken over into {workspace.runs}, {here} here already, {refused} refused", soft_wrap=True
    )
    return 1 if refused else 0


def candidates(folder: Path) -> list[Path]:
    """The directories in `folder` that may be trials: itself, or those in it or in its `runs`. Raises InputError when
    there is none."""
    if not folder.is_dir():
        raise InputError(folder, "no such folder")
    folder = folder.resolve()
    if (folder / "config.json").exists():
        return [folder]
    for parent in (folder / "runs", folder):
        trials = sorted(path.parent for path in parent.glob("[!.]*/config.json"))
        if trials:
            return trials
    raise InputError(folder, "no trial directory (one holds a config.json) in it or in its runs")


def _take_over(source: Path, copy: Path, workspace: Workspace) -> Path | None:
    """Copy, check and put one trial into place, under its id; None when it is here already. Raises UserError,
    OSError."""
    copy.mkdir()
    for name in ("snapshots", "eval"):
        (copy / name).mkdir()
    for path in (path for pattern in FILES for path in sorted(source.glob(pattern))):
        if path.is_symlink() or not path.is_file():
            raise InputError(path.name, "a link, or no file")
        shutil.copyfile(path, copy / path.relative_to(source))
    job = read_job(copy / "config.json")
    final = workspace.runs / job.id
    if final.exists():
        return None
    check_trial(copy, job)
    try:
        os.rename(copy, final)
    except OSError:
        if not final.is_dir():
            raise
        return None  # another command made that trial meanwhile
    return final


def check_trial(folder: Path, job: Job) -> None:
    """Read a trial's directory as a whole. Raises UserError for the first file that does not belong to it."""
    directory = TrialDirectory(folder)
    config, result = directory.config(), directory.result()
    if config is None or result is None:
        raise InputError(folder / "result.json", "not trained to the end; resume it where it was begun")
    if config["numerics"] != numerics_of(job.config):
        raise InputError(folder / "config.json", f"made with numerics {config['numerics']}")
    if result["id"] != job.id:
        raise InputError(folder / "result.json", f"of trial {result['id']}, not of {job.id}")
    if problem := other_net(config, result):
        raise InputError(folder, problem)
    directory.check_course(directory.metrics(), result)
    weights = {samples: unpack(path, job.id)[1]["weights"] for samples, path in directory.snapshots().items()}
    if weights.get(result["samples"]) != result["weights"]:
        raise InputError(folder / "result.json", "its weights are not those of the last snapshot")
    if directory.checkpoint.exists():
        unpack(directory.checkpoint, job.id)
    for evaluation in load_evaluations(folder):
        summary = evaluation.summary
        if weights.get(summary["samples"]) != summary["weights"]:
            raise InputError(evaluation.path, "its weights are in no snapshot")
