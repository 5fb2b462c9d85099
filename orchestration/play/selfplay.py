"""`gonn data selfplay`: games of a GTP engine against itself as SGF files, a data set that anybody can make again.

Game n is a pure function of n and the engine: its seed is n, and its komi and setup stones are drawn from n.
"""

import os
import re
from pathlib import Path

import numpy as np

from gonn_core.errors import InputError, SettingError, printable
from gonn_core.files.json_files import read_record, write_json
from gonn_core.files.whole import write_bytes
from gonn_core.go.points import BLACK, WHITE, point_name
from gonn_core.play.engines.client import EngineError
from gonn_core.play.engines.players import RESIGN, EnginePlayer, EnginePool, parse_engine, side_by_side
from gonn_core.play.game import LETTERS, Game, game_sgf
from gonn_core.play.rules import MOST_MOVES, first_mover, random_setup
from orchestration.console import notes, output
from orchestration.experiment.stopping import Stopped, at_work
from orchestration.play.match import GameCount
from reports.workspace import Workspace

FORMAT = 1
KOMIS = (6.5, 7.5)
SHARE_WITH_SETUP = 2 / 3
"""Share of games that start from setup stones (ours)."""
_VALID = "a folder that is new, empty or of the same engine's games"


def make_games(
    engine: str, games: int, out: Path, level: int | None, seed: int, workers: int | None, timeout: int
) -> int:
    """Games `seed` .. `seed + games - 1` in the folder `out`; those that are there are kept. 1 when a game failed.

    Raises SettingError for an engine that is not there or a folder with another engine's games, Stopped when asked to
    stop.
    """
    chosen = parse_engine(engine, level)
    with EnginePool(chosen, timeout) as pool:
        identity = pool.identity("engine")
        name = f"{identity['name']} {identity['version']}".strip()
        name += "" if chosen.level is None else f" level {chosen.level}"
        _prepare(out, identity)
        stem = re.sub(r"[^A-Za-z0-9_-]", "-", os.path.basename(chosen.command[0]))
        paths = {number: out / f"{stem}-{number:06d}.sgf" for number in range(seed, seed + games)}
        missing = [number for number, path in paths.items() if not path.exists()]
        if len(missing) < games:
            notes().print(f"{games - len(missing):,} of {games:,} games are there")
        failed = []
        with (
            at_work(Workspace.here(), f"self-play {out.name}") as is_stopped,
            GameCount("self-play", len(missing)) as count,
        ):

            def play(number: int) -> tuple[int, str | None]:
                game = new_game(number)
                try:
                    with EnginePlayer(pool, number, restarts=0) as player:
                        result = play_game(player, game)
                except EngineError as error:
                    return number, str(error)
                write_bytes(paths[number], game_sgf(game, result, name, name, f"self-play {number}"))
                return number, None

            def stopped() -> bool:
                count.tick()
                return is_stopped()

            workers = min(workers or os.cpu_count() or 1, max(len(missing), 1))
            for number, failure in side_by_side(missing, workers, play, stopped, pool.close):
                if failure is not None:
                    failed.append(number)
                    count.note(f"game {number} failed: {printable(failure)}")
                count.step(f"{len(failed)} failed" if failed else "")
            if is_stopped():
                raise Stopped
    line = f"{sum(path.exists() for path in paths.values()):,} games of {printable(name)} in {out}"
    if failed:
        line += (
            f"; {len(failed):,} failed and are tried again by the same command: {', '.join(map(str, sorted(failed)))}"
        )
    output().print(line)
    return 1 if failed else 0


def new_game(number: int) -> Game:
    """The beginning of a game: komi and setup stones by its number."""
    generator = np.random.Generator(np.random.Philox(np.random.SeedSequence([number, 0x5E1F])))
    setup = random_setup(generator) if generator.random() < SHARE_WITH_SETUP else {}
    return Game(KOMIS[int(generator.integers(len(KOMIS)))], setup, first_mover(setup), superko=False)


def play_game(engine: EnginePlayer, game: Game) -> str:
    """Plays a game of `engine` with itself to its end, two passes or a resignation; its result (`B+3.5`, `W+R`, `0`).
    Raises EngineError when it fails or breaks the rules."""
    while len(game) < MOST_MOVES:
        colour = game.to_move
        move = engine.move(game, colour)
        if move == RESIGN:
            return f"{LETTERS[BLACK + WHITE - colour]}+R"
        if problem := game.why_illegal(move, colour):
            raise EngineError(f"illegal move {len(game) + 1}, {point_name(move)}: {problem}")
        game.play(move)
        if game.over:
            return engine.ask(game, "final_score", _result)
    raise EngineError(f"no end within {MOST_MOVES} moves")


def _result(answer: str) -> str:
    """`final_score` as an SGF result. Raises ValueError for what is none."""
    text = answer.strip().upper()
    if text == "0":
        return text
    if text[:2] not in ("B+", "W+") or not 0 < float(text[2:]) <= 1000:
        raise ValueError
    return f"{text[:2]}{float(text[2:]):g}"


def _prepare(out: Path, identity: dict) -> None:
    """Make the folder, or check that it holds games of the same engine. Raises SettingError."""
    path = out / "selfplay.json"
    existing = read_record(path, FORMAT, ("engine",))
    if existing is not None:
        if existing["engine"] != identity:
            raise SettingError("out", out, "holds games of another engine or level", _VALID)
        return
    if out.exists() and not out.is_dir():
        raise InputError(out, "is no folder")
    if out.exists() and any(out.iterdir()):
        raise SettingError("out", out, "holds other files", _VALID)
    write_json(path, {"format": FORMAT, "engine": identity})
