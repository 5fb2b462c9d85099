"""How long work gets on: bars on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TextIO

PLAIN_SECONDS = 5.0
"""Between two plain lines."""
LIVE_SECONDS = 0.2
"""Between two looks at the work whose bars are drawn."""

WIDE = 100
"""Columns of a terminal from which bars have their full length."""


@dataclass(frozen=True)
class Bar:
    """One bar: what it is called, how much of how much is done, and what is said beside it."""

    label: str
    done: float
    total: float
    text: str


class Work(Protocol):
    """What a display shows."""

    def line(self) -> str:
        """How things stand, in one line."""

    def bars(self) -> Sequence[Bar]:
        """The same as bars, each with a label of its own."""


class Display(Protocol):
    """Shows how some work gets on while it is entered."""

    live: bool
    """Whether bars are drawn."""

    def __enter__(self) -> "Display": ...
    def __exit__(self, *error: object) -> None: ...

    def refresh(self, pause: float = PLAIN_SECONDS) -> bool:
        """Show how things stand, if the last time was so many seconds ago (bars: a moment); whether they were shown."""

    def note(self, text: str, style: str = "") -> None:
        """A line of its own, which stays. style: its colour on a terminal."""


def display(
    work: Work,
    stream: TextIO | None = None,
    transient: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> Display:
    """Bars where `stream` (default: stderr) is a terminal, plain lines elsewhere. transient: bars leave nothing behind.
    clock: seconds."""
    stream = stream or sys.stderr
    return LiveDisplay(work, stream, transient, clock) if stream.isatty() else PlainDisplay(work, stream, clock)


class PlainDisplay:
    """Whole lines without control characters."""

    live = False

    def __init__(self, work: Work, stream: TextIO, clock: Callable[[], float]):
        self._work, self._stream, self._clock = work, stream, clock

    def __enter__(self) -> "PlainDisplay":
        self._last = self._clock()
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def refresh(self, pause: float = PLAIN_SECONDS) -> bool:
        """See `Display`."""
        now = self._clock()
        if now - self._last < pause:
            return False
        self._last = now
        self.note(self._work.line())
        return True

    def note(self, text: str, style: str = "") -> None:
        """See `Display`."""
        print(text, file=self._stream, flush=True)


class LiveDisplay:
    """Bars redrawn in place, below the notes."""

    live = True

    def __init__(self, work: Work, stream: TextIO, transient: bool, clock: Callable[[], float]):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
        from rich.table import Column

        console = Console(file=stream, highlight=False, markup=False, emoji=False)

        self._work, self._clock, self._last = work, clock, clock()
        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24 if console.width >= WIDE else 8),
            SpinnerColumn("line", finished_text=" "),  # it moves while nothing is told
            # Words wrap: in a narrow terminal nothing that is said is lost.
            TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=False)),
            console=console,
            transient=transient,
        )

    def __enter__(self) -> "LiveDisplay":
        self._progress.start()
        self.refresh(0.0)
        return self

    def __exit__(self, *error: object) -> None:
        self.refresh(0.0)
        self._progress.stop()

    def refresh(self, pause: float = PLAIN_SECONDS) -> bool:
        """See `Display`."""
        now = self._clock()
        if pause > 0 and now - self._last < LIVE_SECONDS:
            return False
        self._last = now
        bars = {bar.label: bar for bar in self._work.bars()}
        for label in self._tasks.keys() - bars.keys():
            self._progress.remove_task(self._tasks.pop(label))
        for label, bar in bars.items():
            if label not in self._tasks:
                self._tasks[label] = self._progress.add_task(label, text="")
            self._progress.update(self._tasks[label], completed=bar.done, total=bar.total, text=bar.text)
        return True

    def note(self, text: str, style: str = "") -> None:
        """See `Display`."""
        self._progress.console.print(text, style=style or None, soft_wrap=True)


def duration(seconds: float | None) -> str:
    """0:07, 12:34, 3:04:05; -:-- when not known."""
    if seconds is None:
        return "-:--"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
