"""A match on disk: `matches/<id>/`, the truth about a match.

    match.json        format, id, players A and B, rules, openings, seed: all that decides how games go, and no more
    games.jsonl       one line a finished game, in the order in which they ended; appended and flushed to disk
    sgf/<game>.sgf    the games

The id is a hash of match.json's content, so a match resumes where it was left and never mixes with another. A line that
was torn by a kill is cut away at the next start. Voided games (an engine failed) are lines too; their number is then
played anew. match.json and each line carry a seal; games whose lines are damaged are played anew too.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from gonn_core.errors import Damaged, InputError, printable_tree
from gonn_core.files.json_files import present, read_record, tell
from gonn_core.files.seals import checked_line, sealed_json, sealed_line
from gonn_core.files.whole import write_whole
from gonn_core.play.rules import Rules
from gonn_core.settings.strict import Strict

FORMAT = 1
Side = Literal["A", "B"]
End = Literal["passes", "resign", "illegal", "timeout", "crash", "length"]
SIDES: tuple[Side, Side] = ("A", "B")
_MATCH = ("id", "players", "rules", "openings", "seed")
_AGAIN = "`gonn match` of the same players, seed and openings writes"


class GameLine(Strict):
    """One line of games.jsonl."""

    game: int
    """Its number, from 0; Black is A in even games, B in odd ones."""
    black: Side
    winner: Side | None
    """None for a drawn or voided game."""
    result: str
    """As in SGF: `B+3.5`, `W+R`, `0`, `Void`."""
    end: End
    moves: int
    unsettled: tuple[str, ...] = ()
    """Points that are nobody's for certain at the end, where that was asked."""
    reason: str = ""

    @property
    def void(self) -> bool:
        """Whether the game counts for nobody because an engine failed."""
        return self.end in ("timeout", "crash")


def canonical(tree: Mapping) -> str:
    """The JSON text that identities are hashed from."""
    return json.dumps(tree, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def identity_digest(tree: Mapping) -> str:
    """16 hex digits of a tree that says what something is."""
    return hashlib.sha256(canonical(tree).encode()).hexdigest()[:16]


def player_id(identity: Mapping) -> str:
    """16 hex digits of a player's identity."""
    return identity_digest(identity)


def describe_match(a: Mapping, b: Mapping, rules: Rules, openings: Mapping, seed: int) -> dict:
    """The content of match.json for two players' identities."""
    tree = {
        "players": {"A": dict(a), "B": dict(b)},
        "rules": rules.model_dump(mode="json"),
        "openings": dict(openings),
        "seed": seed,
    }
    return {"format": FORMAT, "id": identity_digest(tree), **tree}


class MatchRecord:
    """A match's directory. One process writes at a time: `open_match` says who has it otherwise."""

    def __init__(self, folder: Path | str):
        """An existing one, for reading. Raises InputError when there is none, or when it is damaged."""
        self.folder = Path(folder)
        match = read_record(self.folder / "match.json", FORMAT, _MATCH)
        if match is None:
            raise InputError(self.folder, "no match (no match.json)")
        self.match = match

    @property
    def id(self) -> str:
        """The match's id."""
        return self.match["id"]

    def lines(self) -> list[GameLine]:
        """All finished games, voided ones too, in the order in which they ended. A torn last line is left out. Raises
        Damaged."""
        lines, damages = self.whole_and_damaged()
        if damages:
            raise damages[0]
        return lines

    def whole_and_damaged(self) -> tuple[list[GameLine], list[Damaged]]:
        """As `lines`, without those that are damaged, and what is wrong with these."""
        path, lines, damages = self.folder / "games.jsonl", [], []
        for number, sealed in enumerate(self._whole_lines(), 1):
            line = checked_line(sealed, self.id)
            try:
                if line is None:
                    raise Damaged(path, f"damaged: line {number} is not what was written (its seal does not fit)")
                lines.append(GameLine.model_validate_json(line))
            except Damaged as damage:
                damages.append(damage)
            except ValidationError as error:
                first = error.errors()[0]
                problem = f"line {number} is no game ({'.'.join(map(str, first['loc']))}: {first['msg']})"
                damages.append(Damaged(path, problem))
        return lines, damages

    def games(self) -> dict[int, GameLine]:
        """Number -> its game that counts; of none that was only voided."""
        return {line.game: line for line in self.lines() if not line.void}

    def _whole_lines(self) -> list[bytes]:
        try:
            data = (self.folder / "games.jsonl").read_bytes()
        except FileNotFoundError:
            return []
        return data.split(b"\n")[:-1]

    def cut_torn_line(self) -> None:
        """Removes what a kill left of a line, and lines that are damaged; by the one process that writes."""
        path = self.folder / "games.jsonl"
        lines, damages = self.whole_and_damaged()
        for damage in damages:
            tell(damage, "its game is played again")
        if damages:
            write_whole(path, b"".join(map(self._sealed, lines)))
        whole = sum(len(line) + 1 for line in self._whole_lines())
        if path.exists() and path.stat().st_size != whole:
            os.truncate(path, whole)

    def _sealed(self, line: GameLine) -> bytes:
        return sealed_line(canonical(line.model_dump(mode="json")), self.id)

    def append(self, games: Iterable[tuple[GameLine, bytes]]) -> None:
        """Adds finished games with their SGF files, all on disk when this returns. A line is written after its
        SGF, so that a reader of the line finds the file."""
        games = list(games)
        for line, sgf in games:
            if not line.void:
                write_whole(self.folder / "sgf" / f"{line.game}.sgf", sgf)
        with open(self.folder / "games.jsonl", "ab") as file:
            for line, _ in games:
                file.write(self._sealed(line))
            file.flush()
            os.fsync(file.fileno())


def open_match(root: Path | str, match: Mapping) -> MatchRecord:
    """The directory of a match below `root`, made where there is none, its torn line cut away. The caller holds its
    lease."""
    folder = Path(root) / match["id"]
    (folder / "sgf").mkdir(parents=True, exist_ok=True)
    path = folder / "match.json"
    try:
        known = read_record(path, FORMAT, _MATCH)
    except Damaged as damage:
        tell(damage, "it is written again")
        known = None
    if known is None:
        write_whole(path, sealed_json(match, allow_nan=False))
    record = MatchRecord(folder)
    if record.match != json.loads(json.dumps(match)):
        raise InputError(path, "is not the match that its folder is named for")
    record.cut_torn_line()
    return record


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
    of all, what is missing or damaged is reported and left out."""
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
    """One match, whether or not it is being played, without games whose lines are missing or damaged; these are
    reported. Raises Damaged for its match.json, InputError when that is missing or of another format."""
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
