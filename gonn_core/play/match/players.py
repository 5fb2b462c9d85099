"""Players of a match: how a user names them, their identities, and the seats that they take in games."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import torch
from pydantic import ValidationError

from gonn_core.config import trial_id
from gonn_core.errors import SettingError
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.play.engines.players import TERRITORY, Engine, EnginePlayer, EnginePool, parse_engine
from gonn_core.play.match.games import Seat
from gonn_core.play.net_player import CHUNK, MoveChoice, NetPlayer
from gonn_core.play.rules import Rules
from gonn_core.trial.directory import TrialDirectory
from gonn_core.trial.weights import load_net

_TRIAL = re.compile(r"[0-9a-f]{3,16}")
_GUARD_LEVEL = 5
"""Level of the GNU Go that is asked whether to pass (spec: other systems 1.7)."""
_KNOWS_DEAD_STONES = ("GNU Go",)
"""Engines that are asked about dead stones."""
_PLAYERS = "TRIAL[@samples][,choice=…][,history=…][,symmetries=8][,passing=…], gnugo[:LEVEL] or a GTP command"


@dataclass(frozen=True)
class NetSpec:
    """A net as it is named: a trial's directory, the samples after which (None: at the end), and how it chooses."""

    directory: Path
    samples: int | None
    choice: MoveChoice


Player = NetSpec | Engine


def parse_player(text: str, find_trial: Callable[[str], Path] | None = None) -> NetSpec | str:
    """The net that `text` names:
    `<trial>[@samples][,choice=argmax][,history=none][,symmetries=8][,passing=after_pass]`, or an engine's command.

    A net is a folder with a config.json, or what looks like a trial's id or the beginning of one: `find_trial` then
    gives its directory, and raises UserError where there is none. Anything else is an engine's command. Raises
    SettingError.
    """
    text = text.strip()
    head, *options = text.split(",")
    name, at, samples = head.partition("@")
    folder = Path(name)
    if name and (folder / "config.json").is_file():
        directory = folder
    elif find_trial is not None and _TRIAL.fullmatch(name):
        directory = find_trial(name)
    elif name and not text.startswith("@"):
        return text
    else:
        raise SettingError("player", text, "names no player", _PLAYERS)
    if at and not (samples.isascii() and samples.isdigit() and int(samples)):
        raise SettingError("player", text, "a number of samples belongs after @")
    return NetSpec(directory, int(samples) if at else None, parse_choice(options, text))


def parse_choice(options: list[str], text: str) -> MoveChoice:
    """The choice that `options` such as `history=none` make; `choice` is its kind. Raises SettingError naming the
    option and its values."""
    values: dict[str, str | int] = {}
    for option in options:
        key, equals, value = option.strip().partition("=")
        name = "kind" if key == "choice" else key
        if not equals or name not in MoveChoice.model_fields or key == "kind":
            raise SettingError(
                "player", text, f"{option!r} is no option", "choice, history, symmetries, passing, each =value"
            )
        if name in values:
            raise SettingError("player", text, f"{key} is given twice")
        values[name] = int(value) if name == "symmetries" and value.isascii() and value.isdigit() else value
    try:
        return MoveChoice.model_validate(values)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        valid = get_args(MoveChoice.model_fields[name].annotation)
        raise SettingError(
            "choice" if name == "kind" else name, values[name], f"not possible for player {text}", valid
        ) from None


def load_player(spec: NetSpec, chunk: int = CHUNK) -> tuple[NetPlayer, dict]:
    """The net of a spec, ready to play `chunk` games at a time, and the player's identity. Raises UserError when there
    are no such weights."""
    net, config = load_net(spec.directory, spec.samples)
    if not all(bool(torch.isfinite(tensor).all()) for tensor in net.state_dict().values()):
        raise SettingError(
            "player", spec.directory.name, "this net's weights are not finite numbers: its training has diverged"
        )
    identity = {
        "kind": "net",
        "trial": trial_id(config),
        "samples": TrialDirectory(spec.directory).finished()["samples"] if spec.samples is None else spec.samples,
        "weights": weights_digest(net.state_dict()),
        "choice": spec.choice.model_dump(),
    }
    return NetPlayer(net, config.features, spec.choice, chunk), identity


class Entrant:
    """A player of a match, who can sit at many boards at once: a trained net, a GTP engine, or a net with a GNU Go as
    its guard, where its choice passes by guard."""

    def __init__(self, player: Player, timeout: float, rules: Rules):
        """timeout: of an engine, seconds per command. rules: that the guard is started under. Raises UserError when
        there are no such weights, or no such engine."""
        self.net = player if isinstance(player, NetSpec) else None
        engine = player if isinstance(player, Engine) else None
        if self.net is not None and self.net.choice.passing == "guard":
            engine = parse_engine("gnugo", _GUARD_LEVEL, rules)
        self._pool = None if engine is None else EnginePool(engine, timeout)
        self._local = threading.local()
        if self.net is None and self._pool is not None:
            self.identity = self._pool.identity("player")
        else:
            self.identity = self._load(CHUNK)[1]

    def _load(self, chunk: int) -> tuple[NetPlayer, dict]:
        assert self.net is not None
        return load_player(self.net, chunk)

    @property
    def plain_net(self) -> NetSpec | None:
        """The net, where it needs no engine and thus plays many games at a time; else None."""
        return self.net if self._pool is None else None

    @contextmanager
    def seat(self, seed: int, game: int, attempt: int) -> Iterator[Seat]:
        """A seat for one game of a match with that seed. An attempt has an engine seed of its own: one that crashed
        would crash again."""
        with ExitStack() as stack:
            engine = None
            if self._pool is not None:
                engine = stack.enter_context(EnginePlayer(self._pool, engine_seed(seed, game, attempt)))
            if self.net is not None and not hasattr(self._local, "player"):  # its scratch buffers are not thread-safe
                self._local.player = self._load(chunk=1)[0]
            yield Seat(getattr(self._local, "player", None), engine)

    def judges(self, rules: Rules) -> bool:
        """Whether the engines of its seats know dead stones and territory under these rules. An engine counts by the
        rules that it was started under."""
        if self.net is not None:
            return self._pool is not None
        knows = self.identity["name"] in _KNOWS_DEAD_STONES
        return knows and (rules.scoring == "area" or TERRITORY in self.identity["command"])

    def close(self) -> None:
        """Ends its processes; games under way fail."""
        if self._pool is not None:
            self._pool.close()


def engine_seed(seed: int, game: int, attempt: int) -> int:
    """Seed of the engines in a game, 1 .. 2^31 - 1 (GNU Go takes 0 for the time of day)."""
    return 1 + int(np.random.SeedSequence([seed, game, attempt]).generate_state(1)[0]) % (2**31 - 1)
