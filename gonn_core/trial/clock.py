"""What a trial's seconds went into, over all its sessions."""

import time
from collections.abc import Callable
from contextlib import contextmanager


class Clock:
    """Counts wall time, CPU time of this process (all its threads), and wall time inside training steps alone."""

    def __init__(
        self,
        wall_seconds: float = 0.0,
        cpu_seconds: float = 0.0,
        training_seconds: float = 0.0,
        catch_up: Callable[[], object] = lambda: None,
    ):
        """Goes on from what earlier sessions took; runs from now. catch_up: waits for steps that a device has still to
        do, so that they count as training."""
        self._catch_up = catch_up
        self._wall = time.perf_counter() - wall_seconds
        self._cpu = time.process_time() - cpu_seconds
        self._training = training_seconds
        self._since: float | None = None

    def start_training(self) -> None:
        """Steps begin now; nothing to do when they are under way."""
        if self._since is None:
            self._since = time.perf_counter()

    def stop_training(self) -> None:
        """Steps have ended; nothing to do when none were under way."""
        if self._since is not None:
            self._catch_up()
        self._training, self._since = self.training_seconds, None

    @contextmanager
    def aside(self):
        """Within this, time is not training time."""
        self.stop_training()
        yield
        self.start_training()

    @property
    def training_seconds(self) -> float:
        """Wall seconds in steps so far."""
        return self._training + (time.perf_counter() - self._since if self._since is not None else 0.0)

    def seconds(self) -> dict[str, float]:
        """wall_seconds, cpu_seconds, training_seconds."""
        return {
            "wall_seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "training_seconds": self.training_seconds,
        }
