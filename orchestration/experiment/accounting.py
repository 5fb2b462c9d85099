"""How much of the slots' time went into training steps, from the events of the trials."""

import time
from collections.abc import Callable

from gonn_core.trial.events import Event, Failed, Finished, Paused, Point, Retried, Started, Tick
from orchestration.progress import duration


class SlotTime:
    """Adds up training seconds from now on; `line` is what a command prints at its end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._began = clock, clock()
        self._running: dict[str, float | None] = {}
        """Trial -> training seconds that its last event reported, earlier sessions included; None before the first."""
        self.slots = 0
        """The most trials that ran at a time."""
        self.training = 0.0
        """Seconds in training steps, summed over the slots."""

    def hear(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, Finished | Failed | Paused | Retried):
            self._running.pop(event.trial, None)
            return
        before = self._running.setdefault(event.trial, None)
        self.slots = max(self.slots, len(self._running))
        if isinstance(event, Started | Tick | Point):
            if before is not None:
                self.training += event.training_seconds - before
            self._running[event.trial] = event.training_seconds

    @property
    def line(self) -> str:
        """One line for a terminal."""
        wall = self._clock() - self._began
        total = self.slots * wall
        share = 100 * self.training / total if total else 0.0
        slots = f"{self.slots} slot{'s' * (self.slots != 1)}"
        return f"time: {slots} x {duration(wall)}, {share:.1f} % of it in training steps"
