"""How many trials share a GPU: decided from what the trials tell of memory and of samples, with no look at the GPU
itself.

The first trial of a study has its GPU to itself until it has told its peak of memory. Then as many may run as the free
memory holds peaks of the largest net among them, and one more at a time only while the work done per second in all
keeps rising. A trial that runs out of memory in company starts again beside fewer; one that does so alone has failed.
The decisions were tried on simulated trials
alone: none has been made on a GPU yet.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from gonn_core.training.cores import available_cores, loader_threads
from gonn_core.trial.events import Event, Point, Started, Tick
from orchestration.runners.base import Places

WINDOW_SECONDS = 10.0
"""Time over which the work per second of so many trials is measured; ours."""
GAIN = 1.05
"""One trial more must raise the work per second by this factor, or there will be no more; ours."""
HEADROOM = 0.9
"""Share of the free memory that is given out; ours."""
CONTEXT_BYTES = 600 * 2**20
"""What a process takes of a GPU's memory beside its tensors, for CUDA itself; ours, an assumption on the safe side."""


@dataclass
class _Trial:
    net: str
    work: float
    company: int
    """The most trials that ran at a time since it began, itself included."""
    training: bool = False
    mark: tuple[float, int, int] | None = None
    """When it last told its samples, how many, and the number of changes until then."""


class GpuSlots:
    """The slots of all GPUs of one command; the GPUs are taken to be alike, the trials to be spread over them
    evenly."""

    def __init__(
        self,
        gpus: int,
        most: int,
        requested: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        cores: int | None = None,
    ):
        """`most`: trials on one GPU, at most. `requested`: trials on all of them as the user wants it, whatever is
        measured; None: decide. `cores`: those that the trials share, by default this machine's."""
        self.gpus, self.requested, self._clock = gpus, requested, clock
        self._cores, self._asked = cores or available_cores(), min(requested or 0, gpus * most)
        self.ceiling = math.ceil(requested / gpus) if requested else most
        self.level = self.ceiling if requested else 1
        """Trials that each GPU may have now, memory permitting; never more than `ceiling`."""
        self._free: int | None = None
        self._peaks: dict[str, int] = {}
        self._running: dict[str, _Trial] = {}
        self._changes = 0
        self._rates: dict[int, float] = {}
        self._seconds = self._work = 0.0

    @property
    def running(self) -> int:
        """Trials at work."""
        return len(self._running)

    @property
    def share(self) -> float:
        """Of a GPU, that a trial which starts now tells Ray it takes, so that Ray puts it where it belongs; the slots
        decide how many there are.

        On one GPU as little as leaves room for all there may ever be. On several a trial keeps the share that its time
        had, or Ray would fill up one GPU before it took the next.
        """
        return 1 / (self.ceiling if self.gpus == 1 else self.level)

    @property
    def loader_threads(self) -> int:
        """Threads that make the batches of a trial that starts now: its share of the cores with as many trials as may
        run now.

        A trial that began with fewer beside it keeps its larger share until it ends; the system then divides the cores
        by what each needs. It must not be the share of the most trials that there may ever be: a trial alone would wait
        for its one thread, and a second one would seem to use the GPU better when all it brought was another thread.
        """
        return loader_threads(None, "cuda", self._asked or self.gpus * self.level, self._cores)

    def room(self, net: str | None = None) -> bool:
        """Whether another trial may start: of this net, or of those known where None."""
        if self.requested and self.running >= self.requested:
            return False
        if self.running < self.gpus:
            return True
        if self.running >= self.gpus * self.level:
            return False
        return self.requested is not None or math.ceil((self.running + 1) / self.gpus) <= self._memory_holds(net)

    def begin(self, trial: str, net: str, work: float) -> None:
        """A trial starts. `net`: the same for trials that take the same memory; `work`: of one sample, in any unit."""
        self._running[trial] = _Trial(net, work, 0)
        for each in self._running.values():
            each.company = max(each.company, self.running)
        self._changes += 1

    def end(self, trial: str) -> None:
        """A trial has ended, however it did."""
        del self._running[trial]
        self._changes += 1

    def hear(self, event: Event) -> None:
        """Take in what a trial says of its memory and its samples."""
        trial = self._running.get(event.trial)
        if trial is None:
            return
        if isinstance(event, Started) and event.free_bytes is not None and trial.company <= self.gpus:
            self._free = event.free_bytes
        training = isinstance(event, Tick | Point)
        if isinstance(event, Tick | Point) and event.memory is not None:
            self._peaks[trial.net] = max(self._peaks.get(trial.net, 0), event.memory.reserved)
        if training != trial.training:
            trial.training, trial.mark = training, None
            self._changes += 1
        if training:
            self._measure(trial, self._clock(), event.samples)

    def out_of_memory(self, trial: str) -> bool:
        """A trial ran out of memory: True when it is to be started again, with fewer beside it; False when it had a GPU
        to itself."""
        together = math.ceil(self._running[trial].company / self.gpus)
        if together == 1:
            return False
        self.ceiling = min(self.ceiling, together - 1)
        self._go_to(min(self.level, self.ceiling))
        return True

    def _memory_holds(self, net: str | None) -> int:
        """Trials that one GPU's memory holds. A net of which nothing is known yet counts as the largest known one."""
        if self._free is None or not self._peaks:
            return 1
        nets = [trial.net for trial in self._running.values()] + ([net] if net is not None else [])
        largest = max(self._peaks.values())
        need = max((self._peaks.get(each, largest) for each in nets), default=largest) + CONTEXT_BYTES
        return max(
            1, int((self._free * HEADROOM + CONTEXT_BYTES) // need)
        )  # the first one's context is no longer in the free memory

    def _measure(self, trial: _Trial, now: float, samples: int) -> None:
        """Count a stretch between two words of a trial, if all slots of the level were at work all along."""
        before, trial.mark = trial.mark, (now, samples, self._changes)
        full = self.running == self.gpus * self.level and all(each.training for each in self._running.values())
        if before is None or before[2] != self._changes or not full or self.requested or self.level in self._rates:
            return
        self._seconds += now - before[0]
        self._work += trial.work * (samples - before[1])
        if self._seconds >= WINDOW_SECONDS * self.running:
            self._decide(self.running * self._work / self._seconds)

    def _decide(self, rate: float) -> None:
        self._rates[self.level] = rate
        fewer = self._rates.get(self.level - 1)
        if fewer is not None and rate < GAIN * fewer:
            self.ceiling = self.level - 1
        self._go_to(min(self.level + 1, self.ceiling))

    def _go_to(self, level: int) -> None:
        self.level, self._seconds, self._work = level, 0.0, 0.0


def shared_gpus(where: Places, requested: int | None) -> GpuSlots | None:
    """What shares this machine's GPUs, None where trials use none."""
    return GpuSlots(len(where.gpus), math.ceil(where.most / len(where.gpus)), requested) if where.gpus else None
