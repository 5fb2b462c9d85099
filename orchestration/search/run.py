"""Runs a search: hands jobs to a runner as slots come free, stops hopeless trials, tells the optimiser how each ended.

The journal says which rates were asked for, the trial directories what became of them: a command that follows a killed
one tells what they know, goes on with what was under way, and asks for the rest.
"""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

from ablations.search import Search, Tried
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation
from gonn_core.trial.events import event
from gonn_core.trial.job import Job, RunSettings
from orchestration.runners.base import OnEvent, Runner
from orchestration.search.optuna_rates import RateOptimiser
from orchestration.search.pruning import is_hopeless

FAILURES = 3
"""After so many trials that failed for another reason than their rate, no more are asked for."""
DIVERGED = ("Diverged", "NotFinite")
"""Errors that a rate causes, by name; also in the words of a command that waited for another."""


def is_divergence(error: str) -> bool:
    """Whether a trial's error says that its rate is too high."""
    return any(f"{name}:" in error for name in DIVERGED)


class SearchRun:
    """One command's part in a search: an iterator of jobs, and a listener to their events."""

    def __init__(
        self,
        search: Search,
        settings: RunSettings,
        optimiser: RateOptimiser,
        on_event: OnEvent,
        asked: Callable[[Tried], object],
    ):
        """asked: told each rate whose trial is about to begin or go on, before any of its events."""
        self._search, self._settings, self._optimiser, self._on_event, self._asked = (
            search,
            settings,
            optimiser,
            on_event,
            asked,
        )
        self._running: dict[str, Tried] = {}
        self._stopped: set[str] = set()
        self.failures: list[tuple[Tried, str]] = []
        """Trials that failed for another reason than their rate, with the error."""

    def run(self, engine: Runner, slots: int | None) -> None:
        """Bring the search to its end. Raises KeyboardInterrupt when stopped; the next call goes on."""
        left = [tried for tried in self._optimiser.tried() if tried.state == "running"]
        under_way = [tried for tried in left if not self._was_trained(tried)]
        if under_way or self._wanted():
            engine.run(self._jobs(under_way), min(slots, self._search.trials) if slots else None, self)

    def job(self, tried: Tried) -> Job:
        """The trial at a rate."""
        return Job(
            config=self._search.at(tried.rate),
            run=self._settings,
            labels={"search": self._search.id, "number": str(tried.number)},
        )

    def __call__(self, event: dict) -> bool:
        """Hear an event; False when the trial is to stop."""
        go_on = self._on_event(event) is not False
        tried = self._running.get(event["trial"])
        if tried is None:
            return go_on
        match event["event"]:
            case "point":
                if self._point(tried, event["samples"], event["nats"]):
                    self._stopped.add(tried.trial)
                    return False
            case "finished":
                self._end(tried)
            case "failed":
                self._end(tried, event["message"])
            case "paused":
                self._end(tried)
        return go_on

    def _jobs(self, under_way: list[Tried]) -> Iterator[Job]:
        for tried in under_way:
            yield self._begin(tried)
        while self._wanted():
            tried = self._optimiser.ask()
            if not self._was_trained(tried):
                yield self._begin(tried)

    def _was_trained(self, tried: Tried) -> bool:
        """Whether the trial is finished already, by whomever; if so it is told like one that finishes now."""
        if not self._known(tried):
            return False
        total, last = self._search.config.training.samples, max(tried.points, default=None)
        self._asked(tried)
        self._on_event(event("finished", tried.trial, total, total, tried.points.get(last), None))
        return True

    def _begin(self, tried: Tried) -> Job:
        self._running[tried.trial] = tried
        self._asked(tried)
        return self.job(tried)

    def _wanted(self) -> bool:
        """Whether another rate is to be asked for: failed trials are made up for."""
        counted = sum(tried.state != "failed" for tried in self._optimiser.tried())
        return counted < self._search.trials and len(self.failures) < FAILURES

    def _point(self, tried: Tried, samples: int, nats: float | None) -> bool:
        """Take a point in; True when the trial is to be given up."""
        if nats is None or not math.isfinite(nats):
            return False
        if samples not in tried.points:
            tried.points[samples] = nats
            self._optimiser.report(tried.number, samples, nats)
        finished = [other.points for other in self._optimiser.tried() if other.state == "done"]
        return is_hopeless(tried.points, self._search.config.training.samples, finished, self._search.pruning)

    def _end(self, tried: Tried, error: str | None = None) -> None:
        """The trial's last word: from its directory where it is done."""
        self._running.pop(tried.trial)
        if error is not None and is_divergence(error):
            self._optimiser.tell_diverged(tried.number)
        elif error is not None:
            self._optimiser.tell_failed(tried.number)
            self.failures.append((tried, error))
        elif not self._known(tried) and tried.trial in self._stopped:
            self._optimiser.tell_pruned(tried.number)

    def _known(self, tried: Tried) -> bool:
        """Tell the optimiser what a finished trial's directory says; False when it is not finished."""
        directory, job = TrialDirectory(Path(self._settings.runs) / tried.trial), self.job(tried)
        found = find_evaluation(directory, job, self._search.validation) if directory.result() is not None else None
        if found is None:
            return False
        for line in directory.metrics():
            if line["samples"] not in tried.points and math.isfinite(line.get("nats", math.nan)):
                tried.points[line["samples"]] = line["nats"]
                self._optimiser.report(tried.number, line["samples"], line["nats"])
        self._optimiser.tell_done(tried.number, found["nats"])
        return True
