"""A match on disk: `matches/<id>/`, the truth about a match.

    match.json        format, id, players A and B, rules, openings, seed: all that decides how games go, and no more
    games.jsonl       one line a finished game, in the order in which they ended; appended and flushed to disk
    sgf/<game>.sgf    the games

The id is a hash of match.json's content, so a match resumes where it was left and never mixes with another. A line that
was torn by a kill is cut away at the next start. Voided games (an engine failed) are lines too; their number is then
played again. match.json and each line carry a checksum; games whose lines are damaged are played again too.
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


player_id = identity_digest
"""Id of the player with an identity."""


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
        self._path = self.folder / "games.jsonl"

    def lines(self, consequence: str = "its game is left out; the match's command plays it again") -> list[GameLine]:
        """All finished games, voided ones too, in the order in which they ended. A torn last line is left out; damaged
        lines are reported and left out."""
        lines = []
        for number, sealed in enumerate(self._content().split(b"\n")[:-1], 1):
            line, problem = checked_line(sealed, self.match["id"]), "its checksum does not fit"
            try:
                if line is not None:
                    lines.append(GameLine.model_validate_json(line))
                    continue
            except ValidationError as error:
                problem = f"no game: {error.errors()[0]['msg']}"
            tell(Damaged(self._path, f"damaged: line {number}: {problem}"), consequence)
        return lines

    def games(self) -> dict[int, GameLine]:
        """Number -> its game that counts; of none that was only voided."""
        return {line.game: line for line in self.lines() if not line.void}

    def _content(self) -> bytes:
        return self._path.read_bytes() if self._path.exists() else b""

    def mend(self) -> None:
        """Removes what a kill left of a line, and lines that are damaged; by the one process that writes."""
        whole = b"".join(map(self._sealed, self.lines("its game is played again")))
        if self._content() != whole:
            write_whole(self._path, whole)

    def _sealed(self, line: GameLine) -> bytes:
        return sealed_line(canonical(line.model_dump(mode="json")), self.match["id"])

    def append(self, games: Iterable[tuple[GameLine, bytes]]) -> None:
        """Adds finished games with their SGF files, all on disk when this returns. A line is written after its
        SGF, so that a reader of the line finds the file."""
        games = list(games)
        for line, sgf in games:
            if not line.void:
                write_whole(self.folder / "sgf" / f"{line.game}.sgf", sgf)
        with open(self._path, "ab") as file:
            file.write(b"".join(self._sealed(line) for line, _ in games))
            file.flush()
            os.fsync(file.fileno())


def open_match(root: Path | str, match: Mapping) -> MatchRecord:
    """The directory of a match below `root`, made where there is none, its torn line cut away. The caller holds its
    lease."""
    folder = Path(root) / match["id"]
    (folder / "sgf").mkdir(parents=True, exist_ok=True)
    path = folder / "match.json"
    try:
        existing = read_record(path, FORMAT, _MATCH)
    except Damaged as damage:
        tell(damage, "it is written again")
        existing = None
    if existing is None:
        write_whole(path, sealed_json(match, allow_nan=False))
    record = MatchRecord(folder)
    if record.match != json.loads(json.dumps(match)):
        raise InputError(path, "is not the match that its folder is named for")
    record.mend()
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


def game_points(game: GameLine, side: str) -> float:
    """1, 0, or half a point for a draw."""
    return 0.5 if game.winner is None else float(game.winner == side)


def load_matches(folder: Path | str, ids: Iterable[str] | None = None) -> list[Match]:
    """Matches below `folder` by id, all or those named. Raises InputError for one of those that is missing or damaged;
    of all, what is missing or damaged is reported and left out."""
    folder = Path(folder)
    if ids is not None:
        return [load_match(folder / name) for name in sorted(set(ids))]
    matches, consequence = [], "the match is left out; the same `gonn match` writes it again"
    for path in present(folder, "match.json", consequence):
        try:
            matches.append(load_match(path.parent))
        except Damaged as damage:
            tell(damage, consequence)
    return matches


def load_match(folder: Path | str) -> Match:
    """One match, whether or not it is being played; games whose lines are damaged are reported and left out. Raises
    Damaged for its match.json, InputError when that is missing or of another format."""
    record = MatchRecord(folder)
    tree = printable_tree(record.match)
    players = tree["players"]
    if (
        not isinstance(players, dict)
        or sorted(players) != list(SIDES)
        or not all(isinstance(player, dict) for player in players.values())
    ):
        raise Damaged(record.folder / "match.json", "damaged: players must be A and B, each a mapping")
    lines = record.lines()
    games = {line.game: line for line in lines if not line.void}
    return Match(
        **{key: tree[key] for key in _MATCH},
        games=tuple(games[number] for number in sorted(games)),
        voided=sum(line.void for line in lines),
    )
