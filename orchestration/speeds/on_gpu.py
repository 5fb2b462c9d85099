"""How long trials take on a GPU that is not here: by speeds measured on one of its kind where there are some, else by
the model of a step."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gonn_core.config import TrialConfig
from gonn_core.errors import UserError
from gonn_core.files.json_files import read_json
from gonn_core.step_model.counts import Counts
from gonn_core.step_model.devices import STANDARD, Device, device_called, find_device
from gonn_core.step_model.model import LOADER_THREADS, positions_per_s, samples_per_s, step_time, trial_seconds
from gonn_core.trial.job import RunSettings, read_job
from orchestration.speeds.kept import kept_speeds, net_key
from orchestration.speeds.passes import evaluation_passes, look_passes
from reports.workspace import Workspace


@dataclass(frozen=True)
class OnGpu:
    """One trial. measured: whether its net's speed was measured on such a device; limit: what its step waits for, by
    the model."""

    seconds: float
    samples_per_s: float
    positions_per_s: float
    measured: bool
    limit: str


def wanted_gpu(named: str | None) -> Device:
    """The device that somebody names, else the standard one. Raises SettingError (GPU)."""
    return find_device(named) if named else STANDARD


def told_source(all: int, measured: int) -> str:
    """Whence times are known, of which so many are by measured speeds."""
    if measured == all:
        return "measured on such a device"
    estimated = "an estimate, from a model of the step"
    return f"{measured} of {all} measured on such a device, for others {estimated}" if measured else estimated


def is_here(device: str) -> bool:
    """Whether trials with this setting of DEVICE would find a GPU on this machine."""
    import torch

    return device != "cpu" and torch.cuda.is_available()


def on_gpu(
    config: TrialConfig,
    settings: RunSettings,
    counts: Counts,
    device: Device,
    loader_positions_per_s: float,
    measured: Mapping[str, float],
) -> OnGpu:
    """One trial alone on a device. loader_positions_per_s: of one thread; measured: net -> samples/s on this device."""
    known = measured.get(net_key(config, settings.compile))
    training = known or samples_per_s(counts, device)
    evaluation = positions_per_s(counts, device)
    loader = loader_positions_per_s * LOADER_THREADS
    evaluated = evaluation_passes(settings, config.features) + look_passes(settings)
    seconds = trial_seconds(config.training.samples, evaluated, training, evaluation, loader)
    limit = step_time(counts.step, device).limit if training <= loader else "the loader"
    return OnGpu(seconds, training, evaluation, known is not None, limit)


def measured_speeds(workspace: Workspace, device: Device, more: Sequence[Path] = ()) -> dict[str, float]:
    """Net -> samples/s on a device of this kind: of finished trials in the workspace and in other folders of trial
    directories, and of speeds that were measured alone, which go before them."""
    found = dict(_of_trials([workspace.runs, *more], device))
    for path in sorted((workspace.root / "speeds").glob("*.json")):
        with suppress(UserError, AttributeError):
            tree = read_json(path)
            if "nets" in tree and _is_one(tree.get("device"), device):
                found |= {net: entry["samples_per_s"] for net, entry in kept_speeds(path).items()}
    return found


def _of_trials(folders: Sequence[Path], device: Device) -> Iterator[tuple[str, float]]:
    for path in sorted(path for folder in folders for path in folder.glob("*/result.json")):
        with suppress(UserError, AttributeError):
            result = read_json(path)
            if _is_one(result.get("device"), device) and result.get("samples_per_s", 0) > 0:
                job = read_job(path.with_name("config.json"))
                yield net_key(job.config, job.run.compile), result["samples_per_s"]


def _is_one(name: object, device: Device) -> bool:
    return isinstance(name, str) and device_called(name) == device
