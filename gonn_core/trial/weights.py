"""Trained nets out of a trial's directory."""

import json
from pathlib import Path

from gonn_core.config import TrialConfig, parse_config, trial_id
from gonn_core.errors import InputError, SettingError
from gonn_core.nets import PolicyNet, trial_net
from gonn_core.trial.checkpoint import unpack
from gonn_core.trial.directory import TrialDirectory


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
