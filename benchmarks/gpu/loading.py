"""The loader: positions a second that are sampled and made into planes in the form that the device takes."""

import time
from itertools import count

import torch

from benchmarks.gpu.games import Games
from gonn_core.config import TrialConfig
from gonn_core.records.sampler import Sampler
from gonn_core.training.batches import PlaneMaker, ahead
from gonn_core.training.environment import synchronize


def loaded(config: TrialConfig, device: torch.device, games: Games, seconds: float, threads: int) -> dict:
    """positions_per_s of wall time, positions_per_cpu_s, with `threads` threads; batches are copied to the device and
    unpacked there as in training."""
    training, data = config.training, config.data
    sampler = Sampler(
        games.view, training.batch_size, 0, data.sampling, data.augmentation, data.history_keep, data.history_frozen
    )
    maker = PlaneMaker(games.store, config.features, device, torch.channels_last)
    maker.on_host(*sampler.batch(0))  # compiles
    host = ahead(lambda k: maker.on_host(*sampler.batch(k)), count(), threads)
    try:
        for _ in range(2 * threads):
            maker.on_device(next(host))
        synchronize(device)
        wall, cpu, batches = time.perf_counter(), time.process_time(), 0
        while batches < 2 * threads or time.perf_counter() - wall < seconds:
            maker.on_device(next(host))
            batches += 1
        synchronize(device)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    finally:
        host.close()
    positions = batches * training.batch_size
    return {"threads": threads, "positions_per_s": positions / wall, "positions_per_cpu_s": positions / cpu}
