"""What `gonn plan` says of the time that a study would take on a GPU that is not here."""

from collections.abc import Sequence
from statistics import mean

from ablations.study import TrialRef
from gonn_core.step_model.devices import Device
from orchestration.console import notes
from orchestration.speeds.counted import MOST_NETS, counted
from orchestration.speeds.kept import net_key
from orchestration.speeds.loading import loader_rate
from orchestration.speeds.on_gpu import OnGpu, is_here, measured_speeds, on_gpu, told_source, wanted_gpu
from orchestration.study.laying_out import Plan
from reports.workspace import Workspace

GPU_BUDGETS = ("gpu", "paper")
"""Whose nets nobody trains on a CPU: they are always told with a GPU's time."""


def is_only_there(device: str, gpu: str | None) -> bool:
    """Whether a plan is for a GPU that this machine does not have, so that its own speed says nothing. device: as asked
    for; gpu: the device that was named."""
    return bool(gpu) or device == "cuda" and not is_here("cuda")


def gpu_line(plan: Plan, left: Sequence[TrialRef], workspace: Workspace, gpu: str | None) -> str | None:
    """How long what is left takes on the GPU that is named, else on the standard one; None where nobody asked for one
    or one is here. Raises UserError."""
    asked = is_only_there(plan.checked.request.device, gpu) or plan.checked.budget.id in GPU_BUDGETS
    if not left or not asked or (not gpu and is_here(plan.checked.request.device)):
        return None
    device = wanted_gpu(gpu)
    arms = list(dict.fromkeys(trial.arm for trial in left))
    found = _of_arms(plan, arms, device, workspace)
    average = mean(one.seconds for one in found.values())
    seconds = sum(found[trial.arm].seconds if trial.arm in found else average for trial in left)
    measured = sum(one.measured for one in found.values())
    return (
        f"time on a GPU: {_duration(seconds)} on one {device.title}, one trial at a time, evaluation included; "
        f"{told_source(len(found), measured)}: {_range([one.samples_per_s for one in found.values()])} samples/s, "
        f"limited by {found[arms[0]].limit}"
    )


def _of_arms(plan: Plan, arms: Sequence[str], device: Device, workspace: Workspace) -> dict[str, OnGpu]:
    """Of the arms whose nets are counted: of many those spread over the arms, the first among them; others take as long
    as these do on the average."""
    configs = {arm: plan.study.arm(arm).config for arm in arms}
    nets = list(dict.fromkeys(net_key(config) for config in configs.values()))
    chosen = set(nets[:: -(-len(nets) // MOST_NETS)])
    configs = {arm: config for arm, config in configs.items() if net_key(config) in chosen}
    counts = counted(configs, workspace, notes().print)
    speeds = measured_speeds(workspace, device)
    settings = plan.jobs[0].run
    rates: dict[str, float] = {}
    for config in configs.values():
        key = config.features.model_dump_json()
        if key not in rates:
            rates[key] = loader_rate(config.features, plan.prepared.store)
    return {
        arm: on_gpu(config, settings, counts[arm], device, rates[config.features.model_dump_json()], speeds)
        for arm, config in configs.items()
    }


def _duration(seconds: float) -> str:
    minutes = seconds / 60
    return f"about {minutes:.0f} min" if minutes < 180 else f"about {minutes / 60:,.0f} hours"


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:,.0f}" if high < 1.01 * low else f"{low:,.0f} to {high:,.0f}"
