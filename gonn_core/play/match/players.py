"""Players of a match: how a user names them, their identities, and the seats that they take in games."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, get_args

import numpy as np
import torch
from pydantic import ValidationError

from gonn_core.config import trial_id
from gonn_core.errors import SettingError
from gonn_core.evaluation.metrics import weights_digest
from gonn_core.play.choice import Choice
from gonn_core.play.engines.commands import TERRITORY, Engine, parse_engine
from gonn_core.play.engines.player import EnginePlayer
from gonn_core.play.engines.pool import EnginePool
from gonn_core.play.match.games import MatchTerms, Seat
from gonn_core.play.net_player import NetPlayer
from gonn_core.play.rules import Rules
from gonn_core.trial.weights import load_net, trained_samples

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


def load_player(spec: NetSpec) -> tuple[NetPlayer, dict]:
    """The net of a spec, ready to play many games at a time, and the player's identity. Raises UserError when there are
    no such weights."""
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
    return NetPlayer(net, config.features, spec.choice), identity | {"choice": spec.choice.model_dump()}


class Entrant(Protocol):
    """A player that can sit at many boards at once."""

    identity: dict

    @property
    def plain_net(self) -> NetSpec | None:
        """The net, where it needs no engine and thus plays many games at a time; else None."""

    def seat(self, terms: MatchTerms, game: int, attempt: int) -> AbstractContextManager[Seat]:
        """A seat for one game of a match."""

    def judges(self, rules: Rules) -> bool:
        """Whether the engines of its seats know dead stones and territory under these rules."""

    def close(self) -> None:
        """Ends its processes; games under way fail."""


class EngineEntrant:
    """A GTP engine. Raises EngineError when it does not start or does not say its name."""

    plain_net = None

    def __init__(self, engine: Engine, timeout: float):
        """`timeout`: seconds per command."""
        self._pool = EnginePool(engine, timeout)
        self.identity = self._pool.identity()

    @contextmanager
    def seat(self, terms: MatchTerms, game: int, attempt: int) -> Iterator[Seat]:
        """See Entrant. An attempt has an engine seed of its own: one that crashed would crash again."""
        with EnginePlayer(self._pool, engine_seed(terms.seed, game, attempt)) as player:
            yield Seat(engine=player)

    def judges(self, rules: Rules) -> bool:
        """See Entrant. An engine counts by the rules that it was started under."""
        knows = self.identity["name"] in _KNOWS_DEAD_STONES
        return knows and (rules.scoring == "area" or TERRITORY in self.identity["command"])

    def close(self) -> None:
        """See Entrant."""
        self._pool.close()


class NetEntrant:
    """A trained net, with a GNU Go as its guard where its choice passes by guard. Raises UserError when there are no
    such weights."""

    def __init__(self, spec: NetSpec, timeout: float, rules: Rules):
        """timeout: of the guard, seconds per command. rules: that the guard is started under."""
        self.identity = load_player(spec)[1]
        self._spec, self._local = spec, threading.local()
        self._guards = (
            EnginePool(parse_engine("gnugo", _GUARD_LEVEL, rules), timeout) if spec.choice.passing == "guard" else None
        )

    @property
    def plain_net(self) -> NetSpec | None:
        """See Entrant."""
        return self._spec if self._guards is None else None

    @contextmanager
    def seat(self, terms: MatchTerms, game: int, attempt: int) -> Iterator[Seat]:
        """See Entrant."""
        if self._guards is None:
            yield Seat(self._player())
        else:
            with EnginePlayer(self._guards, engine_seed(terms.seed, game, attempt)) as guard:
                yield Seat(self._player(), guard)

    def judges(self, rules: Rules) -> bool:
        """See Entrant."""
        return self._guards is not None

    def close(self) -> None:
        """See Entrant."""
        if self._guards is not None:
            self._guards.close()

    def _player(self) -> NetPlayer:
        """One player per thread: its scratch buffers are not thread-safe. It is asked about one position at a time."""
        if not hasattr(self._local, "player"):
            net, config = load_net(self._spec.directory, self._spec.samples)
            self._local.player = NetPlayer(net, config.features, self._spec.choice, chunk=1)
        return self._local.player


def engine_seed(seed: int, game: int, attempt: int) -> int:
    """Seed of the engines in a game, 1 .. 2^31 - 1 (GNU Go takes 0 for the time of day)."""
    return 1 + int(np.random.SeedSequence([seed, game, attempt]).generate_state(1)[0]) % (2**31 - 1)
