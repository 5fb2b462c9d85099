"""Weights as safetensors files, which hold tensors and text, never code: checkpoints, snapshots, exports, starts.

Checkpoints and snapshots carry their format, the trial's id, the numerics versions and a checksum of the whole file.
Weights to start from are next to the trial directories, in `weights/<digest>.safetensors`, named by their content.
"""

import json
from collections.abc import Mapping
from pathlib import Path

import safetensors
import safetensors.torch
import torch

from gonn_core import numerics
from gonn_core.config import TrialConfig, canonical, parse_config, trial_id
from gonn_core.errors import Damaged, InputError, SettingError
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.files.seals import EMPTY, KEY, check_tensors, sealed_tensors
from gonn_core.files.whole import write_whole
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.trial.directory import TrialDirectory, other_net

FORMAT = 1
AGAIN = "the command that trained this trial makes it again once the trial's result.json is removed"
"""What to do about a damaged snapshot; a damaged checkpoint is replaced without asking."""


def pack(trial: str, tensors: Mapping[str, torch.Tensor], notes: dict) -> bytes:
    """A file's content: `tensors`, copied to the host in row-major order, and `notes`, a JSON tree."""
    metadata = {
        "format": str(FORMAT),
        "trial": trial,
        "numerics": json.dumps(numerics.versions(), sort_keys=True),
        "notes": json.dumps(notes),
        KEY: EMPTY,
    }
    return sealed_tensors(safetensors.torch.save(_on_host(tensors), metadata))


def unpack(path: Path, trial: str) -> tuple[dict[str, torch.Tensor], dict]:
    """Tensors (on the CPU) and notes of a file. Raises Damaged when it is broken or not what was written, InputError
    when it is missing, of another trial or of another version."""
    check_tensors(path, AGAIN)
    try:
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != str(FORMAT):
                raise InputError(path, f"of format {metadata.get('format')}; this version reads format {FORMAT}")
            versions = json.loads(metadata["numerics"])
            if versions != numerics.versions():
                raise InputError(path, f"made with numerics {versions}; this version has {numerics.versions()}")
            if metadata["trial"] != trial:
                raise InputError(path, f"of trial {metadata['trial']}, not of {trial}")
            return {name: file.get_tensor(name) for name in list(file.keys())}, json.loads(metadata["notes"])
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise Damaged(path, f"not a readable checkpoint ({error}); {AGAIN}") from None


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
    samples = directory.finished()["samples"] if samples is None else samples
    net, _ = snapshot_net(directory, config, tree["id"], samples)
    return net, config


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

    Arguments and errors are those of `load_net`.
    """
    net, config = load_net(trial, samples)
    state = net.state_dict()
    digest = weights_digest(state)
    notes = {"trial": trial_id(config), "weights": digest, "config": json.dumps(canonical(config), sort_keys=True)}
    write_whole(file, safetensors.torch.save(_on_host(state), notes))
    return digest


def read_weights(file: Path) -> dict[str, torch.Tensor]:
    """The tensors of any safetensors file by name. Raises InputError."""
    try:
        return safetensors.torch.load_file(file, device="cpu")
    except FileNotFoundError:
        raise InputError(file, "no such file") from None
    except (safetensors.SafetensorError, OSError, ValueError) as error:
        raise InputError(file, f"not a readable safetensors file ({error})") from None


def check_weights(state: Mapping[str, torch.Tensor], config: TrialConfig, source: Path) -> None:
    """Raises InputError naming the tensors of `source` that are not those of the configuration's net."""

    def described(tensors: Mapping[str, torch.Tensor], name: str) -> str:
        return f"{tensors[name].dtype} {tuple(tensors[name].shape)}" if name in tensors else "missing"

    expected = trial_net(config).state_dict()
    pairs = {name: (described(state, name), described(expected, name)) for name in {**expected, **state}}
    wrong = [f"{name} is {one}, expected: {other}" for name, (one, other) in pairs.items() if one != other]
    if wrong:
        more = f"; {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise InputError(source, f"not the weights of this net: {'; '.join(wrong[:5])}{more}")


def keep_start(state: Mapping[str, torch.Tensor], runs: Path) -> str:
    """Put weights where the trials of `runs` find them; their digest, `training.start_from`."""
    digest = weights_digest(state)
    path = start_path(runs, digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, safetensors.torch.save(_on_host(state), {"weights": digest}))
    return digest


def start_path(runs: Path, digest: str) -> Path:
    """The file of the weights of that digest for trials in `runs`."""
    return Path(runs).absolute().parent / "weights" / f"{digest}.safetensors"


def start_weights(runs: Path, config: TrialConfig) -> dict[str, torch.Tensor] | None:
    """The weights that the configuration starts from, None where it draws them. Raises InputError where they are
    missing, damaged, or of another net."""
    digest = config.training.start_from
    if digest is None:
        return None
    path = start_path(runs, digest)
    if not path.exists():
        raise InputError(path, "the weights to start from are not here: copy them, or gonn train … --from puts them")
    state = read_weights(path)
    if weights_digest(state) != digest:
        raise InputError(path, f"damaged: its weights are {weights_digest(state)}; gonn train … --from writes it again")
    check_weights(state, config, path)
    return state


def _on_host(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Copies in row-major order on the CPU; tensors that share memory come apart."""
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
