"""Training speed of one configuration alone on a device: the cost column of a table."""

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch

from gonn_core.config import TrialConfig
from gonn_core.features.sets import plane_names
from gonn_core.features.targets.make import REMOVAL_BINS, SCORE_CLASSES
from gonn_core.go.points import POINTS, SIZE
from gonn_core.training.batches import Batch, extras_of
from gonn_core.training.compiling import Compile
from gonn_core.training.environment import describe_device, reset_torch
from gonn_core.training.loop import MEMORY_FORMATS, Trainer

WINDOWS = 5
WARM_UP_STEPS = 3


@dataclass(frozen=True)
class Speed:
    """Medians over windows of time; `samples_per_s` of wall time, `samples_per_cpu_s` of this process's CPU time."""

    samples_per_s: float
    samples_per_cpu_s: float
    steps: int
    device: str


def measure_speed(
    config: TrialConfig,
    device: torch.device,
    seconds: float,
    batches=None,
    windows: int = WINDOWS,
    compile: Compile = "none",
) -> Speed:
    """Samples per second of whole steps (forward, backward, update), as the median of windows that take `seconds`
    in all.

    batches: an iterator of `Batch` on the device; with none given, one batch of random planes is used over and over, so
    that the steps alone are measured. Changes torch's global state as a trial does.
    """
    reset_torch(1, device)
    trainer = Trainer(config, rows=1, device=device, memory_format="channels_last", compile=compile)
    batches = iter(batches) if batches is not None else random_batches(config, device, "channels_last")
    for _ in range(WARM_UP_STEPS):
        trainer.step(next(batches))
    measured = [timed_steps(trainer, batches, device, seconds / windows) for _ in range(windows)]
    if device.type == "cuda":
        torch.cuda.empty_cache()  # whoever measures may live on, beside the trials that need the memory
    wall, cpu = (statistics.median(rates) for rates in zip(*(window.rates for window in measured), strict=True))
    return Speed(wall, cpu, sum(window.steps for window in measured), describe_device(device))


class Window(NamedTuple):
    """Steps that were timed: their samples, and seconds of wall time and of this process's CPU time."""

    steps: int
    samples: int
    wall: float
    cpu: float

    @property
    def rates(self) -> tuple[float, float]:
        """Samples per second of wall time, and of CPU time."""
        return self.samples / max(self.wall, 1e-9), self.samples / max(self.cpu, 1e-9)


def timed_steps(
    trainer: Trainer,
    batches: Iterator[Batch],
    device: torch.device,
    seconds: float,
    of_cpu_time: bool = False,
    least: int = 1,
) -> Window:
    """Take whole steps until `seconds` have passed, of wall time or of CPU time, in which other work on the machine
    does not count; at least so many."""
    clock = time.process_time if of_cpu_time else time.perf_counter
    synchronize(device)
    wall, cpu, began, steps, samples = time.perf_counter(), time.process_time(), clock(), 0, 0
    while steps < least or clock() - began < seconds:
        batch = next(batches)
        trainer.step(batch)
        steps, samples = steps + 1, samples + len(batch.targets)
        if steps % 8 == 0:
            synchronize(device)  # or the host would queue steps far ahead of the clock
    synchronize(device)
    return Window(steps, samples, time.perf_counter() - wall, time.process_time() - cpu)


def random_batches(config: TrialConfig, device: torch.device, memory_format: str) -> Iterator[Batch]:
    """One batch of random planes and targets on the device, over and over: steps without a loader."""
    generator = torch.Generator().manual_seed(0)
    shape = (config.training.batch_size, len(plane_names(config.features)), SIZE, SIZE)
    planes = (
        (torch.rand(shape, generator=generator) < 0.1)
        .float()
        .to(device)
        .contiguous(memory_format=MEMORY_FORMATS[memory_format])
    )
    targets = torch.randint(POINTS, (config.training.batch_size,), generator=generator).to(device)
    extras = {name: values.to(device) for name, values in _random_extras(config, generator).items()}
    while True:
        yield Batch(planes, targets, extras)


def _random_extras(config: TrialConfig, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Further targets in the shapes and types of gonn_core.features.targets.make."""
    size, wanted = config.training.batch_size, extras_of(config)
    classes = {"next_occupant": 3, "removal_time": len(REMOVAL_BINS), "ownership": 2}
    extras = {}
    for name in dict.fromkeys(wanted):
        if name in classes:
            extras[name] = torch.randint(-1, classes[name], (size, POINTS), generator=generator, dtype=torch.int8)
        elif name == "future":
            extras[name] = torch.randint(-1, POINTS, (size, wanted.count(name)), generator=generator)
        elif name == "score":
            extras[name] = torch.randint(-1, SCORE_CLASSES, (size,), generator=generator)
        elif name == "value":
            extras[name] = torch.randint(-1, 2, (size,), generator=generator)
        elif name == "moves_left":
            extras[name] = 200 * torch.rand(size, generator=generator)
        else:  # illegal, ladders: marks on points
            extras[name] = torch.rand((size, POINTS), generator=generator) < 0.3
    return extras


def synchronize(device: torch.device) -> None:
    """Wait for what was asked of the device."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
