"""Runs a study that plans looks: hands out the trials up to the next look, and when all of them are done those of the
arms that it leaves.

What a look decides follows from the trials alone (`reports.results.decisions`): commands at work on the same study
decide the same.
"""

from collections.abc import Callable, Iterator, Sequence

from ablations.study import Study
from gonn_core.trial.events import Event, Failed, Finished, Paused
from gonn_core.trial.job import Job
from gonn_core.trial.twins import plainest_first
from orchestration.experiment.pipeline import is_complete
from reports.results.decisions import load_results
from reports.study.looks import decided
from reports.workspace import Workspace


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
        return plainest_first(job for job in jobs if not is_complete(job))

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
