"""Kernels compiled once, before workers start who would each compile them anew."""

from collections.abc import Callable, Sequence

from gonn_core.config import TrialConfig
from gonn_core.records.views import View


def warm_kernels(configs: Sequence[TrialConfig], view: View, device: str, say: Callable[[str], object]) -> None:
    """Compile the kernels of all planes and targets that trials of these configurations make of the view's rows."""
    import torch

    from gonn_core.features.planes import is_compiled
    from gonn_core.records.sampler import Sampler
    from gonn_core.training.batches import PlaneMaker, extras_of
    from gonn_core.training.environment import choose_device

    kind = choose_device(device)
    rows, symmetries, keep = Sampler(view, 2, 0).batch(0)
    made = dict.fromkeys((config.features, extras_of(config)) for config in configs)
    if not all(is_compiled(features, packed=kind.type != "cpu") for features, _ in made):
        say("compiling the plane kernels, once …")
    for features, extras in made:
        PlaneMaker(view.store, features, kind, torch.channels_last, extras).on_host(rows, symmetries, keep)
