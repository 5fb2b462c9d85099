"""GTP engines as players: what a user writes -> a program with its arguments, its processes, its board.

gnugo, gnugo:5      GNU Go 3.8 at level 10, or 5, started to the rules of the match and with a seed for every game
'any GTP command'   as it stands; {seed} in it becomes the game's seed
"""

import os
import shlex
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TypeVar

from gonn_core.errors import SettingError, printable
from gonn_core.go.points import BLACK, PASS, SIZE, WHITE, point, point_name
from gonn_core.play.engines.client import EngineCrashed, EngineError, GtpClient
from gonn_core.play.game import Game
from gonn_core.play.rules import RULES, Rules

T = TypeVar("T")

GNUGO_LEVEL = 10
"""GNU Go's own default, and the published opponent."""
SEED = "{seed}"
TERRITORY = "--japanese-rules"
"""GNU Go's option to count territory."""
RESIGN = -2
"""What `move` gives instead of a point or PASS."""
_GAME_FOLDERS = ("/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin")
"""Searched after PATH: Debian puts games where the PATH of many accounts does not look."""
_SCORING = {"area": "--chinese-rules", "territory": TERRITORY}
_KO = {"positional": "--positional-superko", "none": "--simple-ko"}
_NAMES = {BLACK: "black", WHITE: "white"}


@dataclass(frozen=True)
class Engine:
    """An engine as it is started."""

    command: tuple[str, ...]
    """Program and arguments, as it is called in records; may hold `{seed}`."""
    level: int | None = None
    """Of GNU Go; other engines have options of their own."""

    def argv(self, seed: int) -> list[str]:
        """What is started for a game. Raises SettingError for a program that is not there."""
        program, *arguments = (argument.replace(SEED, str(seed)) for argument in self.command)
        return [find_program(program), *arguments]


def parse_engine(text: str, level: int | None = None, rules: Rules = RULES["chinese"]) -> Engine:
    """The engine that a user names. level: of GNU Go, which is started to play by `rules`; another engine has
    an option in its own command. Raises SettingError for what cannot be an engine."""
    name, _, number = text.partition(":")
    if name == "gnugo":
        if number and (not number.isascii() or not number.isdigit() or level is not None):
            raise SettingError("engine", text, "GNU Go with what is no level, or with two", "gnugo, gnugo:1 … gnugo:10")
        level = int(number) if number else GNUGO_LEVEL if level is None else level
        if not 1 <= level <= 10:
            raise SettingError("level", level, "not a level of GNU Go", "1 to 10")
        find_program("gnugo")
        options = (_SCORING[rules.scoring], _KO[rules.superko], "--forbid-suicide")
        return Engine(("gnugo", "--mode", "gtp", "--level", str(level), *options, "--seed", SEED), level)
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise SettingError("engine", text, f"cannot be split into words ({str(error).lower()})") from None
    if not command:
        raise SettingError("engine", text, "no command", "gnugo, gnugo:LEVEL or a GTP command")
    if level is not None:
        raise SettingError("level", level, "only GNU Go has one", "an option in the engine's own command")
    find_program(command[0])
    return Engine(tuple(command))


def find_program(name: str) -> str:
    """Path of a program, on PATH or where games are installed. Raises SettingError."""
    path = shutil.which(name, path=os.pathsep.join([os.environ.get("PATH") or os.defpath, *_GAME_FOLDERS]))
    if path is None:
        advice = "install it: apt install gnugo" if os.path.basename(name) == "gnugo" else None
        raise SettingError("engine", name, "no such program on PATH or in /usr/games", advice)
    return path


class EnginePool:
    """An engine's processes, one per game."""

    def __init__(self, engine: Engine, timeout: float = 60.0):
        """`timeout`: seconds per command."""
        self._engine, self._timeout = engine, timeout
        self._lock, self._closed = threading.Lock(), False
        self._lent: set[GtpClient] = set()

    def __enter__(self) -> "EnginePool":
        return self

    def __exit__(self, *error) -> None:
        self.close()

    @contextmanager
    def lend(self, seed: int) -> Iterator[GtpClient]:
        """An engine for one game, ended after it. Raises EngineError."""
        with GtpClient(self._engine.argv(seed), self._timeout) as client:
            with self._lock:
                self._lent.add(client)
                if self._closed:
                    client.kill()
            try:
                yield client
            finally:
                with self._lock:
                    self._lent.discard(client)

    def close(self) -> None:
        """Kills the engines of games under way, whose threads get EngineCrashed."""
        with self._lock:
            self._closed = True
            for client in self._lent:
                client.kill()

    def identity(self, setting: str) -> dict:
        """Kind, command, name and version, as records name the engine. Raises SettingError under the name of a setting
        when it does not start or does not say."""
        command = list(self._engine.command)
        try:
            with self.lend(0) as client:
                name, version = client.ask("name"), client.ask("version")
        except EngineError as error:
            problem = f"does not answer as a GTP engine: {error}"
            raise SettingError(setting, " ".join(command), problem, "gnugo, gnugo:LEVEL or a GTP command") from None
        return {"kind": "engine", "command": command, "name": name, "version": version}


