"""Studies with looks (interim analyses): the looks that a study plans, after those of an earlier study that it
continues; its trials look by look.

What a look decides follows from the trials alone (`reports.results.decisions`): commands that run the same study decide
the same.
"""

from collections.abc import Callable, Iterator, Sequence

from ablations.designs import SCREEN
from ablations.study import Looks, Study, read_study
from gonn_core.errors import UserError
from gonn_core.files.json_files import read_mapping
from gonn_core.trial.events import Event, Failed, Finished, Paused
from gonn_core.trial.job import Job
from orchestration.experiment.pipeline import is_complete
from orchestration.study.folder import state_of
from reports.results.decisions import load_results, trials_due
from reports.results.study_results import LOOKS_FILE
from reports.study.report import decided
from reports.workspace import Workspace


def planned_looks(
    looks: Sequence[int], seeds: int, futility: float | None, earlier: Study | None = None
) -> Looks | None:
    """The looks of a study of so many seeds per arm; None where it has only one. earlier: a complete study that it
    continues, whose looks count as if they had been planned."""
    before: tuple[int, ...] = ()
    if earlier is not None:
        before = earlier.looks.seeds if earlier.looks else (len(earlier.seeds),)
    to_come = (count for count in looks or (seeds,) if count > max(before, default=0))
    counts = (*before, *to_come)
    return Looks(seeds=counts, futility=futility, spent=len(before)) if len(counts) > 1 else None


def with_looks(
    study: Study,
    looks: Sequence[int],
    futility: float | None,
    workspace: Workspace,
    identify: Callable[[Looks | None], str],
) -> Study:
    """The study with these looks and those that were taken earlier; `identify`: its id with some looks. A study that
    was written down keeps the looks that it had then."""
    seeds = len(study.seeds)
    planned = planned_looks(looks, seeds, futility)
    if not (workspace.studies / identify(planned) / "study.json").exists() and study.contrasts:
        planned = planned_looks(looks, seeds, futility, earlier_study(study, workspace))
    return study.model_copy(update={"looks": planned, "id": identify(planned)})


def earlier_study(study: Study, workspace: Workspace) -> Study | None:
    """The complete study of the workspace, its results shown, that this one continues: equal but for fewer seeds. Of
    several the one with most seeds."""
    stem, _, _ = study.id.rpartition("-")
    candidates = []
    for path in sorted(workspace.studies.glob(f"{stem}-*/study.json")):
        try:
            other = read_study(path)
            if _continues(study, other):
                due = [trial.trial for trial in trials_due(other, workspace.runs, workspace.report_cache)]
                if state_of(due) in read_mapping(path.with_name(LOOKS_FILE)):  # all its results were shown
                    candidates.append(other)
        except UserError:
            continue  # a damaged file says nothing; `gonn status` names it
    return max(candidates, key=lambda other: len(other.seeds), default=None)


def _continues(study: Study, other: Study) -> bool:
    """Whether `other` is the same study with fewer seeds."""
    if study.design == SCREEN:  # its seeds are blocks of runs
        return False
    same = ("cards", "base", "budget", "design", "data", "pairing", "contrasts", "evaluations", "samples", "precision")
    return (
        len(other.seeds) < len(study.seeds)
        and study.seeds[: len(other.seeds)] == other.seeds
        and all(getattr(study, name) == getattr(other, name) for name in same)
        and [(arm.id, arm.config) for arm in study.arms] == [(arm.id, arm.config) for arm in other.arms]
        and len(other.seeds) >= other.thresholds.min_seeds
    )


class LookedAt:
    """One command's part in a study with looks: an iterator of jobs, and a listener to their events."""

    def __init__(self, workspace: Workspace, study: Study, jobs: Sequence[Job], say: Callable[[str], object]):
        """jobs: of all the study's trials; say: hears what each look decided."""
        self._workspace, self._study, self._say = workspace, study, say
        self._jobs = {job.id: job for job in jobs}
        self._at_work: set[str] = set()
        self._said = 0

    def missing(self) -> list[Job]:
        """Jobs of the trials up to the next look that are not done; says what each look before it decided, once."""
        results = load_results(self._study, self._workspace.runs, cache=self._workspace.report_cache)
        for look in results.looks[self._said :]:
            self._say(decided(look))
        self._said = len(results.looks)
        jobs = (self._jobs[trial.id] for trial in results.trials)
        return [job for job in jobs if not is_complete(job)]

    def jobs(self, on_begin: Callable[[Sequence[Job]], object]) -> Iterator[Job | None]:
        """Trials look by look, None while those of a look are at work; ends early where one failed. on_begin: called
        with the jobs of each look before the first of them."""
        tried: set[str] = set()
        while missing := self.missing():
            if any(job.id in tried for job in missing):
                return
            on_begin(missing)
            self._at_work = {job.id for job in missing}
            tried |= self._at_work
            yield from missing
            while self._at_work:
                yield None

    def __call__(self, event: Event) -> None:
        """Hear an event."""
        if isinstance(event, Finished | Failed | Paused):
            self._at_work.discard(event.trial)
