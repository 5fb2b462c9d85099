"""Runs a search: hands jobs to a runner as slots come free, stops hopeless trials, reports to the optimiser how each
ended.

The journal says which rates were asked for, the trial directories how their trials ended: a command that follows a
killed one reads both, resumes unfinished trials, and asks for the rest.
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
DIVERGED = ("Diverged:", "NotFinite:")
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
        """The jobs that complete the search: unfinished trials, then rates that are asked for one by one; failed trials
        are replaced. Trials that another command finished are reported only."""
        total = self._search.config.training.samples
        for tried in self._rates():
            if self._report_finished(tried):
                on_tried(tried)
                self._on_event(Finished(tried.trial, total, total, self._nats_of(tried)))
            else:
                self._running[tried.trial] = tried
                on_tried(tried)
                yield self._job(tried)

    def _rates(self) -> Iterator[Tried]:
        yield from [tried for tried in self._optimiser.tried() if tried.state == "running"]
        while len(self.failures) < FAILURES:
            if sum(tried.state != "failed" for tried in self._optimiser.tried()) >= self._search.trials:
                return
            yield self._optimiser.ask()

    def _job(self, tried: Tried) -> Job:
        labels = {"search": self._search.id, "number": str(tried.number)}
        return Job(config=self._search.at(tried.rate), run=self._settings, labels=labels)

    def __call__(self, event: Event) -> bool:
        """Handle an event; False when the trial is to stop. A finished trial's event is forwarded with the nats by
        which the search judges it: those of its last point are over fewer positions."""
        tried = self._running.get(event.trial)
        if tried is not None and isinstance(event, Finished):
            event = replace(event, nats=self._nats_of(tried))
        keep = self._on_event(event) is not False
        if tried is None:
            return keep
        match event:
            case Point() if self._is_hopeless(tried, event.samples, event.nats):
                self._stopped.add(tried.trial)
                return False
            case Failed():
                self._end(tried, event.message)
            case Finished() | Paused():
                self._end(tried)
        return keep

    def _is_hopeless(self, tried: Tried, samples: int, nats: float | None) -> bool:
        """Keep a point; True when the trial is to be stopped."""
        if nats is None or not math.isfinite(nats):
            return False
        self._keep(tried, samples, nats)
        finished = [other.points for other in self._optimiser.tried() if other.state == "done"]
        return is_hopeless(tried.points, self._search.config.training.samples, finished, self._search.pruning)

    def _keep(self, tried: Tried, samples: int, nats: float) -> None:
        if samples not in tried.points:
            tried.points[samples] = nats
            self._optimiser.report(tried.number, samples, nats)

    def _end(self, tried: Tried, error: str | None = None) -> None:
        """Report how the trial ended, by its directory if it is finished."""
        self._running.pop(tried.trial)
        if error is not None and any(name in error for name in DIVERGED):
            self._optimiser.tell(tried.number, "diverged")
        elif error is not None:
            self._optimiser.tell(tried.number, "failed")
            self.failures.append((tried, error))
        elif not self._report_finished(tried) and tried.trial in self._stopped:
            self._optimiser.tell(tried.number, "pruned")

    def _report_finished(self, tried: Tried) -> bool:
        """Report to the optimiser what a finished trial's directory holds; False when it is not finished."""
        nats = self._nats_of(tried)
        if nats is None:
            return False
        for line in self._directory(tried).metrics():
            if math.isfinite(line.get("nats", math.nan)):
                self._keep(tried, line["samples"], line["nats"])
        self._optimiser.tell(tried.number, "done", nats)
        return True

    def _nats_of(self, tried: Tried) -> float | None:
        """What the search judges a trial by; None before it is finished and evaluated."""
        directory = self._directory(tried)
        finished = whole_result(directory) is not None
        evaluation = find_evaluation(directory, self._job(tried), self._search.validation) if finished else None
        return None if evaluation is None else evaluation["nats"]

    def _directory(self, tried: Tried) -> TrialDirectory:
        return TrialDirectory(Path(self._settings.runs) / tried.trial)


def is_hopeless(
    points: Mapping[int, float], total: int, finished: Sequence[Mapping[int, float]], rule: Pruning
) -> bool:
    """Whether a trial with `points` (samples -> nats) so far, of `total` samples, is to be stopped: at each of its last
    points it was further from the best finished trial than twice as far as their median is.

    Where finished trials lie close together near the optimum, a small distance is enough. (Optuna's PatientPruner waits
    until a loss stops improving, which none does before its rate reaches 0; its PercentilePruner stops a fixed share of
    trials however close they are.) No point counts before a share of the samples, since a high rate looks bad until the
    schedule lowers it.

    finished: the points of each trial that went to its end; those without one at the same samples do not count.
    """
    latest = sorted(points)[-rule.looks :]
    if len(latest) < rule.looks or latest[0] < rule.after * total or latest[-1] >= total:
        return False
    for samples in latest:
        others = [other[samples] for other in finished if samples in other]
        if len(others) < rule.others or points[samples] - min(others) <= 2 * (median(others) - min(others)):
            return False
    return True
