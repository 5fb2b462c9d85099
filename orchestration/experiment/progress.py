"""A display of trials, by their events: a bar per running trial and one for all of them; plain lines where there is no
terminal."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import TextIO

from gonn_core.errors import printable
from gonn_core.metrics import watched
from gonn_core.trial.events import (
    Begun,
    Compiling,
    Evaluating,
    Event,
    Failed,
    Mended,
    Preparing,
    Retried,
    Waiting,
)
from orchestration.console import Bar, Display, duration

ALL = "all trials"
"""Label of their bar."""
_OVER = ("finished", "failed", "paused")


@dataclass
class TrialLine:
    """One trial, by its events so far."""

    label: str
    total: int
    samples: int = 0
    rate: float | None = None
    nats: float | None = None
    state: str = "pending"
    """pending, or the kind of the last event."""
    note: str = ""

    @property
    def running(self) -> bool:
        return self.state not in ("pending", *_OVER)

    @property
    def done(self) -> int:
        """Samples; all of them once it has finished."""
        return self.total if self.state == "finished" else self.samples

    @property
    def text(self) -> str:
        """How far it is, in one line."""
        nats = f", {watched(self.nats)}" if self.nats is not None else ""
        if self.note:
            return f"{self.note}{nats}"
        rate = f", {self.rate:,.0f}/s" if self.rate else ""
        left = duration((self.total - self.done) / self.rate if self.rate else None)
        return f"{self.samples:,}/{self.total:,}{rate}, ETA {left}{nats}"

    def take(self, event: Event) -> None:
        """Take an event in."""
        self.state = event.kind
        self.samples = event.samples if isinstance(event, Retried) else max(self.samples, event.samples)
        self.rate = event.samples_per_s or self.rate
        self.nats = event.nats if event.nats is not None else self.nats
        match event:
            case Begun():
                self.note = "starting"
            case Waiting():
                self.note = "trained by another command, waiting for its result"
            case Preparing():
                self.note = f"storing the ladder planes of the data set {event.positions:,}/{event.of:,}"
            case Compiling():
                self.note = "compiling the net"
            case Evaluating():
                self.note = f"evaluating {event.split} {event.positions:,}/{event.of:,}"
            case Failed() | Retried() | Mended():
                self.note = printable(event.message)
            case _:
                self.note = ""


class StudyDisplay:
    """Shows what events say, while it is entered: `with StudyDisplay(…) as events: runner.run(jobs, slots, events)`.
    What goes wrong is a line of its own; where bars are drawn, so is a trial that is done."""

    def __init__(
        self,
        labels: Mapping[str, str],
        totals: Mapping[str, int],
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        """labels, totals: trial id -> its name, its samples. stream: default stdout."""
        self.trials: dict[str, TrialLine] = {}
        self._most_running = 0
        self.add(labels, totals)
        self._display = Display(self.bars, stream or sys.stdout, clock=clock)

    def add(self, labels: Mapping[str, str], totals: Mapping[str, int]) -> None:
        """More trials."""
        self.trials |= {trial: TrialLine(printable(label), totals[trial]) for trial, label in labels.items()}

    def __enter__(self) -> "StudyDisplay":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)
        if not self._display.live:
            self.note(f"{ALL}: {self.summary}")

    def note(self, text: str, style: str = "") -> None:
        """A line of its own."""
        self._display.note(text, style)

    def __call__(self, event: Event) -> None:
        line = self.trials.get(event.trial)
        if isinstance(event, Mended):
            self.note(f"{line.label if line else event.trial}: {printable(event.message, 1000)}", "red")
        if line is None:
            return
        line.take(event)
        self._most_running = max(self._most_running, sum(each.running for each in self.trials.values()))
        if isinstance(event, Failed | Retried):
            self.note(f"{line.label}: {event.kind}: {line.note}", "red")
        elif event.kind == "finished" and self._display.live:
            nats = f", {watched(line.nats)}" if line.nats is not None else ""
            self.note(f"{line.label}: done{nats}", "green")
        self._display.refresh()

    @property
    def summary(self) -> str:
        """All trials in one line."""
        lines = self.trials.values()
        if lines and all(line.state == "pending" for line in lines):
            return f"starting the workers of {len(lines)} trials"
        done, failed = (sum(line.state == state for line in lines) for state in ("finished", "failed"))
        total = sum(line.total for line in lines)
        share = sum(line.done for line in lines) / total if total else 1.0
        left = sum(line.total - line.samples for line in lines if line.state not in _OVER)
        # A trial that begins has no rate yet, and for a moment after one has finished fewer run.
        rates = [line.rate for line in lines if line.running and line.rate]
        rate = fmean(rates) * min(self._most_running, sum(line.state not in _OVER for line in lines)) if rates else 0.0
        counts = f"{done}/{len(lines)} trials done" + (f", {failed} failed" if failed else "")
        return f"{counts}, {100 * share:.0f} % of samples, ETA {duration(left / rate if rate and left else None)}"

    def bars(self) -> list[Bar]:
        """One for all trials, and one for each that runs."""
        done, total = (sum(getattr(line, name) for line in self.trials.values()) for name in ("done", "total"))
        running = [line for line in self.trials.values() if line.running]
        return [
            Bar(ALL, done, total, self.summary),
            *(Bar(line.label, line.done, line.total, line.text) for line in running),
        ]
