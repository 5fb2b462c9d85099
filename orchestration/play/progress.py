"""How games are getting on."""

import time
from collections.abc import Callable
from typing import TextIO

from orchestration.progress import PLAIN_SECONDS, Bar, display, duration

STILL_SECONDS = 60.0
"""Where no bar is drawn, the same count is said again only after so long: games with an engine take minutes."""


class GameCount:
    """Counts finished games of this command: `with GameCount("match", 200) as count: count.step("A 12, B 8")`."""

    def __init__(
        self, title: str, total: int, stream: TextIO | None = None, clock: Callable[[], float] = time.monotonic
    ):
        self._title, self._total, self._clock = title, total, clock
        self._done, self._done_when_shown, self._moves, self._text = 0, 0, 0, ""
        self._display = display(self, stream, clock=clock)

    def __enter__(self) -> "GameCount":
        self._begun = self._clock()
        self._display.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._done and not self._display.live:
            self._display.note(self.line())
        self._display.__exit__(*error)

    def step(self, text: str = "", games: int = 1) -> None:
        """`games` more are done; `text`: what is to be said of them so far."""
        self._done, self._text = self._done + games, text
        self.tick()

    def add_moves(self, count: int) -> None:
        """So many more moves were played; shown at the next tick."""
        self._moves += count

    def tick(self) -> None:
        """Show how things stand when it is due, be there anything new or not."""
        if self._display.refresh(PLAIN_SECONDS if self._done > self._done_when_shown else STILL_SECONDS):
            self._done_when_shown = self._done

    def note(self, text: str) -> None:
        """A line of its own."""
        self._display.note(text)

    def line(self) -> str:
        """How things stand."""
        return f"{self._title}: {self._counts()}"

    def bars(self) -> list[Bar]:
        """One bar: the games."""
        return [Bar(self._title, self._done, self._total, self._counts())]

    def _counts(self) -> str:
        seconds = self._clock() - self._begun
        rate = self._done / seconds if seconds > 0 else 0.0
        left = duration((self._total - self._done) / rate if rate else None)
        results = f", {self._text}" if self._text else ""
        moves = f", {self._moves:,} moves" if self._moves else ""
        return f"{self._done:,}/{self._total:,} games{moves}, {60 * rate:.1f}/min, ETA {left}{results}"
