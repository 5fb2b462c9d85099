"""What a trial's seconds went into, over all its sessions."""

import time
from collections.abc import Callable
from contextlib import contextmanager


class Clock:
    """Counts wall time, CPU time of this process (all its threads), wall time inside training steps alone, and how much
    of the CPU time went into steps and into looks at validation."""

    def __init__(
        self,
        wall_seconds: float = 0.0,
        cpu_seconds: float = 0.0,
        training_seconds: float = 0.0,
        training_cpu_seconds: float | None = None,
        looks_cpu_seconds: float | None = None,
        catch_up: Callable[[], object] = lambda: None,
    ):
        """Goes on from what earlier sessions took; runs from now. What its CPU time went into is not known of sessions
        from before that was counted, and stays so. catch_up: waits for steps that a device has still to do, so that
        they count as training."""
        self._catch_up = catch_up
        self._wall = time.perf_counter() - wall_seconds
        self._cpu = time.process_time() - cpu_seconds
        self._training = training_seconds
        self._since: tuple[float, float] | None = None
        self._split = training_cpu_seconds is not None or not cpu_seconds
        self._training_cpu, self._looks_cpu = training_cpu_seconds or 0.0, looks_cpu_seconds or 0.0

    def start_training(self) -> None:
        """Steps begin now; nothing to do when they are under way."""
        if self._since is None:
            self._since = time.perf_counter(), time.process_time()

    def stop_training(self) -> None:
        """Steps have ended; nothing to do when none were under way."""
        if self._since is not None:
            self._catch_up()
        self._training, self._training_cpu, self._since = self.training_seconds, self._training_cpu_seconds, None

    @contextmanager
    def aside(self):
        """Within this, time is not training time."""
        self.stop_training()
        yield
        self.start_training()

    @contextmanager
    def looking(self):
        """Within this, which lies `aside`, CPU time goes into looks."""
        began = time.process_time()
        yield
        self._looks_cpu += time.process_time() - began

    @property
    def training_seconds(self) -> float:
        """Wall seconds in steps so far."""
        return self._training + (time.perf_counter() - self._since[0] if self._since is not None else 0.0)

    @property
    def _training_cpu_seconds(self) -> float:
        return self._training_cpu + (time.process_time() - self._since[1] if self._since is not None else 0.0)

    def seconds(self) -> dict[str, float]:
        """wall_seconds, cpu_seconds, training_seconds."""
        return {
            "wall_seconds": time.perf_counter() - self._wall,
            "cpu_seconds": time.process_time() - self._cpu,
            "training_seconds": self.training_seconds,
        }

    def split(self) -> dict[str, float]:
        """training_cpu_seconds, the threads that make batches included; looks_cpu_seconds. Empty where they are not
        known of an earlier session."""
        if not self._split:
            return {}
        return {"training_cpu_seconds": self._training_cpu_seconds, "looks_cpu_seconds": self._looks_cpu}
