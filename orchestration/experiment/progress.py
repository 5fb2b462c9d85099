"""How trials get on, by their events: a bar per running trial and one for all of them; plain lines where there is no
terminal."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import TextIO

from gonn_core.errors import printable
from gonn_core.metrics import watched
from gonn_core.trial.events import (
    Begun,
    Compiling,
    Evaluating,
    Event,
    Failed,
    Finished,
    Mended,
    Preparing,
    Retried,
    Waiting,
)
from orchestration.progress import Bar, Display, display, duration

ALL = "all trials"
"""What the bar of all of them is called; whose they are stands above."""
_OVER = ("finished", "failed", "paused")


@dataclass
class TrialLine:
    """One trial as far as it was heard of."""

    label: str
    total: int
    samples: int = 0
    rate: float | None = None
    nats: float | None = None
    evaluated_from: float | None = None
    """When its evaluation began, by the study's clock; None before that."""
    state: str = "pending"
    """pending, or the kind of the last event."""
    note: str = ""

    @property
    def running(self) -> bool:
        return self.state not in ("pending", *_OVER)

    @property
    def seconds_left(self) -> float | None:
        """Of training; None before a rate is known."""
        return (self.total - self.samples) / self.rate if self.rate else None


class StudyProgress:
    """Everything that events said, trial by trial."""

    def __init__(
        self,
        title: str,
        labels: Mapping[str, str],
        totals: Mapping[str, int],
        clock: Callable[[], float] = time.monotonic,
    ):
        """`labels`, `totals`: trial id -> what it is called, its samples. clock: seconds."""
        self.title, self._clock = printable(title), clock
        self._evaluations: list[float] = []
        """Seconds that trials were evaluated which ended."""
        self.trials = {trial: TrialLine(printable(label), totals[trial]) for trial, label in labels.items()}

    def add(self, labels: Mapping[str, str], totals: Mapping[str, int]) -> None:
        """More trials."""
        self.trials |= {trial: TrialLine(printable(label), totals[trial]) for trial, label in labels.items()}

    def hear(self, event: Event) -> TrialLine | None:
        """Take an event in; the trial's line, None for a trial that is not shown."""
        line = self.trials.get(event.trial)
        if line is None:
            return None
        if isinstance(event, Evaluating) and line.evaluated_from is None:
            line.evaluated_from = self._clock()
        elif isinstance(event, Finished) and line.evaluated_from is not None:
            self._evaluations.append(self._clock() - line.evaluated_from)
        line.state = event.kind
        line.samples = event.samples if isinstance(event, Retried) else max(line.samples, event.samples)
        line.rate = event.samples_per_s or line.rate
        line.nats = event.nats if event.nats is not None else line.nats
        if isinstance(event, Retried):
            line.evaluated_from = None
        line.note = _note(event)
        return line

    def running(self) -> list[TrialLine]:
        """Trials at work, in the study's order."""
        return [line for line in self.trials.values() if line.running]

    def count(self, state: str) -> int:
        """Trials in a state."""
        return sum(line.state == state for line in self.trials.values())

    @property
    def share(self) -> float:
        """Share of all samples that is done."""
        return self._done / self._total if self._total else 1.0

    @property
    def _done(self) -> float:
        return sum(line.total if line.state == "finished" else line.samples for line in self.trials.values())

    @property
    def _total(self) -> int:
        return sum(line.total for line in self.trials.values())

    @property
    def seconds_left(self) -> float | None:
        """Of training, at the rate of those that run, and of evaluation, as long as it took so far; None before a rate
        is known, and while the first evaluations are all that is left."""
        to_come = [line for line in self.trials.values() if line.state not in _OVER]
        rate = sum(line.rate for line in self.running() if line.rate)
        left = sum(line.total - line.samples for line in to_come)
        if not rate or not (left or self._evaluations):
            return None
        return left / rate + self.evaluation_left(to_come) / max(1, len(self.running()))

    def evaluation_left(self, lines: Sequence[TrialLine]) -> float:
        """Seconds that these trials are still evaluated, one after the other; 0 before one was evaluated to its end."""
        usual = mean(self._evaluations) if self._evaluations else 0.0
        begun = (self._clock() - line.evaluated_from if line.evaluated_from is not None else 0.0 for line in lines)
        return sum(max(0.0, usual - seconds) for seconds in begun)

    def summary(self) -> str:
        """All trials in one line."""
        return f"{self.title}: {self._counts()}"

    def _counts(self) -> str:
        if self.trials and all(line.state == "pending" for line in self.trials.values()):
            return f"starting the workers of {len(self.trials)} trials"
        parts = [f"{self.count('finished')}/{len(self.trials)} trials done"]
        parts += [f"{self.count('failed')} failed"] if self.count("failed") else []
        parts += [f"{100 * self.share:.0f} % of samples", f"ETA {duration(self.seconds_left)}"]
        return ", ".join(parts)

    def line(self) -> str:
        """All trials, and each that runs."""
        return " | ".join([self.summary(), *map(describe, self.running())])

    def bars(self) -> list[Bar]:
        """One for all trials, and one for each that runs."""
        return [Bar(ALL, self._done, self._total, self._counts()), *map(bar, self.running())]


