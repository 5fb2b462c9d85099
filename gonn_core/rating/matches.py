"""Matches as a rating reads them: who played, by which rules, and the games with a result."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import InputError, printable_tree
from gonn_core.play.match.record import GameLine, MatchRecord, player_id

SIDES = ("A", "B")


@dataclass(frozen=True)
class Match:
    """Two players, the rules they played by, and their games by number. voided: how many games an engine failed in;
    they count for nobody."""

    id: str
    players: Mapping[str, dict]
    rules: dict
    openings: dict
    seed: int
    games: tuple[GameLine, ...]
    voided: int

    def points(self, side: str) -> float:
        """What a side took of all games."""
        return sum(game_points(game, side) for game in self.games)

    def side(self, player: str) -> str | None:
        """A or B: on which side the player of that id is; None when on neither, or on both."""
        sides = [side for side in SIDES if player_id(self.players[side]) == player]
        return sides[0] if len(sides) == 1 else None


def game_points(game: GameLine, side: str) -> float:
    """1, 0, or half a point for a draw."""
    return 0.5 if game.winner is None else float(game.winner == side)


def load_matches(folder: Path | str, ids: Iterable[str] | None = None) -> list[Match]:
    """Matches below `folder` by id, all or those named. Raises InputError for one that is missing or damaged."""
    folder = Path(folder)
    names = sorted(path.parent.name for path in folder.glob("*/match.json")) if ids is None else sorted(set(ids))
    return [load_match(folder / name) for name in names]


def load_match(folder: Path | str) -> Match:
    """One match, whether or not it is being played. Raises InputError when it is missing, damaged, or of another
    format."""
    record = MatchRecord(folder)
    tree = printable_tree(record.match)
    players = tree["players"]
    if (
        not isinstance(players, dict)
        or sorted(players) != list(SIDES)
        or not all(isinstance(each, dict) for each in players.values())
    ):
        raise InputError(record.folder / "match.json", "damaged: players must be A and B, each a mapping")
    games = record.games()
    voided = sum(line.void for line in record.lines())
    return Match(
        tree["id"],
        players,
        tree["rules"],
        tree["openings"],
        tree["seed"],
        tuple(games[number] for number in sorted(games)),
        voided,
    )
