"""What a configuration's net is, in a few numbers: a part whose code was changed makes another net of the same
settings, which nobody may take for the one that a trial was trained with (`gonn_core.trial.directory.other_net`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import torch

from gonn_core.config import FeatureConfig, NetConfig, TrainingConfig, TrialConfig
from gonn_core.go.points import POINTS, SIZE
from gonn_core.nets.cost import trainable_parameters
from gonn_core.nets.init import Draws
from gonn_core.nets.registry import trial_net
from gonn_core.settings.training import AuxiliaryConfig

_SHIFT = 0.1
"""Of the weights before the net answers: what starts at zero would hide the parts before it."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums are made in one order, whatever the number of cores; and small nets ten times as cheaply."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@cache
def fingerprint(
    net_config: NetConfig, features: FeatureConfig, auxiliary: AuxiliaryConfig
) -> tuple[int, tuple[float, ...]]:
    """Parameters that training can move; and of the logits for two fixed boards the spread and three weighted sums,
    and the mean size of the initial weights. Of one seed."""
    training = TrainingConfig().model_copy(update={"auxiliary": auxiliary})
    parts = {"net": net_config, "features": features, "training": training}
    net = trial_net(TrialConfig().model_copy(update=parts), Draws(0)).eval()
    count = trainable_parameters(net)
    with torch.no_grad(), one_thread():
        size = sum(float(values.double().abs().sum()) for values in net.parameters()) / count
        for values in net.parameters():
            values.add_(_SHIFT * torch.arange(values.numel()).double().cos().float().view_as(values))
        board = (torch.arange(POINTS) ** 2 // 5 % 10).view(SIZE, SIZE)
        planes = torch.stack([board == i % 10 for i in range(len(net.plane_names))]).float()
        logits = net(torch.stack([planes, planes.roll(3, -1)])).double().flatten()
        waves = [torch.arange(len(logits)).double().mul(each).cos() for each in (1, 2, 3)]
        sums = [float(logits @ wave) / len(logits) ** 0.5 for wave in waves]
    return count, tuple(float(f"{each:.7g}") for each in (float(logits.std()), *sums, size))
