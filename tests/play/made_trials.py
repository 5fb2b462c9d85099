"""Trial directories with untrained nets, for tests of play: made in a moment, without games."""

import json
from pathlib import Path

from gonn_core import numerics
from gonn_core.config import TrialConfig, trial_id, with_values
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.nets import trial_net
from gonn_core.trial.weights import pack

TINY = {
    "net.trunk.width": 8,
    "net.trunk.blocks": 1,
    "training.samples": 800,
    "training.batch_size": 8,
    "data.view": "0" * 20,
}


def untrained_trial(runs: Path, **values) -> Path:
    """The directory of a trial that looks done, with the net as it is initialised; keywords are config paths with `__`
    for dots."""
    config = with_values(TrialConfig(), {**TINY, **{path.replace("__", "."): value for path, value in values.items()}})
    name, state = trial_id(config), trial_net(config).state_dict()
    digest, samples = weights_digest(state), config.training.samples
    folder = runs / name
    (folder / "snapshots").mkdir(parents=True)
    (folder / "snapshots" / f"{samples}.safetensors").write_bytes(
        pack(name, state, {"samples": samples, "weights": digest})
    )
    written = {
        "config.json": {
            "config": config.model_dump(mode="json"),
            "numerics": numerics.versions(),
            "run": {},
            "labels": {},
            "sessions": [],
        },
        "result.json": {"samples": samples, "weights": digest, "parameters": 0, "samples_per_s": 1.0},
    }
    for file, tree in written.items():
        (folder / file).write_text(json.dumps({"format": 1, "id": name, **tree}))
    return folder
