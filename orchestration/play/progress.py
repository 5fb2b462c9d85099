"""How games are getting on: one live line on a terminal, a plain line every few seconds elsewhere."""

import sys
import time
from typing import TextIO

from orchestration.experiment.progress import PLAIN_SECONDS, duration

STILL_SECONDS = 60.0
"""Where no line is live, the same count is said again only after so long: games with an engine take minutes."""


class GameCount:
    """Counts finished games of this command: `with GameCount("match", 200) as count: count.step("A 12, B 8")`."""

    def __init__(self, title: str, total: int, stream: TextIO | None = None):
        self._title, self._total, self._stream = title, total, stream or sys.stderr
        self._live = self._stream.isatty()
        self._done, self._said, self._text = 0, 0, ""

    def __enter__(self) -> "GameCount":
        self._begun = self._last = time.monotonic()
        self._show(force=self._live)
        return self

    def __exit__(self, *error) -> None:
        self._show(force=self._done > 0)
        if self._live:
            self._stream.write("\n")

    def step(self, text: str = "", games: int = 1) -> None:
        """`games` more are done; `text`: what is to be said of them so far."""
        self._done, self._text = self._done + games, text
        self._show()

    def tick(self) -> None:
        """Nothing new; the line is due from time to time all the same."""
        self._show()

    def note(self, text: str) -> None:
        """A line of its own."""
        self._stream.write(("\r\x1b[K" if self._live else "") + text + "\n")
        self._stream.flush()

    def _show(self, force: bool = False) -> None:
        now = time.monotonic()
        pause = 0.2 if self._live else PLAIN_SECONDS if self._done > self._said else STILL_SECONDS
        if not force and now - self._last < pause:
            return
        self._last, self._said = now, self._done
        rate = self._done / (now - self._begun) if now > self._begun else 0.0
        left = duration((self._total - self._done) / rate if rate else None)
        line = f"{self._title}: {self._done:,}/{self._total:,} games, {60 * rate:.1f}/min, ETA {left}" + (
            f", {self._text}" if self._text else ""
        )
        self._stream.write(f"\r\x1b[K{line}" if self._live else line + "\n")
        self._stream.flush()