def _note(event: Event) -> str:
    """What is said of a trial in place of how far it is."""
    match event:
        case Begun():
            return "starting"
        case Waiting():
            return "trained by another command, waiting for its result"
        case Preparing():
            return f"storing the ladder planes of the data set {event.positions:,}/{event.of:,}"
        case Compiling():
            return "compiling the net"
        case Evaluating():
            return f"evaluating {event.split} {event.positions:,}/{event.of:,}"
        case Failed() | Retried() | Mended():
            return printable(event.message)
    return ""


def describe(line: TrialLine) -> str:
    """A running trial in one line."""
    nats = f", {watched(line.nats)}" if line.nats is not None else ""
    if line.note:
        return f"{line.label}: {line.note}{nats}"
    rate = f", {line.rate:,.0f}/s" if line.rate else ""
    return f"{line.label}: {line.samples:,}/{line.total:,}{rate}, ETA {duration(line.seconds_left)}{nats}"


def bar(line: TrialLine) -> Bar:
    """The same as a bar."""
    return Bar(line.label, line.samples, line.total, describe(line).removeprefix(f"{line.label}: "))


def show(
    title: str,
    labels: Mapping[str, str],
    totals: Mapping[str, int],
    stream: TextIO | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> "StudyDisplay":
    """A display of trials on `stream` (default: stdout)."""
    study = StudyProgress(title, labels, totals, clock)
    return StudyDisplay(study, display(study, stream or sys.stdout, clock=clock))


class StudyDisplay:
    """Shows what events say, while it is entered: `with show(…) as events: runner.run(jobs, slots, events)`. What goes
    wrong is a line of its own; where bars are drawn, so is a trial that is done."""

    def __init__(self, study: StudyProgress, display: Display):
        self._study, self._display = study, display

    def __enter__(self) -> "StudyDisplay":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)
        if not self._display.live:
            self._display.note(self._study.summary())

    def add(self, labels: Mapping[str, str], totals: Mapping[str, int]) -> None:
        """More trials than it was made for."""
        self._study.add(labels, totals)

    def note(self, text: str) -> None:
        """A line of its own."""
        self._display.note(text)

    def __call__(self, event: Event) -> None:
        line = self._study.hear(event)
        if isinstance(event, Mended):
            self._display.note(f"{line.label if line else event.trial}: {printable(event.message, 1000)}", "red")
            return
        if line is not None and line.state in ("failed", "retried"):
            self._display.note(f"{line.label}: {line.state}: {line.note}", "red")
            return
        if line is not None and line.state == "finished" and self._display.live:
            nats = f", {watched(line.nats)}" if line.nats is not None else ""
            self._display.note(f"{line.label}: done{nats}", "green")
        self._display.refresh()
