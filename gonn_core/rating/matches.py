"""Matches read from their directories: `matches/<id>/match.json` says who plays by which rules, `games.jsonl` has a line per game.

A line cut short, of a match that is being played or was killed, is not read. Games that were voided (an engine crashed or ran out of
time) are counted apart; they are played anew under their own number, and the first line with a result is the one that counts.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import InputError, printable_tree
from gonn_core.json_files import read_record

FORMAT = 1
_MATCH = ("id", "players", "rules", "seed")
SIDES = ("A", "B")


@dataclass(frozen=True)
class PlayedGame:
    """One game with a result. black: A or B; winner: A, B or None for a draw; end: how it ended, such as passes, resign, illegal, length."""

    number: int
    black: str
    winner: str | None
    result: str
    end: str
    moves: int

    def points(self, side: str) -> float:
        """1, 0, or half a point for a draw."""
        return 0.5 if self.winner is None else float(self.winner == side)


@dataclass(frozen=True)
class Match:
    """Two players, the rules they played by, and their games by number. voided: lines of games without a result."""

    id: str
    players: Mapping[str, dict]
    rules: dict
    seed: int
    games: tuple[PlayedGame, ...]
    voided: int

    def points(self, side: str) -> float:
        """What a side took of all games."""
        return sum(game.points(side) for game in self.games)


def player_id(identity: Mapping) -> str:
    """First 16 hex digits of the SHA-256 of a player's identity, keys sorted."""
    return hashlib.sha256(json.dumps(identity, sort_keys=True, separators=(",", ":")).encode()).hexdigest()[:16]


def load_matches(folder: Path | str, ids: Iterable[str] | None = None) -> list[Match]:
    """Matches below `folder` by id, all or those named. Raises InputError for one that is missing or damaged."""
    folder = Path(folder)
    names = sorted(path.parent.name for path in folder.glob("*/match.json")) if ids is None else sorted(set(ids))
    return [load_match(folder / name) for name in names]


def load_match(folder: Path | str) -> Match:
    """One match. Raises InputError when it is missing, damaged, or of another format."""
    folder = Path(folder)
    tree = printable_tree(read_record(folder / "match.json", FORMAT, _MATCH))
    if tree is None:
        raise InputError(folder, "no match (no match.json)")
    players = tree["players"]
    if not isinstance(players, dict) or sorted(players) != list(SIDES) or not all(isinstance(each, dict) for each in players.values()):
        raise InputError(folder / "match.json", "damaged: players must be A and B, each a mapping")
    games, voided = _games(folder / "games.jsonl")
    return Match(tree["id"], players, tree["rules"], tree["seed"], games, voided)


def _games(path: Path) -> tuple[tuple[PlayedGame, ...], int]:
    """Games with a result by number, and how many lines are of voided ones."""
    try:
        whole, _, _ = path.read_bytes().rpartition(b"\n")
    except FileNotFoundError:
        return (), 0
    except OSError as error:
        raise InputError(path, error.strerror or str(error)) from None
    games: dict[int, PlayedGame] = {}
    voided = 0
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            game = _game(json.loads(line))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(path, f"line {number} is no game ({type(error).__name__}: {error})") from None
        if game is None:
            voided += 1
        else:
            games.setdefault(game.number, game)
    return tuple(games[number] for number in sorted(games)), voided


def _game(tree: dict) -> PlayedGame | None:
    """A line's game; None for one that was voided."""
    black, winner, result = tree["black"], tree["winner"], tree["result"]
    if black not in SIDES or winner not in (*SIDES, None) or not isinstance(result, str):
        raise ValueError("black must be A or B, winner A, B or null, result a text")
    if result == "Void":
        return None
    return PlayedGame(int(tree["game"]), black, winner, result, str(tree["end"]), int(tree["moves"]))