def side_by_side(
    numbers: Iterable[int],
    workers: int,
    work: Callable[[int], T],
    stopped: Callable[[], bool],
    abort: Callable[[], None],
) -> Iterator[T]:
    """`work(number)` for each number, in `workers` threads; results as they come, in the caller's thread.

    `stopped` is asked about twice a second; once it says so, or work raised (which is raised here), or the caller left,
    `abort` is called, which has to make the work under way end soon.
    """
    with ThreadPoolExecutor(workers) as pool:
        running = {pool.submit(work, number) for number in numbers}
        try:
            while running and not stopped():
                done, running = wait(running, 0.5, FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if running:
                abort()


class EnginePlayer:
    """An engine whose board is kept equal to a game of ours. One that crashes, or answers what is no point
    where it has to, is started anew, shown the game, and asked once more. Methods raise EngineError.

    Used as a context manager, so that its process goes back to the pool.
    """

    def __init__(self, pool: EnginePool, seed: int, restarts: int = 1):
        """Started when it is first asked. `seed`: of the game, for engines that take one. restarts: for each
        question."""
        self._pool, self._seed, self._restarts = pool, seed, restarts
        self._lent = ExitStack()
        self._client: GtpClient | None = None
        self._root: tuple | None = None
        self.shown: list[tuple[int, int]] = []
        """The moves (colour, point or PASS) on its board."""

    def __enter__(self) -> "EnginePlayer":
        return self

    def __exit__(self, *error) -> None:
        self._lent.close()

    def move(self, game: Game, colour: int, command: str = "genmove") -> int:
        """Its move for a colour: a point, PASS or RESIGN; it need not be legal. The engine has played it on its board,
        and takes it back when the game continues differently."""
        move = self.ask(
            game,
            f"{command} {_NAMES[colour]}",
            lambda answer: RESIGN if answer.lower() == "resign" else _read_point(answer),
        )
        if move != RESIGN:
            self.shown.append((colour, move))
        return move

    def status(self, game: Game, status: str) -> frozenset[int]:
        """What it calls `alive`, `dead` or `seki` (points of stones), `black_territory` or `white_territory` (empty
        ones) at the end of a game."""
        return self.ask(game, f"final_status_list {status}", lambda answer: frozenset(map(_read_point, answer.split())))

    def ask(self, game: Game, command: str, read: Callable[[str], T]) -> T:
        """Its answer to a command at the position of a game. read: raises ValueError for an answer that is none."""
        for _ in range(self._restarts):
            try:
                return self._ask(game, command, read)
            except EngineCrashed:
                continue
        return self._ask(game, command, read)

    def _ask(self, game: Game, command: str, read: Callable[[str], T]) -> T:
        if self._client is None or not self._client.running:
            self._lent.close()
            self._client, self._root = self._lent.enter_context(self._pool.lend(self._seed)), None
        self._follow(self._client, game)
        answer = self._client.ask(command)
        try:
            return read(answer)
        except ValueError:
            self._client.kill()  # who knows what it has played
            raise EngineCrashed(f"no answer to {command!r}: {printable(answer, 40)}") from None

    def _follow(self, client: GtpClient, game: Game) -> None:
        """Takes back what differs and plays the rest; begins anew where the beginning differs."""
        root = (game.komi, tuple(game.setup.items()))
        if root != self._root:
            self._root = None
            for command in (f"boardsize {SIZE}", "clear_board", f"komi {game.komi:g}"):
                client.ask(command)
            for stone, colour in game.setup.items():
                client.ask(f"play {_NAMES[colour]} {point_name(stone)}")
            self._root, self.shown = root, []
        moves, shared = game.moves, 0
        while shared < min(len(self.shown), len(moves)) and self.shown[shared] == moves[shared]:
            shared += 1
        while len(self.shown) > shared:
            client.ask("undo")
            self.shown.pop()
        for colour, move in moves[shared:]:
            client.ask(f"play {_NAMES[colour]} {point_name(move)}")
            self.shown.append((colour, move))


def _read_point(word: str) -> int:
    return PASS if word.lower() == "pass" else point(word)
