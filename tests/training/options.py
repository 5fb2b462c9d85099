"""Options of a training step, as config values on a small net of each family."""

import torch

from gonn_core.config import TrialConfig
from gonn_core.training.batches import Batch, PlaneMaker, extras_of
from gonn_core.training.environment import reset_torch
from gonn_core.training.loop import Trainer
from tests.trial.helpers import first_starter_data as starter_data
from tests.trial.helpers import tiny_config

CPU = torch.device("cpu")
ROWS = 1000

CONV = {"net__family": "conv", "net__trunk__width": 192, "net__trunk__blocks": 5, "net__conv__layers": [[3, 8], [3, 8]]}
TIED = {**CONV, "net__conv__tied": True, "net__conv__head": "full"}
RESIDUAL = {
    "net__family": "residual",
    "net__trunk__width": 192,
    "net__trunk__blocks": 5,
    "net__residual__width": 8,
    "net__residual__blocks": 1,
}
ENCODER = {
    "net__family": "encoder",
    "net__trunk__width": 192,
    "net__trunk__blocks": 5,
    **{f"net__encoder__{name}": value for name, value in {"layers": 1, "heads": 2, "width": 16, "ffn": 16}.items()},
}
THREE_PLANES = {**RESIDUAL, "net__residual__output_planes": 3}


def _rate(value: float) -> dict:
    return {"training__optimiser__learning_rate": value}


OPTIONS = {
    "squared_error": {"training__loss": "squared_error"},
    "three_planes": {**THREE_PLANES, **_rate(0.02)},
    "mask_illegal": {"training__mask_illegal": True},
    "muon": {"training__optimiser__hidden": "muon"},
    "muon_adamw": {
        **ENCODER,
        "training__optimiser__hidden": "muon",
        "training__optimiser__kind": "adamw",
        **_rate(0.01),
    },
    "lookahead": {"training__lookahead__every": 6},
    "label_smoothing": {"training__label_smoothing": 0.1},
    "batch_ramp": {"training__batch_ramp": 4},
    "hardest": {"training__hardest": 0.5},
    "inverted": {"net__trunk__block": "inverted"},
    "nested": {"net__trunk__block": "nested", "net__trunk__squeeze": "scale_shift"},
    "mish_fixup": {"net__activation": "mish", "net__norm": "fixup", **_rate(0.005)},
    "averaging": {"training__averaging__every": 2, "training__averaging__window": 3},
    "conv": CONV,
    "conv_dropout": {**CONV, "net__conv__dropout": 0.1},
    "tied": {**TIED, **_rate(0.02)},
    "residual": {**RESIDUAL, "net__residual__block": "golois"},
    "encoder": ENCODER,
}
"""Name of the option -> config paths (`__` for dots) and values."""


def option_config(name: str, **values) -> TrialConfig:
    """A tiny configuration with one option; batches of 8, 800 samples, rate 0.1 unless the option says otherwise."""
    return tiny_config(
        **{
            "training__optimiser__learning_rate": 0.1,
            "training__optimiser__head_factor": 1.0,
            **OPTIONS.get(name, {}),
            **values,
        }
    )


def real_batches(config: TrialConfig, count: int, size: int = 8) -> list[Batch]:
    """Batches of positions here and there in the bundled games, with the further targets that the option needs."""
    data = starter_data()
    maker = PlaneMaker(data.store, config.features, CPU, torch.channels_last, extras_of(config))
    rows = data.views["train"].rows[40::173][: size * count].reshape(count, size)
    zeros = torch.zeros(size, dtype=torch.uint8).numpy()
    return [maker.on_host(part, zeros, zeros + 5) for part in rows]


def new_trainer(config: TrialConfig) -> Trainer:
    """A trainer on the CPU, torch's state reset."""
    reset_torch(1)
    return Trainer(config, ROWS, CPU, "channels_last")
