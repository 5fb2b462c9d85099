"""Kernels are compiled once, before each worker would compile them."""

from collections.abc import Callable, Sequence

from gonn_core.config import TrialConfig
from gonn_core.records.views import View
from orchestration.console import moving
from orchestration.runners.gpus import device_title


def warm_kernels(configs: Sequence[TrialConfig], view: View, device: str, say: Callable[[str], object]) -> None:
    """Compile the kernels that make planes and targets for trials of these configurations, and those that train in
    bfloat16 on a CPU."""
    import torch

    from gonn_core.go.jit import is_compiled
    from gonn_core.nets.parts import fused
    from gonn_core.records.sampler import Sampler
    from gonn_core.training.batches import PlaneMaker, extras_of

    # a GPU has other kernels, for packed planes; the meta device stands in for it, so that no GPU is used
    kind = torch.device("cpu" if device_title(device) == "cpu" else "meta")
    rows, symmetries, keep = Sampler(view, 2, 0).batch(0)
    inputs = dict.fromkeys((config.features, extras_of(config)) for config in configs)
    makers = [PlaneMaker(view.store, features, kind, torch.channels_last, extras) for features, extras in inputs]
    bf16 = kind.type == "cpu" and any(config.training.precision == "bf16" for config in configs)
    if not all(maker.is_compiled for maker in makers) or (bf16 and not is_compiled(fused.normalise)):
        say("compiling the kernels of planes and nets, once …")
    with moving("kernels"):
        for maker in makers:
            maker.on_host(rows, symmetries, keep)
        if bf16:
            fused.warm_up()
