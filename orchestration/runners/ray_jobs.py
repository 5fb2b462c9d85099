"""The driver's side of a study under Ray Tune; knows Tune's trials by their ids, and nothing else of Ray."""

from pathlib import Path
from typing import NamedTuple

from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.job import Job
from orchestration.runners.base import ATTEMPTS, Outcome, begun, ended, retried
from orchestration.runners.queue import JobQueue


class Next(NamedTuple):
    """What Tune is told when it asks for a trial."""

    job: Job | None
    """None: not now."""
    gpu: float = 0.0
    """The share of a GPU that the trial takes."""
    over: bool = False
    """There will be no more."""


class RayStudy:
    """The driver's side: which job is next, what Tune's trials say, how they ended. Knows Tune's trials by their
    ids."""

    def __init__(self, queue: JobQueue):
        self.queue = queue
        self._jobs: dict[str, Job] = {}
        self.outcomes: dict[str, Outcome | None] = {}
        """By trial id, in the order of the jobs; None while it runs."""

    def ended(self) -> list[Outcome]:
        """How all jobs ended, in their order."""
        return [outcome for outcome in self.outcomes.values() if outcome is not None]

    def next_job(self, tune_id: str) -> Next:
        """What a new trial of Tune's is to do."""
        job = self.queue.take()
        if job is None:
            return Next(None, over=self.queue.is_empty and not self.queue.may_fill)
        self._jobs[tune_id] = job
        self.outcomes.setdefault(job.id, None)
        return Next(self.queue.handed_out(job), self.queue.slots.share if self.queue.slots else 0.0)

    def start_again(self, why: str) -> None:
        """Ray has died, and another one will ask for what was under way."""
        for job in self._jobs.values():
            if self.outcomes[job.id] is None and job.id not in self.queue.waiting:
                self.queue.again(job)
                self.queue.publish(retried(job, why))
        self._jobs.clear()

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
