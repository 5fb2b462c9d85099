"""Evaluation: positions a second of the net alone, in two memory formats, and of the whole way from the store."""

import time

import numpy as np
import torch

from benchmarks.gpu.games import Games
from benchmarks.gpu.timing import seconds_each
from gonn_core.config import TrialConfig, with_values
from gonn_core.evaluation.evaluate import BATCH, evaluate, score
from gonn_core.nets import trial_net
from gonn_core.training.batches import PlaneMaker
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import MEMORY_FORMATS
from gonn_core.training.speed import random_batches


def of_the_net(config: TrialConfig, device: torch.device, seconds: float, threads: int, size: str) -> dict:
    """Memory format -> positions/s of forward pass and scores, planes on the device already."""
    return {name: _net_alone(config, device, seconds, threads, name, size) for name in MEMORY_FORMATS}


@torch.no_grad()
def _net_alone(config, device, seconds: float, threads: int, memory_format: str, size: str) -> float:
    reset_torch(threads)
    batch_size = BATCH if size == "gpu" else config.training.batch_size
    config = with_values(config, {"training.batch_size": batch_size})
    net = trial_net(config).to(device=device, memory_format=MEMORY_FORMATS[memory_format]).eval()
    batch = next(random_batches(config, device, memory_format))
    return batch_size / seconds_each(lambda: score(net(batch.planes), batch.targets), device, seconds)


def from_games(config: TrialConfig, device: torch.device, games: Games, positions: int, loaders: int) -> float:
    """Positions/s of an evaluation as a trial's: planes made by `loaders` threads, net, scores, results on the host."""
    reset_torch(1)
    net = trial_net(config).to(device=device, memory_format=torch.channels_last)
    maker = PlaneMaker(games.store, config.features, device, torch.channels_last)
    rows = np.resize(games.rows, positions)
    evaluate(net, maker, rows[:BATCH], "full", loaders)
    began = time.perf_counter()
    evaluate(net, maker, rows, "full", loaders)
    return len(rows) / (time.perf_counter() - began)
