"""One line before work in bfloat16 on a device that is not known to gain by it."""

from collections.abc import Iterable

from gonn_core.config import TrialConfig
from orchestration.runners.gpus import device_title
from orchestration.speeds.bfloat16 import refuse_impossible, support
from orchestration.speeds.precision import BF16, Compared, kept_comparison
from reports.workspace import Workspace

DOCTOR = "`gonn doctor` measures in ten seconds which precision is faster here"


def warning(configs: Iterable[TrialConfig], device: str, workspace: Workspace) -> str | None:
    """The line; None where no trial is in bfloat16, or where that is faster as far as is known: by what was measured
    here, else by what the device has. A precision is declared: nothing is changed. Raises SettingError (DEVICE;
    PRECISION where torch cannot do it)."""
    if all(config.training.precision != BF16 for config in configs):
        return None
    found = kept_comparison(workspace, device_title(device))
    if found is not None:
        return None if found.faster == BF16 else _measured(found)
    able = support(device)
    refuse_impossible(able)
    return None if able.lacks is None else f"PRECISION=bf16: {able.lacks}, and it may be slower than fp32; {DOCTOR}"


def _measured(found: Compared) -> str:
    how = f"{found.range}; `gonn doctor`, {found.measured[:10]}"
    instead = f"PRECISION=fp32 is {'as fast' if found.faster is None else 'faster'}"
    return f"PRECISION=bf16: measured {found.factor:.2f} times as fast as fp32 here ({how}); {instead}"
