"""The looks that a study plans: at its own numbers of seeds, after those of an earlier study that it goes on from."""

import hashlib
from collections.abc import Callable, Sequence

from ablations.designs import SCREEN
from ablations.study import Looks, Study, read_study
from gonn_core.errors import UserError
from gonn_core.files.json_files import read_mapping
from orchestration.looks.asked import AskedSeeds
from reports.results.compare import study_thresholds
from reports.results.decisions import trials_due
from reports.results.speed_and_looks import LOOKS_FILE
from reports.workspace import Workspace


def state_of(trials: Sequence[str]) -> str:
    """What looks.json calls the results of these finished trials."""
    return hashlib.sha256("\n".join(sorted(trials)).encode()).hexdigest()[:16]


def planned_looks(asked: AskedSeeds, earlier: Study | None = None) -> Looks | None:
    """The looks of a study, None where it has but one. earlier: a complete one that it goes on from, whose looks count
    as if they had been planned."""
    before: tuple[int, ...] = ()
    if earlier is not None:
        before = earlier.looks.seeds if earlier.looks else (len(earlier.seeds),)
    own = asked.looks or (len(asked.each),)
    seeds = (*before, *(count for count in own if count > max(before, default=0)))
    return Looks(seeds=seeds, futility=asked.futility, spent=len(before)) if len(seeds) > 1 else None


def with_looks(study: Study, asked: AskedSeeds, workspace: Workspace, identify: Callable[[Looks | None], str]) -> Study:
    """The study with the looks that it was asked for, and those that were taken before; `identify`: its id with these
    looks. One that was written down once keeps the looks that it had then."""
    looks = planned_looks(asked)
    if not (workspace.studies / identify(looks) / "study.json").exists() and study.contrasts:
        looks = planned_looks(asked, earlier_study(study, workspace))
    return study.model_copy(update={"looks": looks, "id": identify(looks)})


def earlier_study(study: Study, workspace: Workspace) -> Study | None:
    """The complete study of the workspace, its results shown, that this one goes on from: the same in everything but a
    smaller number of seeds. Of several the one with most seeds."""
    stem, _, _ = study.id.rpartition("-")
    found = []
    for path in sorted(workspace.studies.glob(f"{stem}-*/study.json")):
        try:
            other = read_study(path)
            if _goes_on_from(study, other) and _was_shown(other, workspace):
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


def _was_shown(study: Study, workspace: Workspace) -> bool:
    """Whether somebody was shown all results that it needs; while looks are to come it needs more."""
    due = [trial.trial for trial in trials_due(study, workspace.runs, workspace.report_cache)]
    return state_of(due) in read_mapping(workspace.studies / study.id / LOOKS_FILE)
