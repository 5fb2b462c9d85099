"""How a search is getting on: a plain line when a trial ends and every few seconds, whatever the stream is."""

import time
from collections.abc import Callable

from ablations.search import Search, Tried
from gonn_core.trial.events import Event
from orchestration.experiment.progress import StudyProgress, TrialLine, describe
from orchestration.progress import PLAIN_SECONDS, duration
from orchestration.search.pruning import is_divergence


class SearchLines:
    """Prints what events say about the trials of a search."""

    def __init__(
        self, search: Search, ended: int, say: Callable[[str], object], clock: Callable[[], float] = time.monotonic
    ):
        """ended: trials that need no more work."""
        self._search, self._ended, self._say, self._clock = search, ended, say, clock
        self._progress = StudyProgress(search.id, {}, {})
        self._next = clock() + PLAIN_SECONDS
        self._best: tuple[float, float] | None = None
        self._rates: dict[str, float] = {}

    def asked(self, tried: Tried) -> None:
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
            nats = "" if line.nats is None else f"{line.nats:.4f} nats"
            if line.state == "finished" and line.nats is not None:
                here = (line.nats, self._rates[event.trial])
                self._best = min(self._best or here, here)
            words = {
                "finished": nats or "done",
                "failed": _failure(line.note),
                "paused": f"stopped at {line.samples:,} samples, {nats}",
            }[line.state]
            self._say(f"{line.label}: {words}{self._so_far()}")
        elif line.state == "retried":
            self._say(f"{line.label}: retried: {line.note}")
        elif self._clock() >= self._next:
            self._next = self._clock() + PLAIN_SECONDS
            running = map(describe, self._progress.running())
            trials = f"{self._ended}/{self._search.trials} trials"
            self._say(" | ".join([f"{self._search.id}: {trials}, ETA {duration(self._seconds_left())}", *running]))

    def _so_far(self) -> str:
        best = f"; best of this run {self._best[0]:.4f} at {self._best[1]:.4g}" if self._best else ""
        return f" ({self._ended}/{self._search.trials}{best})"

    def _seconds_left(self) -> float | None:
        """If no further trial is given up."""
        rate = sum(line.rate for line in self._progress.running() if line.rate)
        under_way = sum(line.total - line.samples for line in self._progress.running())
        to_come = (
            max(0, self._search.trials - self._ended - len(self._progress.running()))
            * self._search.config.training.samples
        )
        return (under_way + to_come) / rate if rate else None


def _failure(why: str) -> str:
    """A rate that is too high is an answer, no failure."""
    return f"diverged: {why.rpartition('Diverged: ')[2]}" if is_divergence(why) else f"failed: {why}"
