"""What became of every game of a build."""

from dataclasses import asdict, dataclass, field

from gonn_core.errors import printable
from gonn_core.records.archives.reading import NamedCount


def counted(what: str, games: NamedCount) -> str:
    """`broken syntax: 12 (a.sgf, b.sgf, …)`, printable."""
    more = ", …" if games.count > len(games.names) else ""
    return f"{what}: {games.count:,} ({', '.join(map(printable, games.names))}{more})"


@dataclass
class BuildReport:
    """Numbers of a build: `games_read` = `games_used` + all of `skipped`; cut and duplicate games are among those
    used."""

    sources: int = 0
    games_read: int = 0
    games_used: int = 0
    skipped: dict[str, NamedCount] = field(default_factory=dict)
    ignored: dict[str, NamedCount] = field(default_factory=dict)
    cut_by_illegal_move: NamedCount = field(default_factory=NamedCount)
    cut_by_second_move: NamedCount = field(default_factory=NamedCount)
    ladders_capped: NamedCount = field(default_factory=NamedCount)
    duplicates: int = 0
    rows: int = 0
    positions: int = 0  # rows with a move to predict: no pass, no handicap move, not the end of a game
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    digest: str = ""

    def to_json(self) -> dict:
        """Plain tree for the manifest."""
        return asdict(self)

    @classmethod
    def from_json(cls, tree: dict) -> "BuildReport":
        """Inverse of `to_json`. Raises TypeError, KeyError or AttributeError on another shape."""
        tree = dict(tree)
        for name in ("skipped", "ignored"):
            tree[name] = {why: NamedCount(**count) for why, count in tree[name].items()}
        for name in ("cut_by_illegal_move", "cut_by_second_move", "ladders_capped"):
            tree[name] = NamedCount(**tree[name])
        return cls(**tree)

    def render_text(self) -> str:
        """Several plain lines, printable."""
        not_read = sum(files.count for files in self.ignored.values())
        lines = [
            f"store {self.digest}: {self.games_used:,} games used, {self.games_read - self.games_used:,} skipped, "
            f"{not_read:,} files not read; {self.positions:,} positions ({self.rows:,} rows); duplicates among the "
            f"games used: {self.duplicates:,}"
        ]
        groups = [(f"skipped, {why}", games) for why, games in self.skipped.items()]
        groups += [(f"not read, {why}", games) for why, games in self.ignored.items()]
        groups += [
            ("cut before an illegal move", self.cut_by_illegal_move),
            ("cut before a second move in a row", self.cut_by_second_move),
            ("ladder search capped", self.ladders_capped),
        ]
        return "\n".join(lines + [counted(what, games) for what, games in groups if games.count])
