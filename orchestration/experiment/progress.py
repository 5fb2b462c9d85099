"""How a study is getting on: a live line per running trial and one for the study; plain lines where there is no
terminal."""

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TextIO

from gonn_core.errors import printable

PLAIN_SECONDS = 5.0
_OVER = ("finished", "failed", "paused")


@dataclass
class TrialLine:
    """One trial as far as it was heard of."""

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
    def seconds_left(self) -> float | None:
        """Of training; None before a rate is known."""
        return (self.total - self.samples) / self.rate if self.rate else None


class StudyProgress:
    """Everything that events said, trial by trial."""

    def __init__(self, title: str, labels: Mapping[str, str], totals: Mapping[str, int]):
        """`labels`, `totals`: trial id -> what it is called, its samples."""
        self.title = printable(title)
        self.trials = {trial: TrialLine(printable(label), totals[trial]) for trial, label in labels.items()}

    def hear(self, event: dict) -> TrialLine | None:
        """Take an event in; the trial's line, None for a trial that is not shown."""
        line = self.trials.get(event["trial"])
        if line is None:
            return None
        line.state = event["event"]
        line.samples = max(line.samples, event["samples"]) if line.state != "retried" else event["samples"]
        line.rate = event["samples_per_s"] or line.rate
        line.nats = event["nats"] if event["nats"] is not None else line.nats
        line.note = {
            "begun": lambda: "starting",
            "waiting": lambda: "trained by another command, waiting for its result",
            "evaluating": lambda: f"evaluating {event['split']} {event['positions']:,}/{event['of']:,}",
        }.get(line.state, lambda: printable(event.get("message", "")))()
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
        total = sum(line.total for line in self.trials.values())
        return (
            sum(line.total if line.state == "finished" else line.samples for line in self.trials.values()) / total
            if total
            else 1.0
        )

    @property
    def seconds_left(self) -> float | None:
        """Of training, at the rate of those that run; None before one is known."""
        rate = sum(line.rate for line in self.running() if line.rate)
        left = sum(line.total - line.samples for line in self.trials.values() if line.state not in _OVER)
        return left / rate if rate else None

    def summary(self) -> str:
        """One line for the study."""
        parts = [f"{self.count('finished')}/{len(self.trials)} trials done"]
        parts += [f"{self.count('failed')} failed"] if self.count("failed") else []
        parts += [f"{100 * self.share:.0f} % of samples", f"ETA {duration(self.seconds_left)}"]
        return f"{self.title}: {', '.join(parts)}"


def duration(seconds: float | None) -> str:
    """0:07, 12:34, 3:04:05; -:-- when not known."""
    if seconds is None:
        return "-:--"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def describe(line: TrialLine) -> str:
    """A running trial in one line."""
    nats = f", {line.nats:.3f} nats" if line.nats is not None else ""
    if line.note:
        return f"{line.label}: {line.note}{nats}"
    rate = f", {line.rate:,.0f}/s" if line.rate else ""
    return f"{line.label}: {line.samples:,}/{line.total:,}{rate}, ETA {duration(line.seconds_left)}{nats}"


class Display(Protocol):
    """Used around a run: `with show(...) as display: runner.run(jobs, slots, display)`."""

    def __enter__(self) -> "Display": ...
    def __exit__(self, *error) -> None: ...
    def __call__(self, event: dict) -> None: ...


def show(title: str, labels: Mapping[str, str], totals: Mapping[str, int], stream: TextIO | None = None) -> Display:
    """A live display where `stream` (default: stdout) is a terminal, plain lines elsewhere."""
    stream = stream or sys.stdout
    study = StudyProgress(title, labels, totals)
    return LiveDisplay(study, stream) if stream.isatty() else PlainDisplay(study, stream)


class PlainDisplay:
    """Whole lines without control characters: one on the state of things every few seconds, and one when something goes
    wrong."""

    def __init__(self, study: StudyProgress, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        self._study, self._stream, self._clock = study, stream, clock

    def __enter__(self):
        self._next = self._clock() + PLAIN_SECONDS
        return self

    def __exit__(self, *error):
        self._print(self._study.summary())

    def __call__(self, event: dict) -> None:
        line = self._study.hear(event)
        if line is not None and line.state in ("failed", "retried"):
            self._print(f"{line.label}: {line.state}: {line.note}")
        elif self._clock() >= self._next:
            self._next = self._clock() + PLAIN_SECONDS
            self._print(" | ".join([self._study.summary(), *map(describe, self._study.running())]))

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


class LiveDisplay:
    """A line per running trial, redrawn in place, below what is worth keeping: trials that ended."""

    def __init__(self, study: StudyProgress, stream: TextIO):
        from rich.console import Console
        from rich.live import Live

        self._study = study
        self._console = Console(file=stream, highlight=False)
        self._live = Live(console=self._console, get_renderable=self._render, refresh_per_second=4)

    def __enter__(self):
        self._live.__enter__()
        return self

    def __exit__(self, *error):
        self._live.__exit__(*error)

    def __call__(self, event: dict) -> None:
        line = self._study.hear(event)
        if line is None:
            return
        if line.state in ("failed", "retried"):
            self._console.print(f"{line.label}: {line.state}: {line.note}", style="red", markup=False)
        elif line.state == "finished":
            nats = f" at {line.nats:.3f} nats" if line.nats is not None else ""
            self._console.print(f"{line.label}: done{nats}", style="green", markup=False)

    def _render(self):
        from rich.console import Group
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        table = Table.grid(padding=(0, 1))
        table.add_column(no_wrap=True)
        table.add_column(width=24)
        table.add_column(no_wrap=True)
        for line in self._study.running():
            text = describe(line).removeprefix(f"{line.label}: ")
            table.add_row(Text(line.label), ProgressBar(total=line.total, completed=line.samples, width=24), Text(text))
        return Group(table, Text(self._study.summary(), style="bold"))
