"""How much of a GPU's memory trials will take, and how many fit beside each other, before any ran.

Predicted on a device that pretends (`gonn_core.rehearsal`): its tensors are counted; what CUDA and its libraries take
beside them are allowances.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ablations.schema import Budget
from gonn_core.config import TrialConfig
from gonn_core.step_model.counts import Counts
from gonn_core.step_model.devices import find_device
from orchestration.runners.gpu_slots import CONTEXT_BYTES, HEADROOM
from orchestration.runners.gpus import memory_sizes, visible_gpus
from orchestration.speeds.counted import MOST_NETS, counted
from orchestration.speeds.kept import net_key
from orchestration.speeds.measure import Say
from reports.results.costs import net_cost
from reports.workspace import Workspace

WORKSPACE_BYTES = 256 * 2**20
"""Working memory of cuDNN and cuBLAS, and what the allocator cannot use of its blocks; ours, an assumption."""
SIZES = (24, 80)
"""Gigabytes of the GPUs that are told of where none is here."""
_GIGA = 10**9


@dataclass(frozen=True)
class Gpu:
    """One that is here (its name, its bytes), or one of a size that is common."""

    name: str
    size: int

    def fits(self, need: int) -> int:
        """Trials that need so many bytes each and fit in it together, as many as runners would start."""
        return int(self.size * HEADROOM // need)


def is_asked(device: str, budget: Budget, gpu: str | None = None) -> bool:
    """Whether a plan is one for a GPU: one is named, it is asked for, it is here, or the budget is one of published
    nets."""
    if gpu:
        return True
    if device == "cpu":
        return False
    return device == "cuda" or budget.base_from == "claim" or bool(visible_gpus().titles)


def memory_lines(arms: Mapping[str, TrialConfig], workspace: Workspace, say: Say, gpu: str | None = None) -> list[str]:
    """What a plan says of the memory of its arms, by label. gpu: the device that was named; None: those that are here,
    else common sizes. Of many nets those of most operations are told.

    Raises `gonn_core.rehearsal.process.Cannot`, ValueError for a net whose step fails, SettingError (GPU).
    """
    nets = _largest(arms)
    needs = {label: need_of(found) for label, found in counted(nets, workspace, say).items()}
    gpus = _gpus(gpu)
    beside = (CONTEXT_BYTES + WORKSPACE_BYTES) / _GIGA
    most = max(needs.values())
    told = ", ".join(f"{label} {need / _GIGA:.1f} GB" for label, need in needs.items())
    of = "" if len(nets) == len(set(map(net_key, arms.values()))) else " (the largest nets)"
    fit = ", ".join(f"{gpu.fits(most)} in {gpu.name}" for gpu in gpus)
    return [
        f"GPU memory of one trial{of}, predicted without a GPU: {told}; of each, {beside:.1f} GB are an allowance for "
        "CUDA and the workspaces of its libraries",
        f"trials that fit beside each other: {fit}",
    ]


def need_of(found: Counts) -> int:
    """Bytes that a trial takes of a GPU's memory: its tensors at their peak, and the allowances."""
    return found.memory + CONTEXT_BYTES + WORKSPACE_BYTES


def _largest(configs: Mapping[str, TrialConfig]) -> dict[str, TrialConfig]:
    """The first arm of each net, in their order; of many nets those of most operations."""
    firsts: dict[str, tuple[str, TrialConfig]] = {}
    for label, config in configs.items():
        firsts.setdefault(net_key(config), (label, config))
    nets = dict(firsts.values())
    if len(nets) <= MOST_NETS:
        return nets
    ordered = sorted(nets, key=lambda label: net_cost(nets[label])[1] * nets[label].training.batch_size, reverse=True)
    kept = set(ordered[:MOST_NETS])
    return {label: config for label, config in nets.items() if label in kept}


def _gpus(named: str | None) -> list[Gpu]:
    """The one that was named; else one of each kind that is here; else of common sizes."""
    if named:
        device = find_device(named)
        return [Gpu(device.title, int(device.size))]
    titles = visible_gpus().titles
    here = list(dict.fromkeys(map(Gpu, titles, memory_sizes()))) if titles else []
    return here or [Gpu(f"{size} GB", size * _GIGA) for size in SIZES]
