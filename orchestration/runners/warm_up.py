"""Kernels compiled once, before workers start who would each compile them anew."""

from collections.abc import Callable, Sequence

from gonn_core.config import TrialConfig
from gonn_core.records.views import View
from orchestration.console import moving


def warm_kernels(configs: Sequence[TrialConfig], view: View, device: str, say: Callable[[str], object]) -> None:
    """Compile the kernels of all planes and targets that trials of these configurations make of the view's rows."""
    import torch

    from gonn_core.records.sampler import Sampler
    from gonn_core.training.batches import PlaneMaker, extras_of
    from gonn_core.training.environment import choose_device

    kind = choose_device(device)
    rows, symmetries, keep = Sampler(view, 2, 0).batch(0)
    inputs = dict.fromkeys((config.features, extras_of(config)) for config in configs)
    makers = [PlaneMaker(view.store, features, kind, torch.channels_last, extras) for features, extras in inputs]
    if not all(maker.is_compiled for maker in makers):
        say("compiling the plane kernels, once …")
    with moving("kernels"):
        for maker in makers:
            maker.on_host(rows, symmetries, keep)
