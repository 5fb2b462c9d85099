"""`gonn import`: trial directories from another machine into this workspace; a trial that is here already stays as it
is.

Nothing in such a folder is believed: files are copied under known names and bounds (`import_files`), the copy is
checked against itself (`import_checks`), and a random share of its evaluations is made again, on some of their
positions, where the games are here.
"""

import math
import os
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError, UserError, printable
from gonn_core.files.workshop import workshop
from gonn_core.trial.directory import TrialDirectory
from orchestration.console import notes, output
from orchestration.transfer.checks import Checked, check_trial, trial_in
from orchestration.transfer.files import LARGEST, Refused, copy_trial
from orchestration.workspace import Workspace

SHARE = 0.05
"""Of the evaluations that came, how many are made again; at least one."""
POSITIONS = 2000
NATS_APART = 0.001
"""Mean absolute difference, in nats a position, between an evaluation and its repetition on other hardware that is
taken for rounding; fp32 on both sides."""
MOST_TRIALS = 10_000


def import_trials(folder: Path) -> int:
    """Take over the trials in `folder`: a trial directory, a folder of them, or a workspace. 1 when one was refused,
    else 0.

    Prints one line per trial that was refused, and one for the rest. Raises UserError when there is none.
    """
    workspace, console = Workspace.here(), notes()
    found = candidates(folder)
    here, refused, rng = 0, [], random.SystemRandom()  # which evaluations are made again cannot be known beforehand
    workspace.runs.mkdir(parents=True, exist_ok=True)
    with workshop(workspace.runs) as shop:
        staged: dict[str, tuple[Path, Checked]] = {}
        for number, source in enumerate(found):
            try:
                trial = _trial_of(source)
                if trial in staged or os.path.lexists(workspace.runs / trial):
                    here += 1
                    continue
                copy_trial(source, shop / str(number))
                staged[trial] = (source, check_trial(shop / str(number)))
            except (Refused, OSError) as error:
                refused.append(_line(source, error))
        again = _chosen([checked for _, checked in staged.values()], rng)
        missing = set()
        for trial, (source, checked) in list(staged.items()):
            for evaluation in again.get(trial, ()):
                console.print(f"{trial}: evaluating {POSITIONS:,} positions of {evaluation.summary['id']} again …")
                try:
                    if not _agrees(workspace, checked, evaluation, rng):
                        missing.add(Path(checked.job.run.store).name)
                except Refused as error:
                    refused.append(_line(source, error))
                    del staged[trial]
                    break
        taken = sum(_move(checked.folder, workspace.runs / trial) for trial, (_, checked) in staged.items())
    for line in refused:
        output().print(line, soft_wrap=True)
    for store in sorted(missing):
        output().print(f"not evaluated again: their games (store {printable(store, 40)}) are not in {workspace.stores}")
    output().print(
        f"{taken} trials taken over into {workspace.runs}, {here + len(staged) - taken} here already, {len(refused)} refused",
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
        if parent.is_dir():
            found = sorted(
                path
                for path in parent.iterdir()
                if not path.name.startswith(".") and os.path.lexists(path / "config.json")
            )
            if found:
                break
    if not found:
        raise InputError(folder, "no trial directory (one holds a config.json) in it or in its runs")
    if len(found) > MOST_TRIALS:
        raise InputError(folder, f"{len(found):,} trial directories; at most {MOST_TRIALS:,} at a time")
    return found


def _trial_of(source: Path) -> str:
    """Id of the trial, computed from its configuration; the folder's name is only a name. Raises Refused, OSError."""
    if source.is_symlink() or (source / "config.json").is_symlink() or not (source / "config.json").is_file():
        raise Refused("it or its config.json is a link, or no file")
    with open(source / "config.json", "rb") as file:
        text = file.read(LARGEST[0][1] + 1)
    if len(text) > LARGEST[0][1]:
        raise Refused(f"config.json has more than {LARGEST[0][1]:,} bytes")
    return trial_in(text.decode("utf-8", "replace")).id


def _chosen(trials: Sequence[Checked], rng: random.Random) -> dict[str, list]:
    """A random share of all evaluations, by trial."""
    every = [(checked.job.id, evaluation) for checked in trials for evaluation in checked.evaluations]
    chosen: dict[str, list] = {}
    for trial, evaluation in rng.sample(every, min(len(every), max(1, math.ceil(SHARE * len(every))))):
        chosen.setdefault(trial, []).append(evaluation)
    return chosen


def _agrees(workspace: Workspace, checked: Checked, evaluation, rng: random.Random) -> bool:
    """Evaluate some positions again; False when the games are not here. Raises Refused when something else comes
    out."""
    from gonn_core.evaluation.evaluate import evaluate
    from gonn_core.records.store import open_store
    from gonn_core.records.views import view_digest
    from gonn_core.training.batches import PlaneMaker
    from gonn_core.training.environment import choose_device, reset_torch
    from gonn_core.training.loop import MEMORY_FORMATS
    from gonn_core.trial.weights import snapshot_net

    summary, rows = evaluation.summary, np.asarray(evaluation.rows, np.int64)
    store_folder = workspace.stores / Path(checked.job.run.store).name
    if not (store_folder / "manifest.json").is_file():
        return False
    store = open_store(store_folder)
    name = f"eval/{summary['id']}"
    if (
        rows[-1] >= len(store)
        or (np.diff(rows) <= 0).any()
        or view_digest(store, rows.astype(np.uint32)) != summary["subset"]
    ):
        raise Refused(f"{name}: its positions are not the subset {summary['subset']}")
    if (np.asarray(store.game[rows]) != evaluation.games).any():
        raise Refused(f"{name}: its positions are of other games")
    at = np.sort(rng.sample(range(len(rows)), min(POSITIONS, len(rows))))
    reset_torch(1)
    device = choose_device("auto")
    memory_format = MEMORY_FORMATS[checked.job.run.memory_format]
    maker = PlaneMaker(
        store, checked.config.features, device, memory_format, ("illegal",) if evaluation.reading.legal_only else ()
    )
    net, _ = snapshot_net(TrialDirectory(checked.folder), checked.config, checked.job.id, summary["samples"])
    try:
        found = evaluate(
            net.to(device, memory_format=memory_format),
            maker,
            rows[at],
            summary["history"],
            1,
            None,
            evaluation.reading,
        )
    except (ValueError, RuntimeError) as error:
        raise Refused(f"{name} cannot be made again ({printable(str(error), 120)})") from None
    apart = float(np.abs(found.nats - evaluation.scores.nats[at]).mean(dtype=np.float64))
    if not apart <= NATS_APART:
        told, made = (float(nats.mean(dtype=np.float64)) for nats in (evaluation.scores.nats[at], found.nats))
        raise Refused(f"{name}: {told:.4f} nats on {len(at):,} of its positions, {made:.4f} when made again")
    return True


def _move(folder: Path, final: Path) -> bool:
    """Put a checked directory into place; False when somebody made that trial meanwhile."""
    try:
        os.rename(folder, final)
    except OSError:
        if not final.is_dir():
            raise
        return False
    return True


def _line(source: Path, error: UserError | OSError) -> str:
    why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
    return f"{printable(source.name, 60)}: refused: {printable(why, 300)}"
