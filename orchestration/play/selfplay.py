"""`gonn data selfplay`: SGF files of a GTP engine playing itself, many processes side by side."""

import os
import re
import time
from pathlib import Path

from gonn_core.errors import InputError, SettingError, printable
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.whole import write_bytes
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.commands import parse_engine
from gonn_core.play.engines.pool import EnginePool, side_by_side
from gonn_core.play.engines.selfplay import play_game, selfplay_sgf, start_of
from orchestration.console import notes, output
from orchestration.experiment.stopping import Stopped, at_work
from orchestration.play.playing import GameCount
from reports.workspace import Workspace

FORMAT = 1
_RULES = {
    "scoring": "Chinese area, by the engine",
    "komi": "6.5 or 7.5 by chance",
    "superko": "the engine's",
    "end": "two passes or resignation",
}
_OPENINGS = "two thirds of the games start from 1-4 random setup stones"


def make_games(
    engine: str, games: int, out: Path, level: int | None, seed: int, workers: int | None, timeout: int
) -> int:
    """Games `seed` .. `seed + games - 1` in the folder `out`; those that are there are kept. 1 when a game failed.

    Raises SettingError for an engine that is not there or a folder with another engine's games, Stopped when asked to
    stop.
    """
    chosen = parse_engine(engine, level)
    with EnginePool(chosen, timeout) as pool:
        try:
            identity = pool.identity()
        except EngineError as error:
            raise SettingError("engine", engine, printable(str(error))) from None
        player = " ".join(part for part in (identity["name"], identity["version"], chosen.level_text) if part)
        _prepare(out, identity)
        stem = re.sub(r"[^A-Za-z0-9_-]", "-", os.path.basename(chosen.command[0]))
        paths = {number: out / f"{stem}-{number:06d}.sgf" for number in range(seed, seed + games)}
        missing = [number for number, path in paths.items() if not path.exists()]
        if len(missing) < games:
            notes().print(f"{games - len(missing):,} of {games:,} games are there")
        workers = min(workers or os.cpu_count() or 1, max(len(missing), 1))
        failures = {}
        with (
            at_work(Workspace.here(), f"self-play {out.name}") as command,
            GameCount("self-play", len(missing)) as count,
        ):

            def play(number: int) -> tuple[int, str | None]:
                start = start_of(number)
                try:
                    with pool.lend(number) as client:
                        moves, result = play_game(client, start)
                except EngineError as error:
                    return number, str(error)
                write_bytes(paths[number], selfplay_sgf(number, start, moves, result, player))
                return number, None

            def stopped() -> bool:
                count.tick()
                return command.stop_requested

            for number, failure in side_by_side(missing, workers, play, stopped, pool.close):
                if failure is not None:
                    failures[number] = failure
                    count.note(f"game {number} failed: {printable(failure)}")
                count.step(f"{len(failures)} failed" if failures else "")
            if command.stop_requested:
                raise Stopped
    line = f"{sum(path.exists() for path in paths.values()):,} games of {printable(player)} in {out}"
    if failures:
        numbers = ", ".join(map(str, sorted(failures)))
        line += f"; {len(failures):,} failed and are tried again by the same command: {numbers}"
    output().print(line)
    return 1 if failures else 0


def _prepare(out: Path, identity: dict) -> None:
    """Make the folder, or see that it holds games of the same engine. Raises SettingError."""
    path = out / "selfplay.json"
    existing = read_record(path, FORMAT, ("engine",))
    if existing is None:
        try:
            if out.exists() and any(out.iterdir()):
                raise SettingError(
                    "out", out, "holds other files", "a folder that is new, empty or of the same engine's games"
                )
        except NotADirectoryError:
            raise InputError(out, "is no folder") from None
        write_json(
            path,
            {
                "format": FORMAT,
                "engine": identity,
                "rules": _RULES,
                "openings": _OPENINGS,
                "made": time.strftime("%Y-%m-%d"),
            },
        )
    elif existing["engine"] != identity:
        raise SettingError(
            "out",
            out,
            "holds games of another engine or level",
            "a folder that is new, empty or of the same engine's games",
        )
