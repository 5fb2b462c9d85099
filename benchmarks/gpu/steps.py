"""Training steps of a base on one batch of random planes: how fast, of what, and with what in memory."""

from collections.abc import Callable

import torch

from benchmarks.gpu.profiled import profiled
from benchmarks.gpu.timing import host_seconds, seconds_each
from gonn_core.config import TrialConfig
from gonn_core.training.compiling import Compile, check_compile
from gonn_core.training.cost import training_flops
from gonn_core.training.environment import forget_peak, peak_memory, reset_torch
from gonn_core.training.loop import Trainer
from gonn_core.training.speed import random_batches


def prepared(
    config: TrialConfig, device: torch.device, threads: int, compile: Compile = "none"
) -> tuple[Trainer, Callable[[], object]]:
    """A trainer in the state in which a trial begins, and a call that makes one step."""
    reset_torch(threads)
    trainer = Trainer(config, rows=1000, device=device, memory_format="channels_last", compile=compile)
    batch = next(random_batches(config, device, "channels_last"))
    return trainer, lambda: trainer.step(batch)


def measured_steps(
    config: TrialConfig, device: torch.device, seconds: float, threads: int, peaks: dict, compile: Compile = "none"
) -> dict:
    """Of a step: seconds (wall, the device waited for), samples_per_s, the host's seconds to ask for it (on a GPU),
    share of the measured matrix rate of the trial's precision, kernels and time by kind, peak memory."""
    forget_peak(device)
    if compile != "none":
        check_compile(compile, device.type)
    trainer, step = prepared(config, device, threads, compile)
    each = seconds_each(step, device, seconds)
    peak = peak_memory(device)
    size = config.training.batch_size
    flops = training_flops(config) * size
    found = {
        "precision": config.training.precision,
        "batch_size": size,
        "seconds": each,
        "samples_per_s": size / each,
        "flops": flops,
        "matrix_share": flops / each / peaks[f"{config.training.precision}_flops"],
        "host_seconds": host_seconds(step, device) if device.type == "cuda" else None,
        "peak_bytes": peak,
    }
    found |= profiled(step, device, calls=3)
    trainer.train_means()  # raises Diverged
    return found


def repeated_bits(config: TrialConfig, device: torch.device, threads: int, steps: int = 6) -> dict:
    """Whether the same steps give the same bits: twice from the start, and once more by way of a state that is taken
    out half way and put into another trainer, as a trial that is resumed does."""
    whole, again = _trained(config, device, threads, steps), _trained(config, device, threads, steps)
    half = _trained(config, device, threads, steps // 2)
    resumed = _trained(config, device, threads, steps - steps // 2, half)
    return {
        "steps": steps,
        "twice": sorted(name for name in whole if not torch.equal(whole[name], again[name])),
        "resumed": sorted(name for name in whole if not torch.equal(whole[name], resumed[name])),
    }


def _trained(config: TrialConfig, device: torch.device, threads: int, steps: int, state: dict | None = None) -> dict:
    """The state on the host after some steps, from the start or from a state."""
    reset_torch(threads)
    trainer = Trainer(config, rows=1000, device=device, memory_format="channels_last")
    if state is not None:
        trainer.load_state(state)
    batches = random_batches(config, device, "channels_last")
    for _ in range(steps):
        trainer.step(next(batches))
    return {name: tensor.detach().cpu().clone() for name, tensor in trainer.state().items()}
