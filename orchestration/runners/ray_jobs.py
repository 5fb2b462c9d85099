"""The driver's side of a study under Ray Tune; knows Tune's trials by their ids, and nothing else of Ray."""

from pathlib import Path

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job
from orchestration.runners.base import ATTEMPTS, Outcome, begun, ended, retried
from orchestration.runners.queue import JobQueue


class RayStudy:
    """The driver's side: which job is next, what Tune's trials say, how they ended. Knows Tune's trials by their
    ids."""

    def __init__(self, queue: JobQueue):
        self.queue = queue
        self._jobs: dict[str, Job] = {}
        self.outcomes: dict[str, Outcome | None] = {}
        """By trial id, in the order of the jobs; None while it runs."""

    def __getstate__(self):
        return {}  # Tune writes everything it is given to disk, for a restore that never comes

    def ended(self) -> list[Outcome]:
        """How all jobs ended, in their order."""
        return [outcome for outcome in self.outcomes.values() if outcome is not None]

    def next_job(self, tune_id: str) -> Job | None:
        """The job of a new trial of Tune's, None when there is none now."""
        job = self.queue.take()
        if job is not None:
            self._jobs[tune_id] = job
            self.outcomes.setdefault(job.id, None)
        return job

    @property
    def is_over(self) -> bool:
        """Whether there will be no more jobs."""
        return self.queue.is_empty and not self.queue.may_fill

    def begun(self, tune_id: str) -> None:
        """A process of Tune's takes the trial up, for the first time or again."""
        self.queue.publish(begun(self._jobs[tune_id]))

    def hear(self, tune_id: str, messages: list) -> bool:
        """Pass on what a trial said; True when it is to stop."""
        go_on = True
        for message in messages:
            if isinstance(message, Outcome):
                self._end(tune_id, message)
            else:
                go_on = (self.queue.publish(message) is not False) and go_on
        if not go_on and not isinstance(messages[-1], Outcome):
            self._end(tune_id, Outcome(self._jobs[tune_id].id, "paused"))
        return not go_on

    def died(self, tune_id: str, for_good: bool) -> None:
        """A trial's process died, for the first time or too often."""
        job = self._jobs[tune_id]
        if not for_good:
            self.queue.publish(retried(job, "the worker process died"))
            return
        failure = TrialDirectory(Path(job.run.runs) / job.id).failure()  # what it left, if it had the time
        text = failure["traceback"] if failure else ""
        why = f"the worker process died, {ATTEMPTS} times" + (f": {failure['error']}" if failure else "")
        self._end(tune_id, Outcome(job.id, "failed", why, text))

    def _end(self, tune_id: str, outcome: Outcome) -> None:
        job = self._jobs[tune_id]
        if again := self.queue.again_with_fewer(job, outcome):
            self.queue.publish(retried(job, again))
            return
        self.outcomes[outcome.trial] = outcome = self.queue.over(job, outcome)
        self.queue.publish(ended(job, outcome))
