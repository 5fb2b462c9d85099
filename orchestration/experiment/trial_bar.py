"""How one trial gets on: a bar with its steps and the expected end where there is a terminal."""

import time
from collections.abc import Callable, Sequence
from typing import TextIO

from gonn_core.trial.__main__ import Printer, describe
from gonn_core.trial.events import Event, is_passing
from orchestration.experiment.progress import StudyProgress, TrialLine, bar
from orchestration.experiment.progress import describe as describe_line
from orchestration.progress import Bar, LiveDisplay


class TrialBar:
    """Shows a trial's events on `stream` while it is entered: a bar on a terminal, with a line for each progress point
    above it; elsewhere plain lines. Ctrl-C or SIGTERM asks for a pause."""

    def __init__(self, trial: str, total: int, stream: TextIO, clock: Callable[[], float] = time.monotonic):
        live = stream.isatty()
        self._study = StudyProgress(trial, {trial: trial}, {trial: total})
        self._printer = Printer(stream, wanted=not live)
        self._display = LiveDisplay(self, stream, True, clock) if live else None

    @property
    def _line(self) -> TrialLine:
        (line,) = self._study.trials.values()
        return line

    def line(self) -> str:
        """See `Work`."""
        return describe_line(self._line)

    def bars(self) -> Sequence[Bar]:
        """See `Work`."""
        return [bar(line) for line in self._study.running()]

    def __enter__(self) -> "TrialBar":
        if self._display is not None:
            self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._display is not None:
            self._display.__exit__(*error)

    def __call__(self, event: Event) -> bool:
        """Show an event; False once a pause was asked for."""
        self._study.hear(event)
        if self._display is not None:
            if not is_passing(event):
                self._display.note(describe(event))
            self._display.refresh()
        return self._printer(event)
