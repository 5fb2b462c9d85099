"""Training speed of one configuration alone on a device: the cost column of a table."""

import time
from collections.abc import Iterator
from statistics import harmonic_mean

import torch

from gonn_core.config import TrialConfig
from gonn_core.features.sets import plane_names
from gonn_core.features.targets import REMOVAL_BINS, SCORE_CLASSES
from gonn_core.go.points import POINTS, SIZE
from gonn_core.training.batches import Batch, extras_of
from gonn_core.training.compiling import Compile
from gonn_core.training.environment import reset_torch, synchronize
from gonn_core.training.loop import MEMORY_FORMATS, Trainer

WARM_UP_STEPS = 3


def measure_speed(
    config: TrialConfig, device: torch.device, seconds: float, compile: Compile = "none"
) -> tuple[float, float]:
    """Samples per second of whole steps (forward, backward, update) on random planes: of wall time, and of this
    process's CPU time. Where batches grow, each third of training is measured for a third of `seconds`. Changes torch's
    global state as a trial does."""
    reset_torch(1, device)
    trainer = Trainer(config, rows=1, device=device, memory_format="channels_last", compile=compile)
    batches = random_batches(config, device, "channels_last")
    speeds, thirds = [], (0, 1, 2) if config.training.batch_ramp > 1 else (0,)
    for third in thirds:
        trainer.samples = -(-third * config.training.samples // 3)
        timed_steps(trainer, batches, device, 0.0, least=WARM_UP_STEPS)
        speeds.append(timed_steps(trainer, batches, device, seconds / len(thirds)))
    if device.type == "cuda":
        torch.cuda.empty_cache()  # this process may live on while trials need the memory
    wall, cpu = map(harmonic_mean, zip(*speeds, strict=True))
    return wall, cpu


def timed_steps(
    trainer: Trainer,
    batches: Iterator[Batch],
    device: torch.device,
    seconds: float,
    of_cpu_time: bool = False,
    least: int = 1,
) -> tuple[float, float]:
    """Take whole steps, at least so many, until `seconds` have passed, of wall time or of CPU time, in which other work
    on the machine does not count; samples per second of wall time, and of this process's CPU time."""
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
    return samples / max(time.perf_counter() - wall, 1e-9), samples / max(time.process_time() - cpu, 1e-9)


def random_batches(config: TrialConfig, device: torch.device, memory_format: str) -> Iterator[Batch]:
    """One batch of random planes and targets on the device, over and over: steps without a loader."""
    generator = torch.Generator().manual_seed(0)
    shape = (config.training.batch_size, len(plane_names(config.features)), SIZE, SIZE)
    planes = (torch.rand(shape, generator=generator) < 0.1).float().to(device)
    planes = planes.contiguous(memory_format=MEMORY_FORMATS[memory_format])
    targets = torch.randint(POINTS, (config.training.batch_size,), generator=generator).to(device)
    extras = {name: values.to(device) for name, values in _random_extras(config, generator).items()}
    while True:
        yield Batch(planes, targets, extras)


def _random_extras(config: TrialConfig, generator: torch.Generator) -> dict[str, torch.Tensor]:
    """Further targets in the shapes and types of gonn_core.features.targets."""
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
