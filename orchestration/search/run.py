"""Runs a search: hands jobs to a runner as slots come free, stops hopeless trials, reports to the optimiser how each
ended.

The journal says which rates were asked for, the trial directories how their trials ended: a command that follows a
killed one reads both, resumes unfinished trials, and asks for the rest.

A trial is hopeless at a point of its curve when it is further from the best finished trial than twice as far as their
median is: where finished trials lie close together near the optimum, a small distance is enough. No point counts before
a share of the samples, since a high rate looks bad until the schedule lowers it, nor before a few trials were finished;
several bad points in a row stop the trial. (Optuna's PatientPruner waits until a loss stops improving, which none does
before its rate reaches 0; its PercentilePruner stops a fixed share of trials however close they are.)
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from ablations.search import Pruning, Search, Tried
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.evaluations import find_evaluation
from gonn_core.trial.events import Event, Failed, Finished, Paused, Point
from gonn_core.trial.job import Job, RunSettings
from gonn_core.trial.mending import whole_result
from orchestration.runners.base import OnEvent
from orchestration.search.optuna_rates import RateOptimiser

FAILURES = 3
"""After so many trials that failed for another reason than their rate, no more are asked for."""

DIVERGED = ("Diverged", "NotFinite")
"""Errors that a rate causes, by name; also in the text of a command that waited for another."""

OnTried = Callable[[Tried], object]
"""Called with each rate whose trial is about to begin or resume, before any of its events."""


class SearchRun:
    """One command's part in a search: an iterator of jobs, and a listener to their events."""

    def __init__(self, search: Search, settings: RunSettings, optimiser: RateOptimiser, on_event: OnEvent):
        """on_event: also called with every event."""
        self._search, self._settings, self._optimiser, self._on_event = search, settings, optimiser, on_event
        self._running: dict[str, Tried] = {}
        self._stopped: set[str] = set()
        self.failures: list[tuple[Tried, str]] = []
        """Trials that failed for another reason than their rate, with the error."""

    def jobs(self, on_tried: OnTried) -> Iterator[Job]:
        """What brings the search to its end: trials that are under way, then rates that are asked for one by one."""
        under_way = [tried for tried in self._optimiser.tried() if tried.state == "running"]
        for tried in under_way:
            if not self._was_trained(tried, on_tried):
                yield self._begin(tried, on_tried)
        while self._needs_more():
            tried = self._optimiser.ask()
            if not self._was_trained(tried, on_tried):
                yield self._begin(tried, on_tried)

    def job(self, tried: Tried) -> Job:
        """The trial at a rate."""
        return Job(
            config=self._search.at(tried.rate),
            run=self._settings,
            labels={"search": self._search.id, "number": str(tried.number)},
        )

    def __call__(self, event: Event) -> bool:
        """Hear an event; False when the trial is to stop. Of a finished trial others hear the nats by which the search
        judges it, not those of its last look along the way, which is at fewer positions."""
        tried = self._running.get(event.trial)
        if tried is not None and isinstance(event, Finished):
            event = replace(event, nats=self._nats_of(tried))
        keep = self._on_event(event) is not False
        if tried is None:
            return keep
        match event:
            case Point() if self._point(tried, event.samples, event.nats):
                self._stopped.add(tried.trial)
                return False
            case Failed():
                self._end(tried, event.message)
            case Finished() | Paused():
                self._end(tried)
        return keep

    def _was_trained(self, tried: Tried, on_tried: OnTried) -> bool:
        """If another command already finished this trial, emit Finished and return True."""
        if not self._report_finished(tried):
            return False
        total = self._search.config.training.samples
        on_tried(tried)
        self._on_event(Finished(tried.trial, total, total, self._nats_of(tried)))
        return True

    def _begin(self, tried: Tried, on_tried: OnTried) -> Job:
        self._running[tried.trial] = tried
        on_tried(tried)
        return self.job(tried)

    def _needs_more(self) -> bool:
        """Whether another rate is to be asked for: failed trials are replaced."""
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
        """Report how the trial ended, by its directory if it is finished."""
        self._running.pop(tried.trial)
        if error is not None and is_divergence(error):
            self._optimiser.tell_diverged(tried.number)
        elif error is not None:
            self._optimiser.tell_failed(tried.number)
            self.failures.append((tried, error))
        elif not self._report_finished(tried) and tried.trial in self._stopped:
            self._optimiser.tell_pruned(tried.number)

    def _report_finished(self, tried: Tried) -> bool:
        """Report to the optimiser what a finished trial's directory holds; False when it is not finished."""
        directory, nats = self._directory(tried), self._nats_of(tried)
        if nats is None:
            return False
        for line in directory.metrics():
            if line["samples"] not in tried.points and math.isfinite(line.get("nats", math.nan)):
                tried.points[line["samples"]] = line["nats"]
                self._optimiser.report(tried.number, line["samples"], line["nats"])
        self._optimiser.tell_done(tried.number, nats)
        return True

    def _nats_of(self, tried: Tried) -> float | None:
        """What the search judges a trial by; None before it is finished and evaluated."""
        directory = self._directory(tried)
        finished = whole_result(directory) is not None
        evaluation = find_evaluation(directory, self.job(tried), self._search.validation) if finished else None
        return None if evaluation is None else evaluation["nats"]

    def _directory(self, tried: Tried) -> TrialDirectory:
        return TrialDirectory(Path(self._settings.runs) / tried.trial)


def is_divergence(error: str) -> bool:
    """Whether a trial's error says that its rate is too high."""
    return any(f"{name}:" in error for name in DIVERGED)


def is_hopeless(
    points: Mapping[int, float], total: int, finished: Sequence[Mapping[int, float]], rule: Pruning
) -> bool:
    """Whether a trial with `points` (samples -> nats) so far, of `total` samples, is to be stopped.

    finished: the points of each trial that went to its end; those without one at the same samples do not count.
    """
    latest = sorted(points)[-rule.looks :]
    return (
        len(latest) == rule.looks
        and latest[-1] < total
        and all(_is_bad(samples, points[samples], total, finished, rule) for samples in latest)
    )


def _is_bad(samples: int, nats: float, total: int, finished: Sequence[Mapping[int, float]], rule: Pruning) -> bool:
    others = [points[samples] for points in finished if samples in points]
    if samples < rule.after * total or len(others) < rule.others:
        return False
    best = min(others)
    return nats - best > 2 * (median(others) - best)
