"""The terminal: one console for what is asked for, one for what happens meanwhile, and displays of how work advances:
bars on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from rich.console import Console

WIDTH_OF_PIPES = 160
LOADING = "loading PyTorch and the rest of the program"
"""What `moving` shows while a verb's modules are imported: seconds on a busy machine."""
PLAIN_SECONDS = 5.0
"""Between two plain lines."""
LIVE_SECONDS = 0.2
"""Between two updates of bars."""
WIDE = 100
"""Columns of a terminal from which bars have their full length."""


def output() -> Console:
    """Standard output; as wide as the terminal, or wide enough for a table when piped; no markup, no emoji, no guessing
    of colours."""
    return Console(width=None if sys.stdout.isatty() else WIDTH_OF_PIPES, markup=False, emoji=False, highlight=False)


def notes() -> Console:
    """Standard error, for progress and warnings: lines that are never broken, however long a path is in them."""
    return Console(
        stderr=True,
        width=None if sys.stderr.isatty() else WIDTH_OF_PIPES,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=True,
    )


@contextmanager
def moving(text: str) -> Iterator[None]:
    """While this is entered something moves on a terminal next to `text`, of work that cannot say how far it is;
    nothing is written elsewhere."""
    console = notes()
    if not console.is_terminal:
        yield
        return
    with console.status(text, spinner="line"):
        yield


@dataclass(frozen=True)
class Bar:
    """One bar: its name, how much of how much is done, and the text next to it."""

    label: str
    done: float
    total: float
    text: str


class Display:
    """Shows how work advances while it is entered: bars below the notes where `stream` (default: stderr) is a terminal,
    whole lines without control characters elsewhere.

    bars: called for what to show, each with a label of its own. transient: bars leave nothing behind. clock: seconds.
    """

    def __init__(
        self,
        bars: Callable[[], Sequence[Bar]],
        stream: TextIO | None = None,
        transient: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._bars, self._stream, self._clock, self._last = bars, stream or sys.stderr, clock, clock()
        self.live = self._stream.isatty()
        """Whether bars are drawn."""
        if not self.live:
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
        from rich.table import Column

        console = Console(file=stream, stderr=stream is None, highlight=False, markup=False, emoji=False)
        self._tasks: dict[str, TaskID] = {}
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24 if console.width >= WIDE else 8),
            SpinnerColumn("line", finished_text=" "),  # it moves while nothing is reported
            # Words wrap: in a narrow terminal nothing is lost.
            TextColumn("{task.fields[text]}", markup=False, table_column=Column(no_wrap=False)),
            console=console,
            transient=transient,
        )

    def __enter__(self) -> "Display":
        self._last = self._clock()
        if self.live:
            self._progress.start()
            self.refresh(0.0)
        return self

    def __exit__(self, *error: object) -> None:
        if self.live:
            self.refresh(0.0)
            self._progress.stop()

    def refresh(self, pause: float = PLAIN_SECONDS) -> bool:
        """Show the state, if the last time was so many seconds ago (bars: a moment); whether it was shown."""
        now = self._clock()
        if now - self._last < (min(pause, LIVE_SECONDS) if self.live else pause):
            return False
        self._last = now
        if not self.live:
            self.note(" | ".join(f"{bar.label}: {bar.text}" for bar in self._bars()))
            return True
        bars = {bar.label: bar for bar in self._bars()}
        for label in self._tasks.keys() - bars.keys():
            self._progress.remove_task(self._tasks.pop(label))
        for label, bar in bars.items():
            if label not in self._tasks:
                self._tasks[label] = self._progress.add_task(label, text="")
            self._progress.update(self._tasks[label], completed=bar.done, total=bar.total, text=bar.text)
        return True

    def note(self, text: str, style: str = "") -> None:
        """A line of its own, which stays. style: its colour on a terminal."""
        if self.live:
            self._progress.console.print(text, style=style or None, soft_wrap=True)
        else:
            print(text, file=self._stream, flush=True)


def duration(seconds: float | None) -> str:
    """0:07, 12:34, 3:04:05; -:-- when not known."""
    if seconds is None:
        return "-:--"
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
