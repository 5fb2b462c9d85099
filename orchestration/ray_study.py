"""The driver's side of a study under Ray Tune; knows Tune's trials by their ids, and nothing else of Ray."""

from collections.abc import Iterator
from pathlib import Path

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job
from orchestration.runner import ATTEMPTS, OnEvent, Outcome, ended, retried


class RayStudy:
    """The driver's side: which job is next, what Tune's trials say, how they ended. Knows Tune's trials by their ids."""

    def __init__(self, first: Job, rest: Iterator[Job], on_event: OnEvent):
        self._first, self._rest, self._on_event = first, rest, on_event
        self._jobs: dict[str, Job] = {}
        self.outcomes: dict[str, Outcome | None] = {}
        """By trial id, in the order of the jobs; None while it runs."""

    def __getstate__(self):
        return {}  # Tune writes everything it is given to disk, for a restore that never comes

    def next_job(self, tune_id: str) -> Job | None:
        """The job of a new trial of Tune's, None when there is no more."""
        job, self._first = self._first or next(self._rest, None), None
        if job is not None:
            self._jobs[tune_id] = job
            self.outcomes[job.id] = None
        return job

    def hear(self, tune_id: str, said: list) -> bool:
        """Pass on what a trial said; True when it is to stop."""
        go_on = True
        for item in said:
            if isinstance(item, Outcome):
                self._end(tune_id, item)
            else:
                go_on = (self._on_event(item) is not False) and go_on
        if not go_on and self.outcomes[self._jobs[tune_id].id] is None:
            self._end(tune_id, Outcome(self._jobs[tune_id].id, "paused"))
        return not go_on

    def died(self, tune_id: str, for_good: bool) -> None:
        """A trial's process died, for the first time or too often."""
        job = self._jobs[tune_id]
        if not for_good:
            self._on_event(retried(job, "the worker process died"))
            return
        failure = TrialDirectory(Path(job.run.runs) / job.id).failure()  # what it left, if it had the time
        text = failure["traceback"] if failure else ""
        why = f"the worker process died, {ATTEMPTS} times" + (f": {failure['error']}" if failure else "")
        self._end(tune_id, Outcome(job.id, "failed", why, text))

    def _end(self, tune_id: str, outcome: Outcome) -> None:
        self.outcomes[outcome.trial] = outcome
        self._on_event(ended(self._jobs[tune_id], outcome))
