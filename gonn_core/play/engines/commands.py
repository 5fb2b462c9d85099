"""Command lines of GTP engines: what a user writes -> a program that is there, with its arguments.

gnugo, gnugo:5      GNU Go 3.8 at level 10, or 5, started to the rules of the match and with a seed for every game
'any GTP command'   as it stands; {seed} in it becomes the game's seed, and the engine is then started anew for each
                    game
"""

import os
import shlex
import shutil
from dataclasses import dataclass

from gonn_core.errors import SettingError
from gonn_core.play.rules import Rules

GNUGO_LEVEL = 10
"""GNU Go's own default, and the published opponent."""
_GAME_FOLDERS = ("/usr/games", "/usr/local/games", "/usr/local/bin", "/opt/homebrew/bin")
"""Where programs are looked for beside PATH: Debian puts games where the PATH of many accounts does not look."""
_INSTALL = {"gnugo": "install it: apt install gnugo"}
SEED = "{seed}"
TERRITORY = "--japanese-rules"
"""GNU Go's option to count territory."""
CHINESE = Rules()
_SCORING = {"area": "--chinese-rules", "territory": TERRITORY}
_KO = {"positional": "--positional-superko", "none": "--simple-ko"}


@dataclass(frozen=True)
class Engine:
    """An engine as it is started."""

    command: tuple[str, ...]
    """Program and arguments, as it is called in records; may hold `{seed}`."""
    level: int | None = None
    """Of GNU Go; other engines have options of their own."""

    @property
    def seeded(self) -> bool:
        """Whether each game has a seed, and thus a process, of its own."""
        return any(SEED in argument for argument in self.command)

    @property
    def level_text(self) -> str:
        """`level 5`, or nothing: what its name leaves out."""
        return "" if self.level is None else f"level {self.level}"

    def argv(self, seed: int) -> list[str]:
        """What is started for a game. Raises SettingError for a program that is not there."""
        program, *arguments = (argument.replace(SEED, str(seed)) for argument in self.command)
        return [find_program(program), *arguments]


def parse_engine(text: str, level: int | None = None, rules: Rules = CHINESE) -> Engine:
    """The engine that a user names. level: of GNU Go, which is started to play by `rules`; another engine has
    an option in its own command. Raises SettingError for what cannot be an engine."""
    name, _, number = text.partition(":")
    if name == "gnugo":
        if number and (not number.isascii() or not number.isdigit() or level is not None):
            raise SettingError("engine", text, "GNU Go with what is no level, or with two", "gnugo, gnugo:1 … gnugo:10")
        return _gnugo(int(number) if number else GNUGO_LEVEL if level is None else level, rules)
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise SettingError("engine", text, f"cannot be split into words ({str(error).lower()})") from None
    if not command:
        raise SettingError("engine", text, "no command", "gnugo, gnugo:LEVEL or a GTP command")
    if level is not None:
        raise SettingError("level", level, "this engine has none that is known here", "an option in its own command")
    find_program(command[0])
    return Engine(tuple(command))


def is_program(name: str) -> bool:
    """Whether a program of that name is on PATH or where games are installed."""
    return _path_of(name) is not None


def find_program(name: str) -> str:
    """Path of a program, on PATH or where games are installed. Raises SettingError."""
    path = _path_of(name)
    if path is None:
        raise SettingError(
            "engine", name, "no such program on PATH or in /usr/games", _INSTALL.get(os.path.basename(name))
        )
    return path


def _path_of(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH") or os.defpath, *_GAME_FOLDERS]))


def _gnugo(level: int, rules: Rules) -> Engine:
    if not 1 <= level <= 10:
        raise SettingError("level", level, "not a level of GNU Go", "1 to 10")
    find_program("gnugo")
    options = (_SCORING[rules.scoring], _KO[rules.superko], "--forbid-suicide")
    return Engine(("gnugo", "--mode", "gtp", "--level", str(level), *options, "--seed", SEED), level)
