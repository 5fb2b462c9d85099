"""Trained nets out of a trial's directory, weights as files of their own, and weights that a trial starts from.

Weights to start from lie beside the trial directories, `weights/<digest>.safetensors`, named by what they hold: a trial
finds them by `training.start_from`, wherever its workspace is.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from gonn_core.config import TrialConfig, canonical, parse_config, trial_id
from gonn_core.errors import InputError, SettingError
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.files.whole import write_whole
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.trial.checkpoint import unpack
from gonn_core.trial.directory import TrialDirectory, other_net


def load_net(trial: Path | str, samples: int | None = None) -> tuple[PolicyNet, TrialConfig]:
    """The net of a trial in inference mode, on the CPU, and its configuration.

    samples: which snapshot; None: the last one of a trial that is done. Raises UserError when there is none, naming
    those that are there.
    """
    directory = TrialDirectory(trial)
    tree = directory.config()
    if tree is None:
        raise InputError(directory.path, "no trial directory (no config.json)")
    config = parse_config(tree["config"])
    if trial_id(config) != tree["id"]:
        raise InputError(directory.path, f"made with numerics {tree['numerics']}; this version computes other numbers")
    if problem := other_net(tree, None):
        raise InputError(directory.path, problem)
    samples = trained_samples(trial) if samples is None else samples
    net, _ = snapshot_net(directory, config, tree["id"], samples)
    return net, config


def trained_samples(trial: Path | str) -> int:
    """How many samples a trial that is done was trained on. Raises InputError when it is not."""
    directory = TrialDirectory(trial)
    result = directory.result()
    if result is None:
        raise InputError(directory.path, f"not trained to the end yet ({directory.state()})")
    return result["samples"]


def snapshot_net(directory: TrialDirectory, config: TrialConfig, trial: str, samples: int) -> tuple[PolicyNet, str]:
    """The net after `samples` samples, in inference mode on the CPU, and the digest of its weights. Raises SettingError
    naming the snapshots there are."""
    path = directory.snapshots().get(samples)
    if path is None:
        raise SettingError(
            "samples", samples, f"trial {trial} has no such snapshot", directory.snapshots() or "none yet"
        )
    tensors, notes = unpack(path, trial)
    net = trial_net(config)
    try:
        net.load_state_dict(tensors)
    except RuntimeError as error:
        raise InputError(path, f"weights of another net ({json.dumps(str(error))[:120]})") from None
    return net.eval(), notes["weights"]


def export_weights(trial: Path | str, file: Path, samples: int | None = None) -> str:
    """Write the weights of a trial's snapshot to a safetensors file, with its configuration as text; their digest.

    samples: as in `load_net`, which says what is raised.
    """
    net, config = load_net(trial, samples)
    state = net.state_dict()
    digest = weights_digest(state)
    notes = {"trial": trial_id(config), "weights": digest, "config": json.dumps(canonical(config), sort_keys=True)}
    _write(file, state, notes)
    return digest


def read_weights(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of a safetensors file by name, whoever wrote it. Raises InputError."""
    try:
        return safetensors.torch.load_file(file, device="cpu")
    except FileNotFoundError:
        raise InputError(file, "no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise InputError(file, f"not a readable safetensors file ({error})") from None


def check_weights(state: Mapping[str, torch.Tensor], config: TrialConfig, source: Path) -> None:
    """Raises InputError naming the tensors of `source` that are not those of the configuration's net."""
    wrong = list(_misfits(state, trial_net(config).state_dict()))
    if wrong:
        shown = "; ".join(wrong[:_SHOWN]) + (f"; {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else "")
        raise InputError(source, f"not the weights of this net: {shown}")


_SHOWN = 5  # tensors in an error


def _misfits(state: Mapping[str, torch.Tensor], wanted: Mapping[str, torch.Tensor]) -> Iterator[str]:
    for name, tensor in wanted.items():
        if name not in state:
            yield f"{name} is missing"
        elif (state[name].dtype, state[name].shape) != (tensor.dtype, tensor.shape):
            yield f"{name} is {_described(state[name])} instead of {_described(tensor)}"
    yield from (f"{name} is of no part of it" for name in state if name not in wanted)


def _described(tensor: torch.Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} {'x'.join(map(str, tensor.shape)) or 'number'}"


def keep_start(state: Mapping[str, torch.Tensor], runs: Path) -> str:
    """Put weights where the trials of `runs` find them; their digest, `training.start_from`."""
    digest = weights_digest(state)
    path = start_path(runs, digest)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, state, {"weights": digest})
    return digest


def start_path(runs: Path, digest: str) -> Path:
    """Where the weights of that digest lie for trials in `runs`."""
    return Path(runs).absolute().parent / "weights" / f"{digest}.safetensors"


def start_weights(runs: Path, config: TrialConfig) -> dict[str, torch.Tensor] | None:
    """The weights that the configuration starts from, None where it draws them. Raises InputError where they are not
    there, damaged, or of another net."""
    digest = config.training.start_from
    if digest is None:
        return None
    path = start_path(runs, digest)
    if not path.exists():
        raise InputError(path, "the weights to start from are not here: copy them, or gonn train … --from puts them")
    state = read_weights(path)
    if weights_digest(state) != digest:
        raise InputError(path, f"damaged: its weights are {weights_digest(state)}")
    check_weights(state, config, path)
    return state


def _write(path: Path, state: Mapping[str, torch.Tensor], notes: dict[str, str]) -> None:
    tensors = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in state.items()}
    write_whole(path, safetensors.torch.save(tensors, notes))
