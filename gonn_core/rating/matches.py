"""Matches as a rating reads them: who played, by which rules, and the games with a result."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gonn_core.errors import Damaged, printable_tree
from gonn_core.files.told import present, tell
from gonn_core.play.match.record import GameLine, MatchRecord, player_id

SIDES = ("A", "B")
_AGAIN = "`gonn match` of the same players, seed and openings writes"


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
    """Matches below `folder` by id, all or those named. Raises InputError for one of those that is missing or damaged;
    of all, what is missing or damaged is told and left out."""
    folder = Path(folder)
    if ids is not None:
        return [load_match(folder / name) for name in sorted(set(ids))]
    matches = []
    for path in present(folder, "match.json", f"the match is left out; {_AGAIN} it again"):
        try:
            matches.append(load_match(path.parent))
        except Damaged as damage:
            tell(damage, f"the match is left out; {_AGAIN} it again")
    return matches


def load_match(folder: Path | str) -> Match:
    """One match, whether or not it is being played, without games whose lines are missing or damaged, which are told.
    Raises Damaged for its match.json, InputError when that is missing or of another format."""
    record = MatchRecord(folder)
    tree = printable_tree(record.match)
    players = tree["players"]
    if (
        not isinstance(players, dict)
        or sorted(players) != list(SIDES)
        or not all(isinstance(each, dict) for each in players.values())
    ):
        raise Damaged(record.folder / "match.json", "damaged: players must be A and B, each a mapping")
    lines, damages = record.whole_and_damaged()
    for damage in damages:
        tell(damage, "its game is left out; the command of the match plays it again")
    lost = {path.stem for path in record.folder.glob("sgf/*.sgf")} - {str(line.game) for line in lines if not line.void}
    if len(lost) > len(damages):
        missing = Damaged(record.folder / "games.jsonl", f"it lacks {len(lost)} of the games in sgf/")
        tell(missing, "they are left out; the command of the match plays them again")
    games = {line.game: line for line in lines if not line.void}
    voided = sum(line.void for line in lines)
    return Match(
        tree["id"],
        players,
        tree["rules"],
        tree["openings"],
        tree["seed"],
        tuple(games[number] for number in sorted(games)),
        voided,
    )
