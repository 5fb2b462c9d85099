"""`gonn gtp`: a trained net as an engine that Sabaki, GoGui, kgsGtp or another program plays with."""

import os
import secrets
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from gonn_core.errors import SettingError, UserError, printable
from gonn_core.play.engines.players import EnginePlayer, EnginePool, parse_engine
from gonn_core.play.gtp.commands import command_table
from gonn_core.play.gtp.protocol import serve
from gonn_core.play.gtp.session import GtpSession
from gonn_core.play.match.players import NetSpec, load_player, parse_choice
from orchestration.play.ratings import named_player, no_such_net
from reports.workspace import Workspace

NAME = "gonn"
GUARD_SECONDS = 120.0
"""Time-out of the guard's commands."""
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
    player, identity = load_player(spec, chunk=1)
    options = {"choice" if name == "kind" else name: value for name, value in identity["choice"].items()}
    version = f"{identity['trial']}@{identity['samples']}"
    version += "".join(f",{name}={value}" for name, value in options.items())
    with ExitStack() as stack:
        adviser, with_guard = None, ""
        if guard is not None:
            pool = stack.enter_context(EnginePool(parse_engine(guard), GUARD_SECONDS))
            with_guard = f", guarded by {printable(pool.identity('guard')['name'])}"
            adviser = stack.enter_context(EnginePlayer(pool, seed))
        session = GtpSession(player, seed, adviser, NAME, version)
        ready = f"{NAME} {version}, seed {seed}{with_guard}: ready for GTP commands, quit ends"
        print(ready, file=sys.stderr, flush=True)
        try:
            serve(sys.stdin.buffer, _private_output(), command_table(session))
        except KeyboardInterrupt:
            return 130
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
        if len(spec.split()) > 1 or "/" in model:
            raise SettingError("MODEL", model, "no trial and no file", _MODELS)
        raise no_such_net(Workspace.here(), model, "MODEL", engine=False)
    return spec
