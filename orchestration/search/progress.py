"""How a search gets on."""

import time
from collections.abc import Callable
from typing import TextIO

from ablations.search import Search, Tried
from gonn_core.metrics import watched
from gonn_core.trial.events import Event
from orchestration.experiment.progress import ALL, StudyProgress, TrialLine, bar, describe
from orchestration.progress import Bar, display, duration
from orchestration.search.pruning import is_divergence


class SearchDisplay:
    """Shows what events say about the trials of a search, while it is entered: a line when a trial ends, and how those
    that run get on."""

    def __init__(
        self,
        search: Search,
        ended: int,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """ended: trials that need no more work. stream: standard error."""
        self._search, self._ended = search, ended
        self._progress = StudyProgress(search.id, {}, {}, clock)
        self._display = display(self, stream, clock=clock)
        self._best: tuple[float, float] | None = None
        self._rates: dict[str, float] = {}

    def __enter__(self) -> "SearchDisplay":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def begin(self, tried: Tried) -> None:
        """A rate whose trial begins or goes on."""
        self._rates[tried.trial] = tried.rate
        self._progress.trials[tried.trial] = TrialLine(
            f"rate {tried.rate:.4g}", self._search.config.training.samples, max(tried.points, default=0)
        )

    def __call__(self, event: Event) -> None:
        line = self._progress.hear(event)
        if line is None:
            return
        if line.state in ("finished", "failed", "paused"):
            self._ended += 1
            nats = "" if line.nats is None else watched(line.nats, digits=4)
            if line.state == "finished" and line.nats is not None:
                here = (line.nats, self._rates[event.trial])
                self._best = min(self._best or here, here)
            outcome = {
                "finished": nats or "done",
                "failed": _failure(line.note),
                "paused": f"stopped at {line.samples:,} samples, {nats}",
            }[line.state]
            self._display.note(f"{line.label}: {outcome}{self._so_far()}")
        elif line.state == "retried":
            self._display.note(f"{line.label}: retried: {line.note}")
        else:
            self._display.refresh()

    def line(self) -> str:
        """All trials, and each that runs."""
        return " | ".join([f"{self._search.id}: {self._counts()}", *map(describe, self._progress.running())])

    def bars(self) -> list[Bar]:
        """One for all trials, and one for each that runs."""
        trials = Bar(ALL, self._ended, self._search.trials, self._counts())
        return [trials, *map(bar, self._progress.running())]

    def _counts(self) -> str:
        return f"{self._ended}/{self._search.trials} trials, ETA {duration(self._seconds_left())}"

    def _so_far(self) -> str:
        best = f"; best of this run {self._best[0]:.4f} validation nats at {self._best[1]:.4g}" if self._best else ""
        return f" ({self._ended}/{self._search.trials}{best})"

    def _seconds_left(self) -> float | None:
        """If no further trial is given up."""
        running, samples = self._progress.running(), self._search.config.training.samples
        rate = sum(line.rate for line in running if line.rate)
        left = [*running, *(self._search.trials - self._ended - len(running)) * [TrialLine("", samples)]]
        evaluation = self._progress.evaluation_left(left) / max(1, len(running))
        return sum(line.total - line.samples for line in left) / rate + evaluation if rate else None


def _failure(why: str) -> str:
    """A rate that is too high is an answer, no failure."""
    return f"diverged: {why.rpartition('Diverged: ')[2]}" if is_divergence(why) else f"failed: {why}"
