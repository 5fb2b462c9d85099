"""`gonn gtp`: a trained net as an engine that Sabaki, GoGui, kgsGtp or another program plays with."""

import os
import secrets
import sys
from pathlib import Path
from typing import BinaryIO

from gonn_core.config import trial_id
from gonn_core.errors import SettingError, UserError, printable
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.commands import parse_engine
from gonn_core.play.gtp.commands import command_table
from gonn_core.play.gtp.protocol import serve
from gonn_core.play.gtp.session import GtpSession, Guard
from gonn_core.play.match.players import NetSpec, parse_choice
from gonn_core.play.net_player import NetPlayer
from gonn_core.trial.weights import load_net, trained_samples
from orchestration.play.models import named_player, no_such_net
from reports.workspace import Workspace

NAME = "gonn"
_MODELS = "a trial's id, its beginning or its folder, each with @SAMPLES if wanted; a snapshot's file"


def run_engine(model: str, guard: str | None, seed: int | None, **choice: str | None) -> int:
    """Serves a net on standard input and output until `quit` or the end of input. Raises UserError before the first
    command.

    model: a trial's id or its beginning or its directory, each with `@samples` for an earlier snapshot, or the file of
    a snapshot.
    guard: an engine asked before every move whether it would pass, and about dead stones and results. seed: of the
    draws; by chance without one. choice: kind, history, symmetries and passing as a player's options, None for the
    default.
    """
    if guard is not None and choice["passing"] is None:
        choice["passing"] = "guard"
    spec = _net(model, choice)
    if guard is None and spec.choice.passing == "guard":
        raise SettingError(
            "passing",
            "guard",
            "asks another engine, and there is none",
            "with --guard ENGINE; else pass_alive, after_pass, no_candidates",
        )
    seed = secrets.randbelow(2**31) if seed is None else seed
    player, version = _player(spec)
    adviser = _guard(guard, seed) if guard is not None else None
    try:
        beside = f", {printable(adviser.name)} beside it" if adviser is not None else ""
        print(f"{NAME} {version}, seed {seed}{beside}: ready for GTP commands, quit ends", file=sys.stderr, flush=True)
        serve(sys.stdin.buffer, _private_output(), command_table(GtpSession(player, seed, adviser), NAME, version))
    except KeyboardInterrupt:
        return 130
    finally:
        if adviser is not None:
            adviser.close()
    return 0


def _private_output() -> BinaryIO:
    """Standard output for the protocol alone: whatever else is printed from now on goes to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


def _net(model: str, choice: dict[str, str | None]) -> NetSpec:
    given = [f"{name}={value}" for name, value in choice.items() if value is not None]
    file = Path(model)
    if file.is_file():
        if file.suffix != ".safetensors" or not file.stem.isdecimal() or file.parent.name != "snapshots":
            raise SettingError("MODEL", model, "no snapshot of a trial", "runs/TRIAL/snapshots/SAMPLES.safetensors")
        return NetSpec(file.parent.parent, int(file.stem), parse_choice(given, model))
    if not model.strip():
        raise UserError(f"MODEL: not given; `gonn models` lists the trained nets; valid: {_MODELS}")
    spec = named_player(",".join([model, *given]), Workspace.here(), "MODEL")
    if not isinstance(spec, NetSpec):
        if len(spec.text.split()) > 1 or "/" in model:
            raise SettingError("MODEL", model, "no trial and no file", _MODELS)
        raise no_such_net(Workspace.here(), model, "MODEL", engine=False)
    return spec


def _player(spec: NetSpec) -> tuple[NetPlayer, str]:
    """The net, ready to move at one board, and what it is called: how a match would name it."""
    net, config = load_net(spec.directory, spec.samples)
    samples = spec.samples or trained_samples(spec.directory)
    options = {"choice" if name == "kind" else name: value for name, value in spec.choice.model_dump().items()}
    version = ",".join([f"{trial_id(config)}@{samples}", *(f"{name}={value}" for name, value in options.items())])
    return NetPlayer(net, config.features, spec.choice, chunk=1), version


def _guard(engine: str, seed: int) -> Guard:
    try:
        return Guard(parse_engine(engine), seed)
    except EngineError as error:
        raise SettingError(
            "guard", engine, f"does not answer as a GTP engine: {error}", "gnugo, gnugo:1 … gnugo:10 or a GTP command"
        ) from None
