"""The store and views of a data set, with progress on the terminal."""

import logging
import re

from ablations.data.datasets import Dataset, PreparedData, prepare
from gonn_core.errors import printable
from gonn_core.records.build import Progress
from orchestration.console import Bar, Display, notes
from reports.workspace import Workspace

LOOKING = "looking for the games' store; if there is none, its kernels are compiled first"


class OneBar:
    """Progress of one piece of work after another, while it is entered; nothing is left of it afterwards."""

    def __init__(self, label: str = "", text: str = ""):
        self._bar, self._display = Bar(label, 0.0, 1.0, text), Display(self.bars, transient=True)

    def __enter__(self) -> "OneBar":
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._display.__exit__(*error)

    def show(self, label: str, done: float, total: float, text: str, is_note: bool = False) -> None:
        """How far the work is; is_note: as a line that stays."""
        self._bar = Bar(label, done, total, text)
        if is_note:
            self._display.note(f"{label}: {text}")
        else:
            self._display.refresh()

    def bars(self) -> list[Bar]:
        """The bar, unless its work is done."""
        return [self._bar] if self._bar.done != self._bar.total else []


def prepare_shown(dataset: Dataset, workspace: Workspace) -> PreparedData:
    """`prepare`, with progress and the core's log on the terminal, and a line for archives that were not found."""
    log, handler = logging.getLogger("gonn_core"), logging.StreamHandler()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        with OneBar("store", LOOKING) as bar:
            prepared = prepare(dataset, workspace.stores, lambda state: bar.show("store", *_progress(state)))
    finally:
        log.removeHandler(handler)
        log.setLevel(before)
    if dataset.missing:
        names = (re.sub(r"\[[^]]*\]|\*", "", pattern) for pattern in dataset.missing)
        notes().print(f"not found: {', '.join(names)}; {prepared.coverage}")
    return prepared


def _progress(state: Progress) -> tuple[float, float, str]:
    """The share of the games' files that has been read, of 1, and both in words."""
    left = state.seconds / state.fraction - state.seconds if state.fraction > 0 else 0
    return (
        state.fraction,
        1.0,
        (
            f"{printable(state.source)} ({state.index + 1} of {state.sources}), {state.games:,} games, "
            f"{state.rows:,} positions, {100 * state.fraction:.0f} %, {left:.0f} s left"
        ),
    )
