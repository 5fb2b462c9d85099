"""The looks of a study that is planned: at its own numbers of seeds, after those of an earlier study that it goes on
from."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from ablations.designs import SCREEN
from ablations.study import Looks, Study, read_study
from gonn_core.errors import UserError
from gonn_core.files.json_files import read_mapping
from orchestration.looks.asked import AskedSeeds
from reports.results.compare import study_thresholds
from reports.results.decisions import due_trials, next_look, read_decisions
from reports.results.speed_and_looks import LOOKS_FILE
from reports.stats.looks import later_level, planned_levels
from reports.workspace import Workspace


def state_of(trials: Sequence[str]) -> str:
    """What looks.json calls the results of these finished trials."""
    return hashlib.sha256("\n".join(sorted(trials)).encode()).hexdigest()[:16]


def planned_looks(study: Study, asked: AskedSeeds, earlier: Study | None) -> Looks | None:
    """The looks of a study, None where it has but one at alpha. earlier: a complete one that it goes on from."""
    alpha, cards = study_thresholds(study).alpha, max(1, len(study.contrasts))
    if earlier is None:
        if not asked.looks:
            return None
        return Looks(seeds=asked.looks, levels=planned_levels(asked.looks, alpha, cards), futility=asked.futility)
    before = earlier.looks
    seeds, levels = (before.seeds, before.levels) if before else ((len(earlier.seeds),), (alpha,))
    spent = len(seeds)
    for count in asked.looks or (len(asked.each),):
        if count > seeds[-1]:
            levels = (*levels, later_level(seeds, levels, count, alpha, cards))
            seeds = (*seeds, count)
    return Looks(seeds=seeds, levels=levels, futility=asked.futility, spent=spent)


def with_looks(study: Study, asked: AskedSeeds, workspace: Workspace, identify: Callable[[Looks | None], str]) -> Study:
    """The study with the looks that it was asked for, or has to have for those that were taken before; `identify`: its
    id with these looks. One that was written down once keeps the looks that it had then."""
    looks = planned_looks(study, asked, None)
    if not (workspace.studies / identify(looks) / "study.json").exists() and study.contrasts:
        earlier = earlier_study(study, workspace)
        looks = looks if earlier is None else planned_looks(study, asked, earlier)
    return study.model_copy(update={"looks": looks, "id": identify(looks)})


def earlier_study(study: Study, workspace: Workspace) -> Study | None:
    """The complete study of the workspace, its results shown, that this one goes on from: the same in everything but a
    smaller number of seeds. Of several the one with most seeds."""
    stem, _, _ = study.id.rpartition("-")
    found = []
    for path in sorted(workspace.studies.glob(f"{stem}-*/study.json")):
        try:
            other = read_study(path)
            if _goes_on_from(study, other) and _was_shown(other, path.parent):
                found.append(other)
        except UserError:
            continue  # a damaged file says nothing; `gonn status` names it
    return max(found, key=lambda other: len(other.seeds), default=None)


def _goes_on_from(study: Study, other: Study) -> bool:
    """Whether `other` is the same study with fewer seeds."""
    if study.design == SCREEN:  # its seeds are blocks of runs
        return False
    same = ("cards", "base", "budget", "design", "data", "pairing", "contrasts", "evaluations", "samples", "precision")
    return (
        len(other.seeds) < len(study.seeds)
        and study.seeds[: len(other.seeds)] == other.seeds
        and all(getattr(study, name) == getattr(other, name) for name in same)
        and [(arm.id, arm.config) for arm in study.arms] == [(arm.id, arm.config) for arm in other.arms]
        and len(other.seeds) >= study_thresholds(other).min_seeds
    )


def _was_shown(study: Study, folder: Path) -> bool:
    """Whether somebody was shown all of its results."""
    looks = read_decisions(study, folder)
    if looks and next_look(study, looks) is not None:
        return False
    due = [trial.trial for trial in due_trials(study, looks)]
    return state_of(due) in read_mapping(folder / LOOKS_FILE)
