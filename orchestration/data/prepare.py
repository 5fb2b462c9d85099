"""The store and views of a data set, with progress on the terminal."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ablations.data.datasets import Dataset, PreparedData, prepare
from gonn_core.errors import printable
from gonn_core.records.build import Progress
from orchestration.console import Bar, Display, notes
from reports.workspace import Workspace


def prepare_shown(dataset: Dataset, workspace: Workspace) -> PreparedData:
    """`prepare`, with progress on the terminal and a line for archives that were not found."""
    with BuildProgress() as progress, _log_shown():
        prepared = prepare(dataset, workspace.stores, progress)
    if dataset.missing:
        names = (re.sub(r"\[[^]]*\]|\*", "", pattern) for pattern in dataset.missing)
        notes().print(f"not found: {', '.join(names)}; {prepared.coverage}")
    return prepared


class BuildProgress:
    """Shows how a build gets on; bars go when it is done."""

    def __init__(self) -> None:
        self._state: Progress | None = None
        self._display = Display(self.bars, transient=True)

    def __enter__(self) -> "BuildProgress":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def __call__(self, state: Progress) -> None:
        self._state = state
        self._display.refresh()

    def bars(self) -> list[Bar]:
        """One bar: the share of the games' files that has been read."""
        return [Bar("store", self._state.fraction if self._state else 0.0, 1.0, self._text())]

    def _text(self) -> str:
        state = self._state
        if state is None:
            return "looking for the games' store; where there is none, its kernels are compiled first"
        left = state.seconds / state.fraction - state.seconds if state.fraction > 0 else 0
        return (
            f"{printable(state.source)} ({state.index + 1} of {state.sources}), {state.games:,} games, "
            f"{state.rows:,} positions, {100 * state.fraction:.0f} %, {left:.0f} s left"
        )


class _LogNotes(logging.Handler):
    """Prints what the core logs."""

    def emit(self, record: logging.LogRecord) -> None:
        notes().print(record.getMessage())


@contextmanager
def _log_shown() -> Iterator[None]:
    """While this is entered, what the core logs is shown on the terminal."""
    log, handler = logging.getLogger("gonn_core"), _LogNotes(logging.INFO)
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
