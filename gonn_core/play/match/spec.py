"""Players as a user names them: a trained net with its way to choose, or an engine's command."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import torch
from pydantic import ValidationError

from gonn_core.config import trial_id
from gonn_core.errors import SettingError
from gonn_core.evaluation.identity import weights_digest
from gonn_core.play.choice import Choice
from gonn_core.play.net_player import CHUNK, NetPlayer
from gonn_core.trial.weights import load_net, trained_samples

_TRIAL = re.compile(r"[0-9a-f]{3,16}")
_PLAYERS = "TRIAL[@samples][,choice=…][,history=…][,symmetries=8][,passing=…], gnugo[:LEVEL] or a GTP command"


@dataclass(frozen=True)
class NetSpec:
    """A net as it is named: a trial's directory, the samples after which (None: at the end), and how it chooses."""

    directory: Path
    samples: int | None
    choice: Choice


@dataclass(frozen=True)
class EngineSpec:
    """An engine as it is named."""

    text: str


PlayerSpec = NetSpec | EngineSpec


def parse_player(text: str, find_trial: Callable[[str], Path] | None = None) -> PlayerSpec:
    """The player that `text` names:
    `<trial>[@samples][,choice=argmax][,history=none][,symmetries=8][,passing=after_pass]`, or an engine.

    A net is a folder with a config.json, or what looks like a trial's id or the beginning of one: `find_trial` then
    gives its directory, and raises UserError where there is none. Anything else is an engine's command. Raises
    SettingError.
    """
    head, *options = text.strip().split(",")
    name, at, samples = head.partition("@")
    folder = Path(name)
    if name and (folder / "config.json").is_file():
        directory = folder
    elif find_trial is not None and _TRIAL.fullmatch(name):
        directory = find_trial(name)
    elif name and not text.strip().startswith("@"):
        return EngineSpec(text.strip())
    else:
        raise SettingError("player", text, "names no player", _PLAYERS)
    if at and not (samples.isascii() and samples.isdigit() and int(samples)):
        raise SettingError("player", text, "after @ stands the number of samples")
    return NetSpec(directory, int(samples) if at else None, parse_choice(options, text))


def parse_choice(options: list[str], text: str) -> Choice:
    """The choice that `options` such as `history=none` make; `choice` is its kind. Raises SettingError naming the
    option and its values."""
    values: dict[str, str | int] = {}
    for option in options:
        key, equals, value = option.strip().partition("=")
        name = "kind" if key == "choice" else key
        if not equals or name not in Choice.model_fields or key == "kind":
            raise SettingError(
                "player", text, f"{option!r} is no option", "choice, history, symmetries, passing, each =value"
            )
        if name in values:
            raise SettingError("player", text, f"{key} is given twice")
        values[name] = int(value) if name == "symmetries" and value.isascii() and value.isdigit() else value
    try:
        return Choice.model_validate(values)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        valid = get_args(Choice.model_fields[name].annotation)
        raise SettingError(
            "choice" if name == "kind" else name, values[name], f"not possible for player {text}", valid
        ) from None


def load_player(spec: NetSpec, chunk: int = CHUNK) -> tuple[NetPlayer, dict]:
    """The net of a spec, ready to play `chunk` positions at a time, and the player's identity. Raises UserError when
    there are no such weights."""
    net, config = load_net(spec.directory, spec.samples)
    if not all(bool(torch.isfinite(tensor).all()) for tensor in net.state_dict().values()):
        raise SettingError(
            "player", spec.directory.name, "this net's weights are not finite numbers: its training has diverged"
        )
    samples = trained_samples(spec.directory) if spec.samples is None else spec.samples
    identity = {
        "kind": "net",
        "trial": trial_id(config),
        "samples": samples,
        "weights": weights_digest(net.state_dict()),
    }
    return NetPlayer(net, config.features, spec.choice, chunk), identity | {"choice": spec.choice.model_dump()}
